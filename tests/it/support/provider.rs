//! A server that speaks the wire format of a provider, and fails in its ways on demand.

mod wire;

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::{AbortHandle, JoinSet};

pub(crate) use wire::Wire;

/// How it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// As documented.
    Well,
    /// As documented, with a limit that is used up for so long now.
    Spent(&'static str),
    /// Never.
    Hang,
    /// With an error of this status.
    Status(u16),
    /// With 429 and this `Retry-After`.
    Limited(&'static str),
    /// With an error of this status that quotes the text.
    Quoting(u16),
    /// With half of what was asked for.
    Half,
    /// With scores of other categories.
    Foreign,
    /// With something that is no JSON.
    Malformed,
    /// With more than anybody wants to read.
    Huge,
    /// By closing the connection.
    Reset,
}

/// A provider on a port of its own. Dropping it closes the port and every connection.
pub(crate) struct FakeProvider {
    wire: Wire,
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    server: AbortHandle,
}

struct State {
    mode: Mode,
    connections: usize,
    asked: usize,
    answered: usize,
    last: Value,
}

impl FakeProvider {
    /// The key that it takes.
    pub(crate) const KEY: &'static str = "sk-of-the-tests";
    /// A text that contains this scores 0.97 for violence.
    pub(crate) const VIOLENT: &'static str = "flurbicide";

    /// Starts one that answers as OpenAI's does, in this way.
    pub(crate) async fn openai(mode: Mode) -> Self {
        Self::start(Wire::OpenAi, mode).await
    }

    /// Starts one that speaks so and answers in this way.
    pub(crate) async fn start(wire: Wire, mode: Mode) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State {
            mode,
            connections: 0,
            asked: 0,
            answered: 0,
            last: Value::Null,
        }));
        let server = tokio::spawn(serve(wire, listener, Arc::clone(&state))).abort_handle();
        Self {
            wire,
            address,
            state,
            server,
        }
    }

    /// The options that make `gatehouse up` ask it and nobody else.
    pub(crate) fn options(&self) -> [String; 4] {
        let url = format!("http://{}", self.address);
        [
            "--providers".into(),
            "openai".into(),
            "--openai-url".into(),
            url,
        ]
    }

    /// The same as variables.
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

    /// From now on answers in this way.
    pub(crate) fn answer(&self, mode: Mode) {
        self.state.lock().unwrap().mode = mode;
    }

    /// How many connections were opened to it.
    pub(crate) fn connections(&self) -> usize {
        self.state.lock().unwrap().connections
    }

    /// How often it was asked.
    pub(crate) fn asked(&self) -> usize {
        self.state.lock().unwrap().asked
    }

    /// How often it answered well.
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

async fn serve(wire: Wire, listener: TcpListener, state: Arc<Mutex<State>>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let state = Arc::clone(&state);
        state.lock().unwrap().connections += 1;
        let answering = service_fn(move |request| answer(wire, request, Arc::clone(&state)));
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), answering);
        connections.spawn(async move {
            let _ = connection.await;
        });
    }
}

async fn answer(
    wire: Wire,
    request: Request<Incoming>,
    state: Arc<Mutex<State>>,
) -> io::Result<Response<Full<Bytes>>> {
    let mode = {
        let mut state = state.lock().unwrap();
        state.asked += 1;
        state.mode
    };
    let bearer = format!("Bearer {}", FakeProvider::KEY);
    let known = request
        .headers()
        .get("authorization")
        .is_some_and(|value| value == bearer.as_str());
    if !known {
        return Ok(error(401, "invalid_api_key"));
    }
    if (request.method().as_str(), request.uri().path()) != ("POST", wire.path()) {
        return Ok(error(404, "unknown_url"));
    }
    let body = request
        .into_body()
        .collect()
        .await
        .map(http_body_util::Collected::to_bytes)
        .unwrap_or_default();
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let Some(texts) = wire.texts(&request) else {
        return Ok(error(400, "invalid_request_error"));
    };
    state.lock().unwrap().last = request.clone();
    let well = || {
        state.lock().unwrap().answered += 1;
        wire.well(&request, &texts).to_string()
    };
    Ok(match mode {
        Mode::Well => respond(StatusCode::OK, well()),
        Mode::Spent(reset) => {
            let mut response = respond(StatusCode::OK, well());
            let headers = response.headers_mut();
            headers.insert("x-ratelimit-remaining-requests", "0".parse().unwrap());
            headers.insert("x-ratelimit-reset-requests", reset.parse().unwrap());
            response
        }
        Mode::Hang => std::future::pending().await,
        Mode::Status(status) => error(status, "on_purpose"),
        Mode::Limited(wait) => {
            let mut response = error(429, "rate_limit_exceeded");
            let headers = response.headers_mut();
            headers.insert("retry-after", wait.parse().unwrap());
            response
        }
        Mode::Quoting(status) => error(status, &texts.concat()),
        Mode::Half => respond(StatusCode::OK, wire.half(&request, &texts)),
        Mode::Foreign => respond(StatusCode::OK, wire.foreign().to_string()),
        Mode::Malformed => respond(StatusCode::OK, "<html>busy</html>"),
        Mode::Huge => respond(StatusCode::OK, " ".repeat(2 << 20) + &well()),
        // The connection is closed without an answer.
        Mode::Reset => return Err(io::ErrorKind::ConnectionReset.into()),
    })
}

fn error(status: u16, code: &str) -> Response<Full<Bytes>> {
    let body =
        json!({ "error": { "code": code, "message": code, "param": null, "type": "error" } });
    respond(StatusCode::from_u16(status).unwrap(), body.to_string())
}

fn respond(status: StatusCode, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    response
}
