//! A server in the test's own process, for images or webhooks. What it does depends on the path,
//! and on how often the path was requested before.

mod actions;

use std::{
    collections::HashMap,
    fs,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use tokio::{
    io::AsyncReadExt as _,
    net::TcpStream,
    task::{AbortHandle, JoinSet},
};

use super::servers;
pub(crate) use actions::Act;
use actions::perform;

/// One of the pictures in `tests/fixtures/images`.
pub(crate) fn picture(name: &str) -> Vec<u8> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/images");
    fs::read(format!("{directory}/{name}")).unwrap()
}

/// The bytes of all requests, by path.
type Requests = HashMap<String, Vec<Vec<u8>>>;

/// The server. Dropping it closes the port and every connection.
pub(crate) struct ScriptedServer {
    address: SocketAddr,
    asked: Arc<Mutex<Requests>>,
    server: AbortHandle,
}

impl ScriptedServer {
    /// Starts one. `act` says what it does when a path is requested for the n-th time, counted from
    /// 1.
    pub(crate) async fn start(act: impl Fn(&str, usize) -> Act + Send + Sync + 'static) -> Self {
        let listener = servers::listen().await;
        let address = listener.local_addr().unwrap();
        let asked: Arc<Mutex<Requests>> = Arc::default();
        let (act, requests) = (Arc::new(act), Arc::clone(&asked));
        let server = servers::run(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (act, requests) = (Arc::clone(&act), Arc::clone(&requests));
                connections.spawn(serve(stream, act, requests));
            }
        });
        Self {
            address,
            asked,
            server,
        }
    }

    /// The URL of a path, which begins with a slash.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The exception for the egress guard. URLs at this address are still checked like all others.
    pub(crate) fn allowed(&self) -> String {
        format!("127.0.0.1/32:{}", self.address.port())
    }

    /// How often a path was requested.
    pub(crate) fn asked(&self, path: &str) -> usize {
        self.requests(path).len()
    }

    /// The bytes of each request for a path.
    pub(crate) fn requests(&self, path: &str) -> Vec<Vec<u8>> {
        let asked = self.asked.lock().unwrap();
        asked.get(path).cloned().unwrap_or_default()
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn serve<A: Fn(&str, usize) -> Act>(
    mut stream: TcpStream,
    act: Arc<A>,
    requests: Arc<Mutex<Requests>>,
) {
    let Some((path, request)) = request(&mut stream).await else {
        return;
    };
    let asked = {
        let mut requests = requests.lock().unwrap();
        let asked = requests.entry(path.clone()).or_default();
        asked.push(request);
        asked.len()
    };
    // A client that wants no more closes the connection. That is no failure of the test.
    let _ = perform(&mut stream, act(&path, asked)).await;
}

/// A whole request and its path. `None` if the connection ends before.
async fn request(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        request.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(request.clone()).ok()?;
    let path = head.split(' ').nth(1)?.to_owned();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    if let Some(length) = length {
        let whole = request.len() + length.parse::<usize>().ok()?;
        while request.len() < whole {
            request.push(stream.read_u8().await.ok()?);
        }
    }
    Some((path, request))
}
