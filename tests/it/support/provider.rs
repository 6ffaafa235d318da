//! A server that speaks the wire format of a provider. It refuses what the real provider refuses,
//! and fails in the real provider's ways when a test asks for it.

mod azure;
mod chat;
mod content;
mod fault;
mod guardrail;
mod hive;
mod mistral;
mod mode;
mod multipart;
mod natural_language;
mod openai;
mod own;
mod rekognition;
mod serve;
mod sightengine;
mod sigv4;
mod state;
mod vision;
mod wire;

use std::io::Cursor;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use image::{ImageFormat, Rgb, RgbImage};
use serde_json::Value;
use tokio::task::AbortHandle;

use super::servers;
use content::{HIGH, LOW, Picture, Refusal, Shown, knows_key};
pub(crate) use fault::{Fault, RIGHT, UNSCORED};
pub(crate) use mode::Mode;
use state::State;
pub(crate) use wire::Wire;

/// A provider on a port of its own. Dropping it closes the port and every connection.
pub(crate) struct FakeProvider {
    wire: Wire,
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    server: AbortHandle,
}

impl FakeProvider {
    /// The key that it accepts.
    pub(crate) const KEY: &'static str = "sk-of-the-tests";
    /// A text that contains this scores 0.97 for violence.
    pub(crate) const VIOLENT: &'static str = "flurbicide";
    /// The id of the key, for providers whose keys have one.
    pub(crate) const KEY_ID: &'static str = "AKIDEXAMPLE";

    /// A picture of this size and format. If it is violent, it scores as a violent text does.
    pub(crate) fn picture(width: u32, height: u32, format: ImageFormat, violent: bool) -> Vec<u8> {
        let colour = if violent {
            [220, 10, 10]
        } else {
            [40, 90, 160]
        };
        let picture = RgbImage::from_pixel(width, height, Rgb(colour));
        let mut file = Cursor::new(Vec::new());
        picture.write_to(&mut file, format).unwrap();
        file.into_inner()
    }

    /// Starts one that speaks as OpenAI does, and answers in this mode.
    pub(crate) async fn openai(mode: Mode) -> Self {
        Self::start(Wire::OpenAi, mode).await
    }

    /// Starts one that speaks this format and answers in this mode.
    pub(crate) async fn start(wire: Wire, mode: Mode) -> Self {
        let listener = servers::listen().await;
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State::new(mode)));
        let server = servers::run(serve::serve(wire, listener, Arc::clone(&state)));
        Self {
            wire,
            address,
            state,
            server,
        }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The options that make `gatehouse up` ask only this provider.
    pub(crate) fn options(&self) -> [String; 4] {
        let url = format!("http://{}", self.address);
        [
            "--providers".into(),
            "openai".into(),
            "--openai-url".into(),
            url,
        ]
    }

    /// The same settings as environment variables.
    pub(crate) fn variables(&self) -> [(&'static str, String); 2] {
        let [_, providers, _, url] = self.options();
        [
            ("GATEHOUSE_PROVIDERS", providers),
            ("GATEHOUSE_OPENAI_URL", url),
        ]
    }

    /// Its entry in a file of providers. The key is in `GATEHOUSE_OPENAI_API_KEY`.
    pub(crate) fn entry(&self, name: &str, members: &str) -> String {
        let address = self.address;
        let kind = self.wire.members();
        let categories = if self.wire.scores_what_is_said() && !members.contains("categories") {
            "categories = [\"violence\"]"
        } else {
            ""
        };
        format!(
            "[[provider]]\nname = {name:?}\nurl = \"http://{address}\"\n\
             key_env = \"GATEHOUSE_OPENAI_API_KEY\"\n{kind}\n{categories}\n{members}\n"
        )
    }

    /// From now on, answers in this mode.
    pub(crate) fn answer(&self, mode: Mode) {
        self.state.lock().unwrap().mode = mode;
    }

    /// How many connections were opened to it.
    pub(crate) fn connections(&self) -> usize {
        self.state.lock().unwrap().connections
    }

    /// How many requests it got.
    pub(crate) fn asked(&self) -> usize {
        self.state.lock().unwrap().asked
    }

    /// How many requests it answered as documented.
    pub(crate) fn answered(&self) -> usize {
        self.state.lock().unwrap().answered
    }

    /// The last request that it could read.
    pub(crate) fn last(&self) -> Value {
        self.state.lock().unwrap().last.clone()
    }
}

impl Drop for FakeProvider {
    fn drop(&mut self) {
        self.server.abort();
    }
}
