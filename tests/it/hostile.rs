//! Slow, greedy and hostile clients of a real `gatehouse api` process: what they do ends, its
//! memory stays within its limit, and others are served meanwhile. Each name begins with the number
//! of its case in `docs/reliability.md`.

mod floods;
mod requests;

use std::{
    io,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    time::{sleep, timeout},
};

use crate::support::Api;

/// Much longer than any limit that is set here.
const PATIENCE: Duration = Duration::from_mins(3);

const MIB: u64 = 1 << 20;

/// The memory of an idle process, in a build without optimisation.
const AT_REST: u64 = 100 * MIB;

const HEAD: &str =
    "POST /functions/v1/submit-media HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n";

/// A connection from one of this machine's own addresses. 127.0.0.0/8 has many of them.
async fn connect(from: &str, to: SocketAddr) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    let from: IpAddr = from.parse().unwrap();
    socket.bind((from, 0).into())?;
    socket.connect(to).await
}

/// Everything that the server sends until it closes the connection.
async fn rest(mut stream: TcpStream) -> String {
    let mut answer = Vec::new();
    let reading = stream.read_to_end(&mut answer);
    // A reset also ends the connection.
    let _ = timeout(PATIENCE, reading).await.expect("an end");
    String::from_utf8_lossy(&answer).into_owned()
}

/// Until `attack` is over, a good client sends requests from its own address, each on a new
/// connection.
async fn served_during<T>(api: &Api, key: &str, attack: impl Future<Output = T>) -> T {
    let mut attack = std::pin::pin!(attack);
    let mut served = 0;
    loop {
        tokio::select! {
            ended = &mut attack => {
                assert!(served > 0, "the good client was never served");
                return ended;
            }
            () = serve_one(api, key) => served += 1,
        }
        sleep(Duration::from_millis(100)).await;
    }
}

async fn serve_one(api: &Api, key: &str) {
    let body = json!({ "api_key": key, "body": "a good text" }).to_string();
    let request = format!(
        "{HEAD}Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = connect("127.0.0.3", api.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let answer = rest(stream).await;
    assert!(
        answer.starts_with("HTTP/1.1 200 "),
        "the good client was not served: {answer}"
    );
}
