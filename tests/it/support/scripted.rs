//! A server in the test's own process, of images or for webhooks: what it does depends on the path, and on how often it
//! was asked for it.

use std::{
    collections::HashMap,
    fs,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::{AbortHandle, JoinSet},
    time::sleep,
};

/// One of the pictures in `tests/fixtures/images`.
pub(crate) fn picture(name: &str) -> Vec<u8> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/images");
    fs::read(format!("{directory}/{name}")).unwrap()
}

/// What is done on one connection.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// A whole answer: the head without the length, and the body.
    Answer(String, Vec<u8>),
    /// The same, in pieces with pauses.
    Drip(Vec<u8>),
    /// A head that promises more than comes.
    BreakOff(Vec<u8>),
    /// A body without end.
    Endless,
    /// This status, and a body of so many bytes.
    Flood(&'static str, usize),
    /// These bytes, one a second, and nothing after them.
    Trickle(&'static [u8]),
    /// Nothing, for longer than anybody waits.
    Hang,
}

impl Act {
    /// 200 with this body.
    pub(crate) fn file(media_type: &str, body: Vec<u8>) -> Self {
        Self::Answer(format!("200 OK\r\nContent-Type: {media_type}"), body)
    }

    /// Nothing but a head.
    pub(crate) fn head(head: &str) -> Self {
        Self::Answer(head.to_owned(), Vec::new())
    }
}

/// What came, by path: each request's bytes.
type Requests = HashMap<String, Vec<Vec<u8>>>;

/// The server. Dropping it closes the port and every connection.
pub(crate) struct ScriptedServer {
    address: SocketAddr,
    asked: Arc<Mutex<Requests>>,
    server: AbortHandle,
}

impl ScriptedServer {
    /// Does what `act` says for a path that is asked for the n-th time, from 1.
    pub(crate) async fn start(act: impl Fn(&str, usize) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked: Arc<Mutex<Requests>> = Arc::default();
        let (act, requests) = (Arc::new(act), Arc::clone(&asked));
        let server = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (act, requests) = (Arc::clone(&act), Arc::clone(&requests));
                connections.spawn(serve(stream, act, requests));
            }
        });
        Self {
            address,
            asked,
            server: server.abort_handle(),
        }
    }

    /// The URL of a path, which begins with a slash.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The exception for the egress guard: this address, which is still judged as all others are.
    pub(crate) fn allowed(&self) -> String {
        format!("127.0.0.1/32:{}", self.address.port())
    }

    /// How often a path was asked for.
    pub(crate) fn asked(&self, path: &str) -> usize {
        self.requests(path).len()
    }

    /// What came for a path, each request to the byte.
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
    // One who does not want to hear more closes the connection, which is no concern of ours.
    let _ = perform(&mut stream, act(&path, asked)).await;
}

/// A whole request and its path; none when the connection ends before.
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

async fn perform(stream: &mut TcpStream, act: Act) -> std::io::Result<()> {
    let head = |length: usize| {
        format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n")
    };
    match act {
        Act::Answer(head, body) => {
            let head = format!(
                "HTTP/1.1 {head}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            stream.write_all(head.as_bytes()).await?;
            stream.write_all(&body).await
        }
        Act::Drip(body) => {
            stream.write_all(head(body.len()).as_bytes()).await?;
            for piece in body.chunks(body.len().div_ceil(10)) {
                stream.write_all(piece).await?;
                sleep(Duration::from_millis(50)).await;
            }
            Ok(())
        }
        Act::BreakOff(body) => {
            stream.write_all(head(body.len() * 2).as_bytes()).await?;
            stream.write_all(&body).await
        }
        Act::Endless => {
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
            stream.write_all(head.as_bytes()).await?;
            let chunk = [b"10000\r\n", &vec![b'x'; 1 << 16][..], b"\r\n"].concat();
            loop {
                stream.write_all(&chunk).await?;
            }
        }
        Act::Flood(status, length) => {
            let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n");
            stream.write_all(head.as_bytes()).await?;
            let piece = vec![b'x'; 1 << 16];
            for _ in 0..length / piece.len() {
                stream.write_all(&piece).await?;
            }
            Ok(())
        }
        Act::Trickle(bytes) => {
            for byte in bytes {
                stream.write_all(&[*byte]).await?;
                sleep(Duration::from_secs(1)).await;
            }
            Ok(())
        }
        Act::Hang => {
            sleep(Duration::from_mins(1)).await;
            Ok(())
        }
    }
}
