//! A raw HTTP/1.1 client: it can also send what a proper one refuses to.

use std::{
    fmt::Write as _,
    io,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    time::timeout,
};

/// Far longer than any answer takes; a test that hangs says so.
const PATIENCE: Duration = Duration::from_mins(1);

/// A response, read to the end of its connection.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(given, _)| given.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.body))
    }

    /// All that may not differ between two refusals that must look alike: everything but the request's own id, and the time.
    pub(crate) fn likeness(&self) -> (u16, Vec<(String, String)>, String) {
        let headers = self.headers.iter().filter(|(name, _)| name != "date");
        let id = self.header("x-request-id").unwrap_or_default();
        let without_id = |text: &str| text.replace(id, "<id>");
        (
            self.status,
            headers
                .map(|(name, value)| (name.clone(), without_id(value)))
                .collect(),
            without_id(&self.body),
        )
    }

    /// A success, as JSON.
    #[track_caller]
    pub(crate) fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        assert_eq!(
            self.header("content-type"),
            Some("application/json"),
            "{self:?}"
        );
        self.json()
    }

    /// Something new, as JSON; `Location` ends with its id.
    #[track_caller]
    pub(crate) fn created(&self) -> Value {
        assert_eq!(self.status, 201, "{self:?}");
        assert_eq!(
            self.header("content-type"),
            Some("application/json"),
            "{self:?}"
        );
        let thing = self.json();
        let location = self.header("location").unwrap_or_default();
        let id = thing["id"].as_str().unwrap();
        assert!(location.ends_with(&format!("/{id}")), "{self:?}");
        thing
    }

    /// A success that has nothing to tell.
    #[track_caller]
    pub(crate) fn done(&self) {
        assert_eq!((self.status, self.body.as_str()), (204, ""), "{self:?}");
    }

    /// A problem of this status and code, in its documented shape.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16, code: &str) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(
            self.header("content-type"),
            Some("application/problem+json"),
            "{self:?}"
        );
        let problem = self.json();
        assert_eq!(problem["code"], code, "{self:?}");
        assert_eq!(problem["status"], status, "{self:?}");
        assert_eq!(
            problem["request_id"].as_str(),
            self.header("x-request-id"),
            "{self:?}"
        );
        assert!(
            problem["type"].is_string()
                && problem["title"].is_string()
                && problem["detail"].is_string()
        );
        problem
    }

    /// A 400 of this code that blames these fields, in this order.
    #[track_caller]
    pub(crate) fn blames(&self, code: &str, fields: &[&str]) {
        let problem = self.problem(400, code);
        let errors = problem["errors"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let blamed: Vec<_> = errors
            .iter()
            .map(|error| error["field"].as_str().unwrap())
            .collect();
        assert_eq!(blamed, fields, "{self:?}");
    }
}

/// Writes all of `request`, then reads until the server closes: requests must say `Connection: close` or be refused so.
/// Many clients work like this, so a server that refuses early must still let them send.
pub(crate) async fn exchange(address: SocketAddr, request: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut answer = Vec::new();
    let exchanging = async {
        stream.write_all(request).await?;
        stream.read_to_end(&mut answer).await
    };
    timeout(PATIENCE, exchanging)
        .await
        .expect("an answer in time")
        .expect("an answer");
    parse(&answer)
}

/// A connection for more than one request, or less.
pub(crate) struct Wire {
    pub(crate) stream: TcpStream,
    unread: Vec<u8>,
}

impl Wire {
    pub(crate) async fn open(address: SocketAddr) -> Self {
        Self::over(TcpStream::connect(address).await.unwrap())
    }

    /// Comes from another address of this machine: all of 127.0.0.0/8 is.
    pub(crate) async fn open_from(from: &str, address: SocketAddr) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        let from: IpAddr = from.parse().unwrap();
        socket.bind((from, 0).into()).unwrap();
        Self::over(socket.connect(address).await.unwrap())
    }

    pub(crate) fn over(stream: TcpStream) -> Self {
        Self {
            stream,
            unread: Vec::new(),
        }
    }

    /// # Panics
    /// When the server has closed.
    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).await.unwrap();
    }

    /// The next answer; none if the server closes instead.
    pub(crate) async fn try_answer(&mut self) -> Option<Answer> {
        timeout(PATIENCE, self.read_answer())
            .await
            .expect("an answer or an end in time")
            .ok()
    }

    /// The next answer.
    pub(crate) async fn answer(&mut self) -> Answer {
        self.try_answer().await.expect("an answer")
    }

    async fn read_answer(&mut self) -> io::Result<Answer> {
        let end = loop {
            let mut ends = self.unread.windows(4);
            if let Some(end) = ends.position(|four| four == b"\r\n\r\n") {
                break end + 4;
            }
            self.read_more().await?;
        };
        let length = parse(&self.unread[..end])
            .header("content-length")
            .map_or(0, |length| length.parse().unwrap());
        while self.unread.len() < end + length {
            self.read_more().await?;
        }
        let answer = parse(&self.unread[..end + length]);
        self.unread.drain(..end + length);
        Ok(answer)
    }

    async fn read_more(&mut self) -> io::Result<()> {
        match self.stream.read_buf(&mut self.unread).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }

    /// Sends one GET and reads its answer, or sees the connection closed.
    pub(crate) async fn get(&mut self, target: &str) -> Option<Answer> {
        let request = format!("GET {target} HTTP/1.1\r\nHost: test\r\n\r\n");
        self.stream.write_all(request.as_bytes()).await.ok()?;
        self.try_answer().await
    }
}

pub(crate) fn parse(answer: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(answer);
    let (head, body) = text
        .split_once("\r\n\r\n")
        .unwrap_or_else(|| panic!("no answer but {text:?}"));
    let mut lines = head.split("\r\n");
    let status = lines
        .next()
        .and_then(|line| line.split(' ').nth(1))
        .unwrap();
    let header = |line: &str| {
        let (name, value) = line.split_once(": ").unwrap();
        (name.to_owned(), value.to_owned())
    };
    Answer {
        status: status.parse().unwrap(),
        headers: lines.map(header).collect(),
        body: body.to_owned(),
    }
}

/// A whole request that closes its connection.
pub(crate) fn request(
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Vec<u8> {
    let mut text = format!("{method} {target} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n");
    for (name, value) in headers {
        let _ = write!(text, "{name}: {value}\r\n");
    }
    if !body.is_empty() || matches!(method, "POST" | "PUT" | "PATCH") {
        let _ = write!(text, "Content-Length: {}\r\n", body.len());
    }
    text += "\r\n";
    [text.as_bytes(), body].concat()
}
