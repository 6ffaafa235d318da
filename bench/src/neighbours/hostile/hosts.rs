//! The hostile team's own servers: receivers of webhooks and hosts of images. They listen on every
//! address of 127.0.0.0/8, so each address is another host for the service, and they keep every
//! connection open.

use std::{io, net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    time::sleep,
};

/// Bytes of a long answer: as many as the service reads.
const LONG: usize = 16 << 10;
const MAX_HEADERS: usize = 64;
/// A picture of one pixel.
const IMAGE: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52,
    0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00, 0x3a, 0x7e, 0x9b,
    0x55, 0x00, 0x00, 0x00, 0x0a, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0x68, 0x00, 0x00, 0x00,
    0x82, 0x00, 0x81, 0x77, 0xcd, 0x72, 0xb6, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae,
    0x42, 0x60, 0x82,
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
                // Broken connections are ignored.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_known_by_its_path_and_has_its_body() {
        let post = b"POST /long/500 HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}";
        let (length, path) = request(post).unwrap().unwrap();
        assert_eq!(length, post.len());
        assert!(matches!(path, Path::Long500));
        assert!(request(&post[..20]).unwrap().is_none());
    }
}
