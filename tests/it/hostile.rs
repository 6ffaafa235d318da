//! Slow, greedy and hostile clients of a real `gatehouse api` process: what they do ends, its memory stays within bounds, and
//! others are served meanwhile. Each name begins with the number of its case in `docs/reliability.md`.

use std::{
    convert::Infallible,
    io::{self, Write as _},
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::json;
use sqlx::PgPool;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::support::{Api, site_key};

/// Far longer than any bound that is set here.
const PATIENCE: Duration = Duration::from_mins(1);
const MIB: u64 = 1 << 20;
/// What a process holds that nobody attacks, in a build without optimisation.
const AT_REST: u64 = 100 * MIB;

const HEAD: &str =
    "POST /functions/v1/submit-media HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n";

/// A connection from one of this machine's own addresses, of which 127.0.0.0/8 has many.
async fn connect(from: &str, to: SocketAddr) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    let from: IpAddr = from.parse().unwrap();
    socket.bind((from, 0).into())?;
    socket.connect(to).await
}

/// All that the server still says until it closes.
async fn rest(mut stream: TcpStream) -> String {
    let mut answer = Vec::new();
    let reading = stream.read_to_end(&mut answer);
    // A reset is an end, too.
    let _ = timeout(PATIENCE, reading).await.expect("an end");
    String::from_utf8_lossy(&answer).into_owned()
}

/// Sends `bytes` one by one, and what is answered when the server has had enough.
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

/// One whole body, and what is answered.
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

/// As many megabytes in chunks as the server takes, and what is answered.
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

/// A good client, from an address of its own, on a new connection each time, until `attack` is over.
async fn served_during<T>(api: &Api, key: &str, attack: impl Future<Output = T>) -> T {
    let mut attack = std::pin::pin!(attack);
    let mut served = 0;
    loop {
        tokio::select! {
            ended = &mut attack => {
                assert!(served > 0, "nobody was served meanwhile");
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
        "not served meanwhile: {answer}"
    );
}

#[sqlx::test(migrations = false)]
async fn case_30_slow_and_malformed_requests_are_refused_and_others_served(pool: PgPool) {
    let key = site_key(&pool);
    let bounds = [
        "--head-seconds",
        "2",
        "--body-seconds",
        "3",
        "--answer-seconds",
        "2",
    ];
    let api = Api::with(&pool, &bounds).await;
    let to = api.address;
    let (open, close) = ("[".repeat(8 << 20), "]".repeat(8 << 20));
    let with = |members: &str| format!("{{\"api_key\":\"{key}\",{members}}}");
    let bodies = [
        // Nobody reads it, and it is well-formed.
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
    // The largest body, as it came and as it was parsed, and the buffers in which it grew.
    let bound = AT_REST + 4 * 16 * MIB;
    assert!(api.most_memory() < bound, "{} MiB", api.most_memory() / MIB);
}

/// Asks for much, reads nothing, and says whether the server gave up.
async fn deaf(to: SocketAddr) -> bool {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4_096).unwrap();
    let mut stream = socket.connect(to).await.unwrap();
    let request = "GET /docs HTTP/1.1\r\nHost: test\r\n\r\n";
    stream
        .write_all(request.repeat(40).as_bytes())
        .await
        .unwrap();
    sleep(Duration::from_secs(4)).await;
    let mut answer = Vec::new();
    let ended = timeout(PATIENCE, stream.read_to_end(&mut answer)).await;
    ended.expect("an end").is_err()
}

/// Opens so many connections and sends `bytes` on each; those that the server has not closed at once.
async fn flood(to: SocketAddr, from: &str, connections: usize, bytes: &[u8]) -> Vec<TcpStream> {
    let mut opening = JoinSet::new();
    let mut open = Vec::new();
    for n in 0..connections {
        let (from, bytes) = (from.to_owned(), bytes.to_vec());
        opening.spawn(async move {
            let mut stream = connect(&from, to).await.ok()?;
            stream.write_all(&bytes).await.ok()?;
            Some(stream)
        });
        // As fast as the backlog allows.
        if n % 500 == 499 {
            while let Some(stream) = opening.join_next().await {
                open.extend(stream.unwrap());
            }
        }
    }
    while let Some(stream) = opening.join_next().await {
        open.extend(stream.unwrap());
    }
    open
}

#[sqlx::test(migrations = false)]
#[ignore = "opens 10,000 connections"]
async fn case_30_ten_thousand_connections_of_one_address_shut_out_nobody(pool: PgPool) {
    let key = site_key(&pool);
    // None of them leaves before the end.
    let patient = ["--head-seconds", "300", "--idle-seconds", "300"];
    let api = Api::with(&pool, &patient).await;
    // As much of a head as is kept.
    let mut bytes = b"GET /healthz HTTP/1.1\r\nHost: test\r\nX: ".to_vec();
    bytes.resize(15_000, b'a');
    let attack = async {
        let open = flood(api.address, "127.0.0.2", 10_000, &bytes).await;
        assert!(open.len() >= 5_000, "{}", open.len());
        // Now that all of them have what they can get.
        serve_one(&api, &key).await;
    };
    served_during(&api, &key, attack).await;
    // Half of all connections, each with its buffer and what belongs to it.
    let bound = AT_REST + 5_000 * (16 + 16) * 1_024;
    assert!(api.most_memory() < bound, "{} MiB", api.most_memory() / MIB);
}

#[sqlx::test(migrations = false)]
#[ignore = "fills 500 MB of memory"]
async fn case_30_connections_and_bodies_of_many_addresses_stay_within_the_bounds(pool: PgPool) {
    let key = site_key(&pool);
    let api = Api::with(
        &pool,
        &[
            "--proxies",
            "127.0.0.2,127.0.1.0/24",
            "--connections",
            "10500",
        ],
    )
    .await;
    let mut head = b"GET /healthz HTTP/1.1\r\nHost: test\r\nX: ".to_vec();
    head.resize(15_000, b'a');
    let mut body = format!("{HEAD}Content-Length: {}\r\n\r\n", 15 << 20).into_bytes();
    body.resize(15 << 20, b' ');
    let body: Arc<[u8]> = body.into();
    let attack = async {
        let _heads = flood(api.address, "127.0.0.2", 10_000, &head).await;
        let mut bodies = JoinSet::new();
        for n in 0..100 {
            let (to, body) = (api.address, Arc::clone(&body));
            bodies.spawn(async move {
                let mut stream = connect(&format!("127.0.1.{n}"), to).await.unwrap();
                // Those over the budget are refused before they have sent all.
                let _ = stream.write_all(&body).await;
                stream
            });
        }
        let started = Instant::now();
        let _open = bodies.join_all().await;
        sleep(Duration::from_secs(5).saturating_sub(started.elapsed())).await;
    };
    served_during(&api, &key, attack).await;
    let connections = 10_000 * (16 + 16) * 1_024;
    let bodies = 2 * 256 * MIB;
    let bound = AT_REST + connections + bodies;
    let _ = writeln!(
        io::stderr(),
        "held at most {} MiB of {}",
        api.most_memory() / MIB,
        bound / MIB
    );
    assert!(api.most_memory() < bound, "{} MiB", api.most_memory() / MIB);
}
