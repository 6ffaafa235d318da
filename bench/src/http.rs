//! A small HTTP/1.1 client for load. It shares the machine with what it measures, so it does no more than it must: requests
//! are rendered beforehand, a keep-alive connection sends one with one write and reads its answer into a kept buffer.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use bytes::BytesMut;
use serde::Deserialize;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    time::timeout,
};

/// A request nobody has answered by then is given up.
const PATIENCE: Duration = Duration::from_secs(30);
/// More than any answer of the interface sends.
const MAX_HEADERS: usize = 64;
const SUBMIT: &str = "/functions/v1/submit-media";

/// What a server answered.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The HTTP status code.
    pub(crate) status: u16,
    /// The whole body.
    pub(crate) body: BytesMut,
}

impl Answer {
    /// The status, and the problem's code if there is one: `429 rate_limited`.
    pub(crate) fn outcome(&self) -> String {
        let code = match self.status {
            200..300 => None,
            _ => serde_json::from_slice(&self.body)
                .ok()
                .and_then(|problem: Problem| problem.code),
        };
        match code {
            Some(code) => format!("{} {code}", self.status),
            None => self.status.to_string(),
        }
    }
}

#[derive(Deserialize)]
struct Problem {
    code: Option<String>,
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum Silence {
    /// No connection came about, so nothing was sent.
    Unreachable(io::Error),
    /// The connection broke or was given up: the request may or may not have had an effect.
    Broken(io::Error),
}

impl From<Silence> for io::Error {
    fn from(silence: Silence) -> Self {
        match silence {
            Silence::Unreachable(error) | Silence::Broken(error) => error,
        }
    }
}

/// One server, and a connection to it that is kept while it works.
pub(crate) struct Client {
    address: SocketAddr,
    /// The address it connects from; `None` leaves the choice to the system.
    source: Option<IpAddr>,
    connection: Option<Connection>,
}

impl Client {
    /// Connects with the first request.
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self {
            address,
            source: None,
            connection: None,
        }
    }

    /// Connects from this address of the machine, as another machine would.
    pub(crate) fn coming_from(source: IpAddr, address: SocketAddr) -> Self {
        Self {
            address,
            source: Some(source),
            connection: None,
        }
    }

    /// Sends a rendered request and waits for its answer.
    pub(crate) async fn send(&mut self, request: &[u8]) -> Result<Answer, Silence> {
        let mut connection = match self.connection.take() {
            Some(connection) if connection.is_open() => connection,
            Some(_) | None => Connection::open(self.source, self.address)
                .await
                .map_err(Silence::Unreachable)?,
        };
        let answer = timeout(PATIENCE, connection.exchange(request))
            .await
            .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
            .map_err(Silence::Broken)?;
        if connection.keeps_alive {
            self.connection = Some(connection);
        }
        Ok(answer)
    }
}

struct Connection {
    stream: TcpStream,
    buffer: BytesMut,
    keeps_alive: bool,
}

struct Head {
    status: u16,
    /// Bytes of the status line and headers.
    length: usize,
    /// Bytes of the body.
    content: usize,
    closes: bool,
}

