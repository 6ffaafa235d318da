//! What a scripted server can do on a connection.

use std::time::Duration;

use tokio::{io::AsyncWriteExt as _, net::TcpStream, time::sleep};

/// What the server does on one connection.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// A whole answer: the head without the length, and the body.
    Answer(String, Vec<u8>),
    /// The same, in pieces with pauses.
    Drip(Vec<u8>),
    /// A head that announces twice as many bytes as come.
    BreakOff(Vec<u8>),
    /// A body that never ends.
    Endless,
    /// This status, and a body of this many bytes.
    Flood(&'static str, usize),
    /// These bytes, one per second, and nothing after them.
    Trickle(&'static [u8]),
    /// Nothing, for longer than any client waits.
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

pub(super) async fn perform(stream: &mut TcpStream, act: Act) -> std::io::Result<()> {
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
