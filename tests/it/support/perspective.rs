//! A server that speaks Perspective's wire format. It reads each request strictly, and refuses in Perspective's words. A text says which
//! scores it gets: `THREAT=0.83`.

use std::{
    collections::VecDeque,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use http_body_util::{BodyExt as _, Full};
use hyper::{
    Request, Response, StatusCode,
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde_json::{Map, Value, json};
use tokio::task::{AbortHandle, JoinSet};

use super::servers;

/// The server. Dropping it closes the port and every connection.
pub(crate) struct FakePerspective {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    server: AbortHandle,
}

struct State {
    path: &'static str,
    key: String,
    /// The attributes that it knows.
    attributes: Vec<&'static str>,
    /// What precedes the name of an attribute where a text says its score.
    prefix: &'static str,
    /// The next answers: 429 with this `Retry-After`, or as documented.
    next: VecDeque<Option<&'static str>>,
    requests: usize,
    /// The texts of all requests that were not limited.
    asked: Vec<String>,
}

impl FakePerspective {
    /// One that answers at this path to this key, and knows these attributes. It reads the scores behind `prefix`.
    pub(crate) async fn start(
        path: &'static str,
        key: &str,
        attributes: &[&'static str],
        prefix: &'static str,
    ) -> Self {
        let listener = servers::listen().await;
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State {
            path,
            key: key.to_owned(),
            attributes: attributes.to_vec(),
            prefix,
            next: VecDeque::new(),
            requests: 0,
            asked: Vec::new(),
        }));
        let answering = Arc::clone(&state);
        let server = servers::run(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let state = Arc::clone(&answering);
                let answer = service_fn(move |request| answer(request, Arc::clone(&state)));
                let connection =
                    http1::Builder::new().serve_connection(TokioIo::new(stream), answer);
                connections.spawn(async move {
                    let _ = connection.await;
                });
            }
        });
        Self {
            address,
            state,
            server,
        }
    }

    /// The base of its operations.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The next requests get 429 with this `Retry-After`, or are answered as documented.
    pub(crate) fn limit(&self, next: &[Option<&'static str>]) {
        self.state.lock().unwrap().next.extend(next);
    }

    /// How many requests it got.
    pub(crate) fn requests(&self) -> usize {
        self.state.lock().unwrap().requests
    }

    /// The texts of its requests.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.state.lock().unwrap().asked.clone()
    }
}

impl Drop for FakePerspective {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn answer(
    request: Request<Incoming>,
    state: Arc<Mutex<State>>,
) -> io::Result<Response<Full<Bytes>>> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let mut state = state.lock().unwrap();
    state.requests += 1;
    if let Some(Some(retry_after)) = state.next.pop_front() {
        let error = failure(429, "RESOURCE_EXHAUSTED", "Quota exceeded.", &json!([]));
        let mut response = respond(429, &error);
        let headers = response.headers_mut();
        headers.insert("retry-after", retry_after.parse().unwrap());
        return Ok(response);
    }
    let (status, answer) = match state.analyse(&head, &body) {
        Ok(answer) => (200, answer),
        Err(error) => (
            u16::try_from(error["error"]["code"].as_u64().unwrap()).unwrap(),
            error,
        ),
    };
    Ok(respond(status, &answer))
}

impl State {
    fn analyse(&mut self, head: &hyper::http::request::Parts, body: &[u8]) -> Result<Value, Value> {
        let wrong = |message: &str| failure(400, "INVALID_ARGUMENT", message, &json!([]));
        if head.method != "POST" || head.uri.path() != self.path {
            return Err(failure(404, "NOT_FOUND", "Not found.", &json!([])));
        }
        if head.uri.query() != Some(&format!("key={}", self.key)) {
            let details = json!([{ "reason": "API_KEY_INVALID", "domain": "googleapis.com" }]);
            let message = "API key not valid. Please pass a valid API key.";
            return Err(failure(400, "INVALID_ARGUMENT", message, &details));
        }
        let request: Value = serde_json::from_slice(body).map_err(|_| wrong("Invalid JSON"))?;
        let text = request["comment"]["text"].as_str().unwrap_or_default();
        if request["doNotStore"] != true {
            return Err(wrong("These tests never let a text be stored."));
        }
        self.asked.push(text.to_owned());
        if text.is_empty() {
            return Err(wrong("Comment must be non-empty."));
        }
        if text.len() > 20_480 {
            let details = json!([{ "errorType": "COMMENT_TOO_LONG" }]);
            let message = "Comment text too long.";
            return Err(failure(400, "INVALID_ARGUMENT", message, &details));
        }
        let asked = request["requestedAttributes"].as_object();
        let asked = asked.ok_or_else(|| wrong("Missing requested_attributes"))?;
        let mut scores = Map::new();
        for name in asked.keys() {
            if !self.attributes.contains(&name.as_str()) {
                return Err(wrong(&format!("Unknown requested attribute: {name}")));
            }
            if text.contains("konnichiwa") {
                let details = json!([{
                    "errorType": "LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE",
                    "languageNotSupportedByAttributeError": {
                        "detectedLanguages": ["ja-Latn"], "attribute": name,
                    },
                }]);
                let message =
                    format!("Attribute {name} does not support request languages: ja-Latn");
                return Err(failure(400, "INVALID_ARGUMENT", &message, &details));
            }
            let wanted = format!("{}{name}=", self.prefix);
            let score = text.split(' ').find_map(|word| word.strip_prefix(&wanted));
            let score: f64 = score.map_or(0.01, |score| score.parse().unwrap());
            let summary = json!({ "value": score, "type": "PROBABILITY" });
            scores.insert(name.clone(), json!({ "summaryScore": summary }));
        }
        Ok(json!({ "attributeScores": scores, "languages": ["en"] }))
    }
}

fn failure(code: u16, status: &str, message: &str, details: &Value) -> Value {
    json!({ "error": { "code": code, "message": message, "status": status, "details": details } })
}

fn respond(status: u16, body: &Value) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.to_string().into()));
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    response
}
