//! A server that speaks the wire format of a provider, refuses what the real one refuses, and fails in its ways on demand.

mod azure;
mod chat;
mod fault;
mod form;
mod guardrail;
mod hive;
mod mistral;
mod natural_language;
mod openai;
mod own;
mod rekognition;
mod sightengine;
mod sigv4;
mod vision;
mod wire;

use std::io::{self, Cursor};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use image::{ImageFormat, Rgb, RgbImage};
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

pub(crate) use fault::{Fault, RIGHT, UNSCORED};
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
    /// As documented, as long as there are tokens: so many a minute, four bytes each. Without them with 429, and with how long it takes
    /// until there are enough.
    Bucket(u32),
    /// With an error that its status does not tell: a limit that stands in the body.
    Hidden,
    /// With an error of this status that quotes the text.
    Quoting(u16),
    /// As documented, that it cannot tell.
    Unsure,
    /// As documented, that it cannot tell of this category of its own.
    UnsureOf(&'static str),
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
    /// As documented so many times, then with 500.
    Fails(usize),
    /// With something that is no answer. It holds for connections that are opened from then on.
    Wrong(Fault),
    /// As documented, but for longer texts than so many bytes with 429, and with no word on when to come again.
    Short(usize),
}

/// What a request shows, after it was found to be as documented.
pub(super) struct Shown {
    /// The request; of a form its fields but for the file.
    pub(super) request: Value,
    /// Its texts; none of an image.
    pub(super) texts: Vec<String>,
    /// How violent each text is, or the image.
    pub(super) violent: Vec<bool>,
}

/// A picture as it was shown.
pub(super) struct Picture {
    pub(super) format: ImageFormat,
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) bytes: usize,
    violent: bool,
}

