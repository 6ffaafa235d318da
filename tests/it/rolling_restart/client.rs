//! A client that repeats nothing. Ordinary clients send a request again when a kept connection
//! breaks, and would hide what these tests look for.

use std::{io::ErrorKind, net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

/// A request without an answer after this time has failed.
const PATIENCE: Duration = Duration::from_mins(1);

/// One server, and a connection to it. The connection is kept until the server says that an answer
/// is the last one.
pub(super) struct Client {
    address: SocketAddr,
    connection: Option<TcpStream>,
}

impl Client {
    pub(super) fn new(address: SocketAddr) -> Self {
        Self {
            address,
            connection: None,
        }
    }

    /// The status of the answer, or what went wrong.
    pub(super) async fn send(&mut self, request: &str) -> Result<u16, String> {
        let mut stream = match self.connection.take() {
            Some(stream) if is_open(&stream) => stream,
            Some(_) | None => TcpStream::connect(self.address)
                .await
                .map_err(|error| format!("no connection: {error}"))?,
        };
        let exchange = timeout(PATIENCE, exchange(&mut stream, request)).await;
        let (status, is_last) = exchange.map_err(|_| "no answer in time".to_owned())??;
        if !is_last {
            self.connection = Some(stream);
        }
        Ok(status)
    }

    /// Closes the connection.
    pub(super) fn hang_up(&mut self) {
        self.connection = None;
    }
}

/// Whether the connection is still open. Without a request, the only thing that a server sends is
/// the end.
fn is_open(stream: &TcpStream) -> bool {
    let read = stream.try_read(&mut [0]);
    read.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
}

/// The status, and whether this was the last answer on the connection.
async fn exchange(stream: &mut TcpStream, request: &str) -> Result<(u16, bool), String> {
    let broken = |error: std::io::Error| format!("the connection broke: {error}");
    stream.write_all(request.as_bytes()).await.map_err(broken)?;
    let mut answer = Vec::new();
    loop {
        if stream.read_buf(&mut answer).await.map_err(broken)? == 0 {
            return Err(format!("closed after {} bytes of an answer", answer.len()));
        }
        let Some(head) = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n") else {
            continue;
        };
        let told = String::from_utf8_lossy(&answer[..head]).to_ascii_lowercase();
        let header = |name: &str| {
            let line = told.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|value| value.strip_prefix(": "))
        };
        let length: usize = header("content-length").unwrap().parse().unwrap();
        if answer.len() == head + 4 + length {
            let status = told.split(' ').nth(1).unwrap().parse().unwrap();
            return Ok((status, header("connection") == Some("close")));
        }
    }
}
