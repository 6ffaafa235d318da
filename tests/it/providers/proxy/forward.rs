//! A forward proxy for tests.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional},
    net::{TcpListener, TcpStream},
    task::{AbortHandle, JoinSet},
};

/// A forward proxy. For it, every name means this machine. Dropping it closes its port.
pub(super) struct Proxy {
    pub(super) address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    server: AbortHandle,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Proxy {
    /// Starts one that requires this user and password, if any.
    pub(super) async fn start(wanted: Option<&'static str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let all = Arc::clone(&asked);
        let server = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(forward(stream, wanted, Arc::clone(&all)));
            }
        });
        Self {
            address,
            asked,
            server: server.abort_handle(),
        }
    }

    /// The first line of each request.
    pub(super) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

async fn forward(
    mut client: TcpStream,
    wanted: Option<&str>,
    all: Arc<Mutex<Vec<String>>>,
) -> Option<()> {
    let mut bytes = Vec::new();
    let head = loop {
        client.read_buf(&mut bytes).await.ok().filter(|n| *n > 0)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, _)) = text.split_once("\r\n\r\n") {
            break head.to_owned();
        }
    };
    let line = head.lines().next()?.to_owned();
    all.lock().unwrap().push(line.clone());
    let shown =
        wanted.map(|wanted| format!("proxy-authorization: basic {}", STANDARD.encode(wanted)));
    let is_known = |shown: &String| {
        let mut lines = head.lines();
        lines.any(|line| line.eq_ignore_ascii_case(shown))
    };
    if shown.as_ref().is_some_and(|shown| !is_known(shown)) {
        let refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n";
        client.write_all(refusal).await.ok()?;
        return None;
    }
    let target = line.split(' ').nth(1)?;
    let place = target.trim_start_matches("http://").split('/').next()?;
    let port: u16 = place.rsplit(':').next()?.parse().ok()?;
    let mut server = TcpStream::connect(("127.0.0.1", port)).await.ok()?;
    if line.starts_with("CONNECT ") {
        client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.ok()?;
    } else {
        server.write_all(&bytes).await.ok()?;
    }
    copy_bidirectional(&mut client, &mut server).await.ok()?;
    Some(())
}
