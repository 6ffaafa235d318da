//! A raw HTTP/1.1 client: it can also send what a proper one refuses to.

use std::{fmt::Write as _, net::SocketAddr, time::Duration};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

/// Far longer than any answer takes; a test that hangs says so.
const PATIENCE: Duration = Duration::from_secs(20);

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
