//! A server that speaks the wire format of OpenAI's moderation endpoint, and fails in its ways on demand.

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

/// How it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// As documented.
    Well,
    /// With an error of this status.
    Status(u16),
    /// With an error of this status that quotes the text.
    Quoting(u16),
    /// With one result too few.
    Half,
    /// With something that is no JSON.
    Malformed,
    /// By closing the connection.
    Reset,
}

/// A provider on a port of its own. Dropping it closes the port and every connection.
pub(crate) struct OpenAi {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    server: AbortHandle,
}

struct State {
    mode: Mode,
    asked: usize,
}

impl OpenAi {
    /// The key that it takes.
    pub(crate) const KEY: &'static str = "sk-of-the-tests";
    /// A text that contains this scores 0.97 for violence.
    pub(crate) const VIOLENT: &'static str = "flurbicide";

    /// Starts one that answers in this way.
    pub(crate) async fn start(mode: Mode) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State { mode, asked: 0 }));
        let server = tokio::spawn(serve(listener, Arc::clone(&state))).abort_handle();
        Self {
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

    /// From now on answers in this way.
    pub(crate) fn answer(&self, mode: Mode) {
        self.state.lock().unwrap().mode = mode;
    }

    /// How often it was asked.
    pub(crate) fn asked(&self) -> usize {
        self.state.lock().unwrap().asked
    }
}

impl Drop for OpenAi {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn serve(listener: TcpListener, state: Arc<Mutex<State>>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let state = Arc::clone(&state);
        let answering = service_fn(move |request| answer(request, Arc::clone(&state)));
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), answering);
        connections.spawn(async move {
            let _ = connection.await;
        });
    }
}

async fn answer(
    request: Request<Incoming>,
    state: Arc<Mutex<State>>,
) -> io::Result<Response<Full<Bytes>>> {
    let mode = {
        let mut state = state.lock().unwrap();
        state.asked += 1;
        state.mode
    };
    let bearer = format!("Bearer {}", OpenAi::KEY);
    let known = request
        .headers()
        .get("authorization")
        .is_some_and(|value| value == bearer.as_str());
    if !known {
        return Ok(error(401, "invalid_api_key"));
    }
    if (request.method().as_str(), request.uri().path()) != ("POST", "/v1/moderations") {
        return Ok(error(404, "unknown_url"));
    }
    let body = request
        .into_body()
        .collect()
        .await
        .map(http_body_util::Collected::to_bytes)
        .unwrap_or_default();
    let Some(inputs) = inputs(&body) else {
        return Ok(error(400, "invalid_request_error"));
    };
    let mut results: Vec<Value> = inputs.iter().map(|text| judge(text)).collect();
    Ok(match mode {
        Mode::Status(status) => error(status, "on_purpose"),
        Mode::Quoting(status) => error(status, &inputs.concat()),
        Mode::Malformed => respond(StatusCode::OK, "<html>busy</html>"),
        // The connection is closed without an answer.
        Mode::Reset => return Err(io::ErrorKind::ConnectionReset.into()),
        Mode::Well | Mode::Half => {
            if mode == Mode::Half {
                results.pop();
            }
            let answer =
                json!({ "id": "modr-1", "model": "omni-moderation-latest", "results": results });
            respond(StatusCode::OK, answer.to_string())
        }
    })
}

fn inputs(body: &[u8]) -> Option<Vec<String>> {
    let request: Value = serde_json::from_slice(body).ok()?;
    request["model"].as_str()?;
    request["input"]
        .as_array()?
        .iter()
        .map(|text| text.as_str().map(str::to_owned))
        .collect()
}

fn judge(text: &str) -> Value {
    let violence = if text.contains(OpenAi::VIOLENT) {
        0.97
    } else {
        0.01
    };
    let scores = json!({
        "harassment": 0.01, "harassment/threatening": 0.01, "hate": 0.01, "hate/threatening": 0.01,
        "illicit": null, "illicit/violent": null, "self-harm": 0.01, "self-harm/intent": 0.01,
        "self-harm/instructions": 0.01, "sexual": 0.01, "sexual/minors": 0.01,
        "violence": violence, "violence/graphic": 0.01,
    });
    json!({ "flagged": violence > 0.5, "categories": {}, "category_scores": scores })
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
