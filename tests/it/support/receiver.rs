//! A webhook receiver in the test's own process. It keeps every request with its raw body, and
//! fails or is slow if a test asks for it.

mod received;

use std::{
    convert::Infallible,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use http_body_util::{BodyExt as _, Full};
use hyper::{
    Request, Response, StatusCode,
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use tokio::{
    net::TcpListener,
    task::{AbortHandle, JoinSet},
};

use super::{eventually, servers};
pub(crate) use received::Received;

const NEVER: Duration = Duration::from_hours(1);

/// A receiver on a port of its own. Dropping it closes the port and every connection.
pub(crate) struct Receiver {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    server: AbortHandle,
}

struct State {
    received: Vec<Received>,
    /// How many requests it answers.
    most: usize,
    status: StatusCode,
    delay: Duration,
    says: &'static str,
}

impl Receiver {
    /// Starts one that answers 200 at once.
    pub(crate) async fn start() -> Self {
        let listener = servers::listen().await;
        let address = listener.local_addr().unwrap();
        let state = State {
            received: Vec::new(),
            most: usize::MAX,
            status: StatusCode::OK,
            delay: Duration::ZERO,
            says: "",
        };
        let state = Arc::new(Mutex::new(state));
        let server = servers::run(serve(listener, Arc::clone(&state)));
        Self {
            address,
            state,
            server,
        }
    }

    /// Where it listens.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Its host and port, in the form of the egress guard's exceptions.
    pub(crate) fn host(&self) -> String {
        self.address.to_string()
    }

    /// The exception for the egress guard that a worker needs.
    pub(crate) fn allowed(&self) -> String {
        format!("{}/32:{}", self.address.ip(), self.address.port())
    }

    /// From now on, answers with this status after this delay.
    pub(crate) fn answer(&self, status: u16, delay: Duration) {
        let mut state = self.state.lock().unwrap();
        state.status = StatusCode::from_u16(status).unwrap();
        state.delay = delay;
    }

    /// Answers this many requests, of all that it gets. Later ones wait for an answer.
    pub(crate) fn answer_only(&self, most: usize) {
        self.state.lock().unwrap().most = most;
    }

    /// From now on, answers with this body.
    pub(crate) fn say(&self, body: &'static str) {
        self.state.lock().unwrap().says = body;
    }

    /// All requests so far, in order.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.state.lock().unwrap().received.clone()
    }

    /// Waits for the first request about this item with this event.
    pub(crate) async fn event(&self, event: &str, media: &str, within: Duration) -> Received {
        eventually(&format!("{event} of {media}"), within, async || {
            self.received()
                .into_iter()
                .find(|request| request.tells(event, media))
        })
        .await
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn serve(listener: TcpListener, state: Arc<Mutex<State>>) {
    // Aborting this task drops the set, and so ends the connections.
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let state = Arc::clone(&state);
        let answering = service_fn(move |request| answer(request, Arc::clone(&state)));
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), answering);
        connections.spawn(async move {
            // A sender may close the connection. That is no failure of the test.
            let _ = connection.await;
        });
    }
}

async fn answer(
    request: Request<Incoming>,
    state: Arc<Mutex<State>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let Ok(body) = body.collect().await else {
        // The request broke off: nothing was received.
        return Ok(Response::default());
    };
    let (status, delay, says) = {
        let mut state = state.lock().unwrap();
        state.received.push(Received {
            at: Instant::now(),
            headers: head.headers,
            body: body.to_bytes(),
        });
        let delay = if state.received.len() > state.most {
            NEVER
        } else {
            state.delay
        };
        (state.status, delay, state.says)
    };
    tokio::time::sleep(delay).await;
    let mut response = Response::new(Full::from(says));
    *response.status_mut() = status;
    Ok(response)
}
