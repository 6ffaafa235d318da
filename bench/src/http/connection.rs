//! A connection that is kept, and the head of an answer.

use std::{
    io,
    net::{IpAddr, SocketAddr},
};

use bytes::BytesMut;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{Answer, connect};

/// More than any answer of the interface sends.
const MAX_HEADERS: usize = 64;

pub(super) struct Connection {
    pub(super) stream: TcpStream,
    pub(super) buffer: BytesMut,
    pub(super) keeps_alive: bool,
}

pub(super) struct Head {
    pub(super) status: u16,
    /// Bytes of the status line and headers.
    pub(super) length: usize,
    /// Bytes of the body.
    pub(super) content: usize,
    pub(super) closes: bool,
    /// Where a redirect leads.
    pub(super) location: Option<String>,
}

impl Connection {
    pub(super) async fn open(source: Option<IpAddr>, address: SocketAddr) -> io::Result<Self> {
        let stream = connect(source, address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: BytesMut::with_capacity(16 * 1024),
            keeps_alive: true,
        })
    }

    /// Whether the server has not closed it. Without a request, a server sends nothing except the
    /// end.
    pub(super) fn is_open(&self) -> bool {
        let nothing = self.stream.try_read(&mut [0]);
        nothing.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
    }

    pub(super) async fn exchange(&mut self, request: &[u8]) -> io::Result<Answer> {
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
            location: head.location,
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

/// Reads the head of an answer; none while it is incomplete. Gatehouse always sends the length of a
/// body, so chunked bodies are an error here.
pub(super) fn parse(bytes: &[u8]) -> io::Result<Option<Head>> {
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
    let mut location = None;
    for header in response.headers.iter() {
        if header.name.eq_ignore_ascii_case("content-length") {
            content = std::str::from_utf8(header.value)
                .ok()
                .and_then(|text| text.parse().ok());
        } else if header.name.eq_ignore_ascii_case("connection") {
            closes = header.value.eq_ignore_ascii_case(b"close");
        } else if header.name.eq_ignore_ascii_case("location") {
            location = String::from_utf8(header.value.to_vec()).ok();
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
        location,
    }))
}
