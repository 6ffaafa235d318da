//! The hostile team's own servers: receivers of webhooks and hosts of images. They stand on every address of 127.0.0.0/8, so
//! each address is another host to the service, and they keep every connection open.

use std::{io, net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    time::sleep,
};

/// What a long answer has: as much as the service reads.
const LONG: usize = 16 << 10;
const MAX_HEADERS: usize = 64;
/// A picture of one pixel.
const IMAGE: &[u8] = &[
    0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, b'I', b'H', b'D', b'R', 0, 0, 0,
    1, 0, 0, 0, 1, 8, 6, 0, 0, 0, 0x1f, 0x15, 0xc4, 0x89, 0, 0, 0, 0x0d, b'I', b'D', b'A', b'T',
    0x78, 0x9c, 0x63, 0x60, 0x60, 0x60, 0xf8, 0x0f, 0, 0x01, 0x04, 0x01, 0, 0x5f, 0xe5, 0xc3, 0x4b,
    0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xae, 0x42, 0x60, 0x82,
];

/// Listens on all addresses; only this machine is served.
pub(super) async fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    TcpListener::bind(address).await
}

/// Serves until the process ends.
pub(super) async fn serve(listener: TcpListener) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) if peer.ip().is_loopback() => {
                // A connection that breaks is the other side's affair.
                tokio::spawn(async move { answer(stream).await });
            }
            Ok(_) => {}
            // Out of file descriptors: some will be free again.
            Err(_) => sleep(Duration::from_millis(10)).await,
        }
    }
}

async fn answer(mut stream: TcpStream) -> io::Result<()> {
    let mut buffer = Vec::new();
    loop {
        let Some((length, path)) = request(&buffer)? else {
            if stream.read_buf(&mut buffer).await? == 0 {
                return Ok(());
            }
            continue;
        };
        while buffer.len() < length {
            if stream.read_buf(&mut buffer).await? == 0 {
                return Ok(());
            }
        }
        buffer.drain(..length);
        let answer = match path {
            Path::Silent => {
                // Until the other side gives up.
                while stream.read_buf(&mut buffer).await? > 0 {}
                return Ok(());
            }
            Path::Ok => render("200 OK", "text/plain", b""),
            Path::Image => render("200 OK", "image/png", IMAGE),
            Path::Long200 => render("200 OK", "text/plain", &[b'x'; LONG]),
            Path::Long500 => render("500 Internal Server Error", "text/plain", &[b'x'; LONG]),
        };
        stream.write_all(&answer).await?;
    }
}

#[derive(Clone, Copy)]
enum Path {
    Silent,
    Ok,
    Image,
    Long200,
    Long500,
}

/// The bytes of a request and where it goes; `None` while its head is incomplete.
fn request(bytes: &[u8]) -> io::Result<Option<(usize, Path)>> {
    let invalid = |error: httparse::Error| io::Error::new(io::ErrorKind::InvalidData, error);
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(head) = request.parse(bytes).map_err(invalid)? else {
        return Ok(None);
    };
    let path = match request.path {
        Some("/silent") => Path::Silent,
        Some("/image") => Path::Image,
        Some("/long/200") => Path::Long200,
        Some("/long/500") => Path::Long500,
        _ => Path::Ok,
    };
    let content = request
        .headers
        .iter()
        .find(|header| header.name.eq_ignore_ascii_case("content-length"))
        .and_then(|header| std::str::from_utf8(header.value).ok()?.parse().ok())
        .unwrap_or(0_usize);
    Ok(Some((head + content, path)))
}

fn render(status: &str, kind: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}
