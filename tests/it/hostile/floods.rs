//! More connections and bodies than the process accepts.

use std::{
    io,
    io::Write as _,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use sqlx::PgPool;
use tokio::{io::AsyncWriteExt, net::TcpStream, task::JoinSet, time::sleep};

use super::{AT_REST, HEAD, MIB, connect, serve_one, served_during};
use crate::support::{Api, site_key};

/// Opens this many connections and sends `bytes` on each. Returns those that the server did not
/// close at once.
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
        // As fast as the listener's backlog allows.
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
    // No connection ends before the test does.
    let patient = ["--head-seconds", "300", "--idle-seconds", "300"];
    let api = Api::with(&pool, &patient).await;
    // As much of a head as the server keeps.
    let mut bytes = b"GET /healthz HTTP/1.1\r\nHost: test\r\nX: ".to_vec();
    bytes.resize(15_000, b'a');
    let attack = async {
        let open = flood(api.address, "127.0.0.2", 10_000, &bytes).await;
        assert!(open.len() >= 5_000, "{}", open.len());
        // Now all of them have what they can get.
        serve_one(&api, &key).await;
    };
    served_during(&api, &key, attack).await;
    // Half of all connections, each with its buffer and its state.
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
                // Bodies over the budget are refused before they have been sent completely.
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