impl Connection {
    async fn open(source: Option<IpAddr>, address: SocketAddr) -> io::Result<Self> {
        let stream = connect(source, address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: BytesMut::with_capacity(16 * 1024),
            keeps_alive: true,
        })
    }

    /// Whether the server has not closed it meanwhile: it says nothing of its own accord but the end.
    fn is_open(&self) -> bool {
        let nothing = self.stream.try_read(&mut [0]);
        nothing.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
    }

    async fn exchange(&mut self, request: &[u8]) -> io::Result<Answer> {
        self.stream.write_all(request).await?;
        let head = loop {
            if let Some(head) = parse(&self.buffer)? {
                break head;
            }
            self.fill().await?;
        };
        while self.buffer.len() < head.length + head.content {
            self.fill().await?;
        }
        self.keeps_alive = !head.closes;
        let _ = self.buffer.split_to(head.length);
        Ok(Answer {
            status: head.status,
            body: self.buffer.split_to(head.content),
        })
    }

    async fn fill(&mut self) -> io::Result<()> {
        self.buffer.reserve(4 * 1024);
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

/// Opens a connection, from a given address of this machine or from any.
pub(crate) async fn connect(source: Option<IpAddr>, to: SocketAddr) -> io::Result<TcpStream> {
    let Some(source) = source else {
        return TcpStream::connect(to).await;
    };
    let socket = match source {
        IpAddr::V4(_) => TcpSocket::new_v4()?,
        IpAddr::V6(_) => TcpSocket::new_v6()?,
    };
    socket.bind(SocketAddr::new(source, 0))?;
    socket.connect(to).await
}

/// Reads the head of an answer; none while it is incomplete. Gatehouse always tells a body's length, so chunked bodies
/// are an error here.
fn parse(bytes: &[u8]) -> io::Result<Option<Head>> {
    let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let parsed = response
        .parse(bytes)
        .map_err(|error| invalid(error.to_string()))?;
    let httparse::Status::Complete(length) = parsed else {
        return Ok(None);
    };
    let status = response.code.unwrap_or_default();
    let mut content = None;
    let mut closes = response.version == Some(0);
    for header in response.headers.iter() {
        if header.name.eq_ignore_ascii_case("content-length") {
            content = std::str::from_utf8(header.value)
                .ok()
                .and_then(|text| text.parse().ok());
        } else if header.name.eq_ignore_ascii_case("connection") {
            closes = header.value.eq_ignore_ascii_case(b"close");
        }
    }
    let content = match (status, content) {
        (204 | 304, _) => 0,
        (_, Some(content)) => content,
        (_, None) => return Err(invalid(format!("an answer {status} without its length"))),
    };
    Ok(Some(Head {
        status,
        length,
        content,
        closes,
    }))
}

/// A rendered `GET`.
pub(crate) fn get(path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: gatehouse\r\n\r\n").into_bytes()
}

/// A rendered request to the management interface; `path` stands under `/management/v1`.
pub(crate) fn managed(
    method: &str,
    path: &str,
    token: &str,
    body: Option<&serde_json::Value>,
) -> Vec<u8> {
    let body = body.map(ToString::to_string).unwrap_or_default();
    let kind = if body.is_empty() {
        ""
    } else {
        "content-type: application/json\r\n"
    };
    format!(
        "{method} /management/v1{path} HTTP/1.1\r\nhost: gatehouse\r\nauthorization: Bearer {token}\r\n{kind}content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// A rendered submission of a text.
pub(crate) fn submission(site_key: &str, app_media_id: &str, text: &str) -> Vec<u8> {
    let body = json!({ "api_key": site_key, "app_media_id": app_media_id, "body": text });
    post(SUBMIT, "", &body)
}

/// A rendered submission with this body, whatever it is.
pub(crate) fn submission_of(body: &str) -> Vec<u8> {
    render(SUBMIT, "", body)
}

/// A rendered submission of a text with an `Idempotency-Key`.
pub(crate) fn repeatable_submission(
    site_key: &str,
    app_media_id: &str,
    text: &str,
    idempotency_key: &str,
) -> Vec<u8> {
    let body = json!({ "api_key": site_key, "app_media_id": app_media_id, "body": text });
    let header = format!("idempotency-key: {idempotency_key}\r\n");
    post(SUBMIT, &header, &body)
}

/// A rendered status query.
pub(crate) fn status_query(site_key: &str, media: uuid::Uuid) -> Vec<u8> {
    let body = json!({ "api_key": site_key, "media_id": media });
    post("/functions/v1/get-media-status", "", &body)
}

fn post(path: &str, header: &str, body: &serde_json::Value) -> Vec<u8> {
    render(path, header, &body.to_string())
}

fn render(path: &str, header: &str, body: &str) -> Vec<u8> {
    format!(
        "POST {path} HTTP/1.1\r\nhost: gatehouse\r\ncontent-type: application/json\r\n{header}content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_once_it_is_complete() {
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{\"id\"";
        assert!(parse(&answer[..30]).unwrap().is_none());
        let head = parse(answer).unwrap().unwrap();
        assert_eq!(
            (head.status, head.length, head.content, head.closes),
            (200, 39, 12, false)
        );
    }

    #[test]
    fn an_answer_of_unknown_length_is_an_error_rather_than_a_guess() {
        assert!(parse(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").is_err());
    }

    #[test]
    fn an_answer_without_content_needs_no_length() {
        let head = parse(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap().unwrap();
        assert_eq!((head.status, head.content), (204, 0));
    }

    #[test]
    fn a_request_tells_the_bytes_of_its_body() {
        let request = String::from_utf8(submission("site_a", "1", "für")).unwrap();
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        assert!(
            head.ends_with(&format!("content-length: {}", body.len())),
            "{head}"
        );
        assert_eq!(
            body,
            r#"{"api_key":"site_a","app_media_id":"1","body":"für"}"#
        );
    }

    #[test]
    fn an_idempotency_key_is_a_header_and_changes_nothing_else() {
        let plain = String::from_utf8(submission("site_a", "1", "text")).unwrap();
        let named = String::from_utf8(repeatable_submission("site_a", "1", "text", "k-1")).unwrap();
        assert_ne!(named, plain);
        assert_eq!(named.replace("idempotency-key: k-1\r\n", ""), plain);
    }
}
