//! Requests and answers without a library.

use std::fmt::Write as _;
use std::io;
use std::time::Duration;

use hyper::http::request::Parts;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::sleep;

use crate::support::provider::{Refusal, wire::Wire};

/// The time for one byte.
const DRIP: Duration = Duration::from_secs(1);

/// Reads a request from a connection.
pub(crate) async fn request(stream: &mut TcpStream) -> io::Result<(Parts, Vec<u8>)> {
    let mut bytes = Vec::new();
    let head = loop {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(end) = end {
            break bytes.drain(..end + 4).collect::<Vec<u8>>();
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    };
    let head = String::from_utf8(head).map_err(io::Error::other)?;
    let mut lines = head.trim_end().split("\r\n");
    let mut first = lines.next().unwrap_or_default().split(' ');
    let mut request = hyper::Request::builder()
        .method(first.next().unwrap_or_default())
        .uri(first.next().unwrap_or_default());
    for line in lines {
        let (name, value) = line.split_once(':').ok_or(io::ErrorKind::InvalidData)?;
        request = request.header(name, value.trim());
    }
    let (parts, ()) = request.body(()).map_err(io::Error::other)?.into_parts();
    let length = parts.headers.get("content-length");
    let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
    let length: usize = length.ok_or(io::ErrorKind::InvalidData)?;
    while bytes.len() < length {
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok((parts, bytes))
}

pub(crate) async fn refuse(
    stream: &mut TcpStream,
    wire: Wire,
    Refusal(status, code): Refusal,
) -> io::Result<()> {
    respond_error(stream, wire, status, &[], code).await
}

pub(super) async fn respond_error(
    stream: &mut TcpStream,
    wire: Wire,
    status: u16,
    headers: &[(&str, &str)],
    code: &str,
) -> io::Result<()> {
    let body = match status {
        204 | 304 => String::new(),
        _ => wire.error(status, code).to_string(),
    };
    let own = wire.error_header().map(|name| (name, code));
    let headers: Vec<_> = headers.iter().copied().chain(own).collect();
    respond(stream, status, &headers, body.as_bytes()).await
}

pub(super) async fn respond(
    stream: &mut TcpStream,
    status: u16,
    headers: &[(&str, &str)],
    body: &[u8],
) -> io::Result<()> {
    let mut lines = String::new();
    for (name, value) in headers {
        write!(lines, "{name}: {value}\r\n").unwrap();
    }
    let length = match status {
        204 | 304 => String::new(),
        _ => format!("Content-Length: {}\r\n", body.len()),
    };
    let head = format!("HTTP/1.1 {status} S\r\n{lines}{length}\r\n");
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body).await
}

pub(super) async fn drip(stream: &mut TcpStream, text: &str) -> io::Result<()> {
    for byte in text.bytes() {
        stream.write_all(&[byte]).await?;
        sleep(DRIP).await;
    }
    Ok(())
}

pub(super) async fn hang() {
    std::future::pending::<()>().await;
}

/// Ends the connection with a reset when it is dropped.
pub(super) fn reset(stream: &TcpStream) -> io::Result<()> {
    rustix::net::sockopt::set_socket_linger(stream, Some(Duration::ZERO))?;
    Ok(())
}