/// What a real provider refuses: a status and a code.
pub(super) struct Refusal(pub(super) u16, pub(super) &'static str);

impl Shown {
    pub(super) fn texts(request: &Value, texts: Vec<String>) -> Self {
        let violent = texts
            .iter()
            .map(|text| text.contains(FakeProvider::VIOLENT));
        Self {
            request: request.clone(),
            violent: violent.collect(),
            texts,
        }
    }

    pub(super) fn picture(request: &Value, picture: &Picture) -> Self {
        Self {
            request: request.clone(),
            texts: Vec::new(),
            violent: vec![picture.violent],
        }
    }

    pub(super) fn is_text(&self) -> bool {
        !self.texts.is_empty()
    }

    /// The same, and nothing of it is violent.
    pub(super) fn calm(&self) -> Self {
        Self {
            request: self.request.clone(),
            texts: self.texts.clone(),
            violent: vec![false; self.violent.len()],
        }
    }
}

impl Picture {
    /// Reads a file; it is violent if it is red in the middle.
    pub(super) fn read(file: &[u8]) -> Option<Self> {
        let format = image::guess_format(file).ok()?;
        let picture = image::load_from_memory(file).ok()?.into_rgb8();
        let (width, height) = picture.dimensions();
        let [red, green, blue] = picture.get_pixel(width / 2, height / 2).0;
        Some(Self {
            format,
            width,
            height,
            bytes: file.len(),
            violent: red > 150 && green < 100 && blue < 100,
        })
    }

    pub(super) fn of_base64(text: &str) -> Option<Self> {
        Self::read(&STANDARD.decode(text).ok()?)
    }

    pub(super) fn sides(&self) -> [u32; 2] {
        [self.width, self.height]
    }
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
    bucket: Option<Bucket>,
    connections: usize,
    asked: usize,
    answered: usize,
    last: Value,
}

/// Tokens that come back with time.
struct Bucket {
    tokens: f64,
    since: Instant,
}

impl State {
    /// Takes a token for each four bytes of a text; else says how long it takes until there are enough.
    fn take(&mut self, a_minute: u32, texts: &[String]) -> Result<(), Duration> {
        let most = f64::from(a_minute);
        let bucket = self.bucket.get_or_insert_with(|| Bucket {
            tokens: most,
            since: Instant::now(),
        });
        let came = bucket.since.elapsed().as_secs_f64() * most / 60.0;
        bucket.tokens = (bucket.tokens + came).min(most);
        bucket.since = Instant::now();
        let bytes: usize = texts.iter().map(String::len).sum();
        let needed = f64::from(u32::try_from(bytes).unwrap()) / 4.0;
        if needed <= bucket.tokens {
            bucket.tokens -= needed;
            return Ok(());
        }
        Err(Duration::from_secs_f64(
            (needed - bucket.tokens) * 60.0 / most,
        ))
    }
}

impl FakeProvider {
    /// The key that it takes.
    pub(crate) const KEY: &'static str = "sk-of-the-tests";
    /// A text that contains this scores 0.97 for violence.
    pub(crate) const VIOLENT: &'static str = "flurbicide";
    /// The id of the key, where it has one.
    pub(crate) const KEY_ID: &'static str = "AKIDEXAMPLE";

    /// A picture of this size, in this format, that scores as a violent text does if it is to.
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
            bucket: None,
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

    /// Where it is.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
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
        let mode = {
            let mut state = state.lock().unwrap();
            state.connections += 1;
            state.mode
        };
        if let Mode::Wrong(fault) = mode {
            connections.spawn(async move {
                let _ = do_wrong(wire, fault, stream, &state).await;
            });
            continue;
        }
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
    let (parts, body) = request.into_parts();
    let body = body.collect().await;
    let body = body
        .map(http_body_util::Collected::to_bytes)
        .unwrap_or_default();
    let shown = match wire.read(&parts, &body) {
        Ok(shown) => shown,
        Err(Refusal(status, code)) => return Ok(respond_error(wire, status, code)),
    };
    state.lock().unwrap().last = shown.request.clone();
    let well = || {
        state.lock().unwrap().answered += 1;
        wire.well(&shown).to_string()
    };
    Ok(match mode {
        Mode::Short(most) if shown.texts.iter().any(|text| text.len() > most) => {
            respond_error(wire, 429, "rate_limit_exceeded")
        }
        Mode::Well | Mode::Short(_) => respond(StatusCode::OK, well()),
        Mode::Spent(reset) => {
            let mut response = respond(StatusCode::OK, well());
            let headers = response.headers_mut();
            headers.insert("x-ratelimit-remaining-requests", "0".parse().unwrap());
            headers.insert("x-ratelimit-reset-requests", reset.parse().unwrap());
            response
        }
        Mode::Hang => std::future::pending().await,
        Mode::Status(status) => respond_error(wire, status, "on_purpose"),
        Mode::Limited(wait) => {
            let mut response = respond_error(wire, 429, "rate_limit_exceeded");
            let headers = response.headers_mut();
            headers.insert("retry-after", wait.parse().unwrap());
            response
        }
        Mode::Bucket(a_minute) => {
            let taken = state.lock().unwrap().take(a_minute, &shown.texts);
            match taken {
                Ok(()) => respond(StatusCode::OK, well()),
                Err(wait) => {
                    let mut response = respond_error(wire, 429, "rate_limit_exceeded");
                    let wait = wait.as_millis().to_string().parse().unwrap();
                    response.headers_mut().insert("retry-after-ms", wait);
                    response
                }
            }
        }
        Mode::Hidden => {
            let (status, body) = wire.hidden();
            respond(StatusCode::from_u16(status).unwrap(), body.to_string())
        }
        Mode::Quoting(status) => respond_error(wire, status, &shown.texts.concat()),
        Mode::Unsure => respond(StatusCode::OK, wire.unsure(&shown).to_string()),
        Mode::UnsureOf(category) => {
            respond(StatusCode::OK, wire.unsure_of(&shown, category).to_string())
        }
        Mode::Half => respond(StatusCode::OK, wire.half(&shown)),
        Mode::Foreign => respond(StatusCode::OK, wire.foreign(&shown).to_string()),
        Mode::Malformed => respond(StatusCode::OK, "<html>busy</html>"),
        Mode::Huge => respond(StatusCode::OK, " ".repeat(2 << 20) + &well()),
        Mode::Fails(times) => {
            let mut locked = state.lock().unwrap();
            if times == 0 {
                return Ok(respond_error(wire, 500, "on_purpose"));
            }
            locked.mode = Mode::Fails(times - 1);
            drop(locked);
            respond(StatusCode::OK, well())
        }
        // The connection was opened before that. It is closed without an answer.
        Mode::Reset | Mode::Wrong(_) => return Err(io::ErrorKind::ConnectionReset.into()),
    })
}

/// One request, which is read as every other one, and then what is no answer.
async fn do_wrong(
    wire: Wire,
    fault: Fault,
    mut stream: TcpStream,
    state: &Mutex<State>,
) -> io::Result<()> {
    if fault == Fault::ClosedAtOnce {
        state.lock().unwrap().asked += 1;
        return Ok(());
    }
    let (parts, body) = fault::request(&mut stream).await?;
    state.lock().unwrap().asked += 1;
    match wire.read(&parts, &body) {
        Ok(shown) => {
            state.lock().unwrap().last = shown.request.clone();
            fault.answer(wire, &shown, &mut stream).await
        }
        Err(refusal) => fault::refuse(&mut stream, wire, refusal).await,
    }
}

fn respond_error(wire: Wire, status: u16, code: &str) -> Response<Full<Bytes>> {
    let body = wire.error(status, code).to_string();
    let mut response = respond(StatusCode::from_u16(status).unwrap(), body);
    if let Some(name) = wire.error_header() {
        response.headers_mut().insert(name, code.parse().unwrap());
    }
    response
}

/// Whether the request has the key in a header, and nowhere in its URL.
pub(super) fn knows_key(parts: &Parts, header: &str, value: &str) -> Result<(), Refusal> {
    let shown = parts.headers.get(header);
    let hidden = !parts.uri.to_string().contains(FakeProvider::KEY);
    if hidden && shown.is_some_and(|shown| shown == value) {
        Ok(())
    } else {
        Err(Refusal(401, "invalid_api_key"))
    }
}

fn respond(status: StatusCode, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    response
}
