//! Requests that are slow or malformed.

use std::{convert::Infallible, io, net::SocketAddr, time::Duration};

use sqlx::PgPool;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpSocket,
    time::{sleep, timeout},
};

use super::{AT_REST, HEAD, MIB, PATIENCE, connect, rest, served_during};
use crate::support::{Api, site_key};

/// Sends `bytes` one by one until the server closes the connection. Returns its answer.
async fn trickle(to: SocketAddr, bytes: &str) -> String {
    let stream = connect("127.0.0.2", to).await.unwrap();
    let (mut reading, mut writing) = stream.into_split();
    let mut answer = Vec::new();
    let sending = async {
        for byte in bytes.bytes().cycle() {
            if writing.write_all(&[byte]).await.is_err() {
                break;
            }
            sleep(Duration::from_millis(50)).await;
        }
    };
    let hearing = async {
        let _ = reading.read_to_end(&mut answer).await;
    };
    timeout(PATIENCE, async {
        tokio::select! {
            () = sending => {}
            () = hearing => {}
        }
    })
    .await
    .expect("an end");
    String::from_utf8_lossy(&answer).into_owned()
}

/// Sends one whole body. Returns the answer.
async fn send(to: SocketAddr, body: &[u8]) -> String {
    let mut stream = connect("127.0.0.2", to).await.unwrap();
    let head = format!(
        "{HEAD}Connection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body).await.unwrap();
    rest(stream).await
}

/// Sends megabytes in chunks until the server accepts no more. Returns the answer.
async fn send_chunks(to: SocketAddr) -> String {
    let stream = connect("127.0.0.2", to).await.unwrap();
    let (mut reading, mut writing) = stream.into_split();
    let sending = async {
        let head = format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n");
        writing.write_all(head.as_bytes()).await?;
        let chunk = [b"100000\r\n", &vec![b' '; 1 << 20][..], b"\r\n"].concat();
        loop {
            writing.write_all(&chunk).await?;
        }
    };
    let mut answer = Vec::new();
    let _: (io::Result<Infallible>, _) = timeout(PATIENCE, async {
        tokio::join!(sending, reading.read_to_end(&mut answer))
    })
    .await
    .expect("an end");
    String::from_utf8_lossy(&answer).into_owned()
}

#[sqlx::test(migrations = false)]
async fn case_30_slow_and_malformed_requests_are_refused_and_others_served(pool: PgPool) {
    let key = site_key(&pool);
    // Long enough for the good client, however busy the machine is.
    let bounds = [
        "--head-seconds",
        "10",
        "--body-seconds",
        "15",
        "--answer-seconds",
        "10",
    ];
    let api = Api::with(&pool, &bounds).await;
    let to = api.address;
    let (open, close) = ("[".repeat(8 << 20), "]".repeat(8 << 20));
    let with = |members: &str| format!("{{\"api_key\":\"{key}\",{members}}}");
    let bodies = [
        // Well-formed, and in a member that is ignored.
        (
            with(&format!(
                "\"body\":\"deep\",\"other\":{}{}",
                &open[..4 << 20],
                &close[..4 << 20]
            )),
            200,
        ),
        (with(&format!("\"other\":{open}")), 400),
        (with(&format!("\"body\":{open}")), 400),
        (
            with(&format!(
                "\"metadata\":{{\"a\":{}{}}}",
                &open[..5_000],
                &close[..5_000]
            )),
            400,
        ),
        (with("\"body\":\"a\",\"body\":\"b\""), 400),
        (with("\"body\":\"a\\u0000b\""), 400),
        (with("\"body\":\"a\0b\""), 400),
        (with("\"metadata\":{\"a\":\"\\u0000\"},\"body\":\"a\""), 400),
        ("[".repeat(1 << 20), 400),
        (String::new(), 400),
    ];
    let attack = async {
        let silent = connect("127.0.0.2", to).await.unwrap();
        let slow_body = format!("{HEAD}Content-Length: 1000000\r\n\r\n{{");
        let mut half = connect("127.0.0.2", to).await.unwrap();
        half.write_all(slow_body.as_bytes()).await.unwrap();
        let (silence, head, body, chunked, deaf) = tokio::join!(
            rest(silent),
            trickle(
                to,
                "GET /healthz HTTP/1.1\r\nX: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
            ),
            rest(half),
            send_chunks(to),
            deaf(to),
        );
        assert_eq!(silence, "", "a silent connection is closed");
        assert_eq!(head, "", "a slow head is closed");
        assert!(body.starts_with("HTTP/1.1 408 "), "{body}");
        assert!(chunked.starts_with("HTTP/1.1 413 "), "{chunked}");
        assert!(deaf, "an answer that nobody reads is dropped");
        for (body, status) in &bodies {
            let answer = send(to, body.as_bytes()).await;
            let start = &body[..body.len().min(120)];
            assert!(
                answer.starts_with(&format!("HTTP/1.1 {status} ")),
                "{start}: {answer}"
            );
        }
    };
    served_during(&api, &key, attack).await;
    // The largest body, its parsed form, and the buffers in which it grew.
    let bound = AT_REST + 4 * 16 * MIB;
    assert!(api.most_memory() < bound, "{} MiB", api.most_memory() / MIB);
}

/// Requests a lot and reads nothing. Returns whether the server gave up: from then on, nothing can be
/// sent to it.
async fn deaf(to: SocketAddr) -> bool {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4_096).unwrap();
    let mut stream = socket.connect(to).await.unwrap();
    let request = "GET /docs HTTP/1.1\r\nHost: test\r\n\r\n";
    stream
        .write_all(request.repeat(40).as_bytes())
        .await
        .unwrap();
    let given_up = async {
        while stream.write_all(b" ").await.is_ok() {
            sleep(Duration::from_millis(100)).await;
        }
    };
    timeout(PATIENCE, given_up).await.is_ok()
}
