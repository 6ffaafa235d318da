//! Bounds of time and size on connections and bodies, and the shutdown.

use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

use fair_share::Proxies;
use serde_json::json;
use sqlx::PgPool;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    time::{sleep, timeout},
};

use crate::{
    app::{App, Options, SUBMIT},
    client::{self, Wire},
};

const JSON: (&str, &str) = ("Content-Type", "application/json");
/// A bound that a request stays within unless it is slow on purpose, however busy the machine is.
const SOON: Duration = Duration::from_secs(2);
const PATIENCE: Duration = Duration::from_mins(1);

fn impatient() -> Options {
    let mut options = Options::default();
    options.serve.head = SOON;
    options.serve.finish = SOON;
    options.body.deadline = SOON;
    options
}

#[sqlx::test(migrations = false)]
async fn a_body_over_the_limit_is_refused_with_and_without_a_declared_length(pool: PgPool) {
    let app = App::start(pool).await;
    // Declared, and never sent: the refusal does not wait for it.
    let head = format!(
        "POST {SUBMIT} HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\nContent-Length: 16777217\r\n\r\n"
    );
    let mut stream = TcpStream::connect(app.address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = [0; 4096];
    let read = timeout(PATIENCE, stream.read(&mut answer))
        .await
        .expect("no waiting")
        .unwrap();
    client::parse(&answer[..read]).problem(413, "payload_too_large");

    // Declared and sent, and sent in chunks: the client gets to read the answer although it sends too much.
    let body = vec![b' '; (16 << 20) + 1];
    app.request("POST", SUBMIT, &[JSON], &body)
        .await
        .problem(413, "payload_too_large");
    let mut chunked = format!(
        "POST {SUBMIT} HTTP/1.1\r\nHost: t\r\nConnection: close\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    .into_bytes();
    for _ in 0..20 {
        chunked.extend_from_slice(b"100000\r\n");
        chunked.extend_from_slice(&body[..1 << 20]);
        chunked.extend_from_slice(b"\r\n");
    }
    chunked.extend_from_slice(b"0\r\n\r\n");
    client::exchange(app.address, &chunked)
        .await
        .problem(413, "payload_too_large");
}

#[sqlx::test(migrations = false)]
async fn a_body_of_many_chunks_within_the_limit_is_put_together(pool: PgPool) {
    let app = App::start(pool).await;
    let body = json!({ "api_key": app.tenant.key, "body": "a".repeat(50_000) }).to_string();
    let mut request = format!(
        "POST {SUBMIT} HTTP/1.1\r\nHost: t\r\nConnection: close\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    for chunk in body.as_bytes().chunks(1_000) {
        let text = std::str::from_utf8(chunk).unwrap();
        let _ = write!(request, "{:x}\r\n{text}\r\n", chunk.len());
    }
    request += "0\r\n\r\n";
    client::exchange(app.address, request.as_bytes()).await.ok();
    assert_eq!(
        app.count("select length(body)::bigint from media").await,
        50_000
    );
}

#[sqlx::test(migrations = false)]
async fn large_bodies_share_a_budget_and_small_ones_do_not_need_it(pool: PgPool) {
    let mut options = Options::default();
    // Half of it is what one address can get.
    options.body.budget_bytes = 200_000;
    let app = App::with(pool, options).await;
    let large = |text: usize| json!({ "body": "a".repeat(text) });
    app.submit(large(90_000)).await.ok();
    let answer = app.submit(large(100_001)).await;
    answer.problem(503, "overloaded");
    assert!(answer.header("retry-after").is_some());
    // The share of the first was given back.
    app.submit(large(90_000)).await.ok();
    app.submit(large(10_000)).await.ok();
}

#[sqlx::test(migrations = false)]
async fn a_slow_body_is_408_and_a_slow_head_is_closed(pool: PgPool) {
    let app = App::with(pool, impatient()).await;
    let head = format!(
        "POST {SUBMIT} HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{{"
    );
    client::exchange(app.address, head.as_bytes())
        .await
        .problem(408, "request_timeout");

    let mut stream = TcpStream::connect(app.address).await.unwrap();
    let started = Instant::now();
    for byte in b"GET /healthz HTTP/1.1\r\nX-Slow: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        .iter()
        .cycle()
    {
        if stream.write_all(&[*byte]).await.is_err() {
            break;
        }
        assert!(started.elapsed() < PATIENCE, "a slow head is never cut off");
        sleep(Duration::from_millis(20)).await;
    }
}

#[sqlx::test(migrations = false)]
async fn a_body_that_trickles_is_given_up_and_a_steady_one_is_not(pool: PgPool) {
    let mut options = Options::default();
    options.body.grace = SOON;
    options.body.bytes_per_second = 1_000;
    let app = App::with(pool, options).await;
    let body = json!({ "api_key": app.tenant.key, "body": "a".repeat(50_000) }).to_string();
    let request = client::request("POST", SUBMIT, &[JSON], body.as_bytes());
    let mut steady = Wire::open(app.address).await;
    for part in request.chunks(5_000) {
        steady.send(part).await;
        sleep(SOON / 8).await;
    }
    steady.answer().await.ok();

    let mut slow = Wire::open(app.address).await;
    let (head, rest) = request.split_at(request.len() - body.len());
    slow.send(head).await;
    let stream = &slow.stream;
    let trickle = async {
        for byte in rest.chunks(1) {
            let _ = stream.try_write(byte);
            sleep(Duration::from_millis(20)).await;
        }
    };
    // It stops writing as soon as there is an answer. Writing to a closed connection would discard the answer before it is read.
    tokio::select! {
        () = trickle => panic!("all of it is taken"),
        readable = stream.readable() => readable.unwrap(),
    }
    slow.answer().await.problem(408, "request_timeout");
}

#[sqlx::test(migrations = false)]
async fn a_request_that_takes_too_long_is_given_up(pool: PgPool) {
    // Long enough for a request that nobody holds up, however busy the machine is.
    let mut options = Options {
        deadline: SOON * 3,
        ..Options::default()
    };
    // Nobody else gives up meanwhile.
    options.accept.patience = PATIENCE * 10;
    let app = App::with(pool, options).await;
    app.submitted("the rest is known").await;
    let mut blocker = app.pool.begin().await.unwrap();
    sqlx::raw_sql("lock table media in access exclusive mode")
        .execute(&mut *blocker)
        .await
        .unwrap();
    let answer = app.submit(json!({ "body": "held up" })).await;
    answer.problem(503, "overloaded");
    assert!(answer.header("retry-after").is_some(), "{answer:?}");
    blocker.rollback().await.unwrap();
    app.submit(json!({ "body": "free again" })).await.ok();
}

#[sqlx::test(migrations = false)]
async fn a_connection_may_be_idle_for_longer_than_a_head_may_take(pool: PgPool) {
    let mut options = impatient();
    options.serve.idle = SOON * 6;
    let app = App::with(pool, options).await;
    let mut wire = Wire::open(app.address).await;
    wire.get("/healthz").await.expect("an answer").ok();
    sleep(SOON * 2).await;
    wire.get("/healthz").await.expect("still open").ok();
    // The head's own deadline runs from its first byte.
    wire.send("GET /healthz HTT").await;
    assert!(wire.try_answer().await.is_none());

    let mut wire = Wire::open(app.address).await;
    wire.get("/healthz").await.expect("an answer").ok();
    assert!(wire.try_answer().await.is_none(), "closed when idle");
}

#[sqlx::test(migrations = false)]
async fn connections_over_the_cap_wait_for_room(pool: PgPool) {
    let mut options = impatient();
    options.serve.connections = 2;
    options.serve.proxies = proxy();
    let app = App::with(pool, options).await;
    let started = Instant::now();
    let _silent = [Wire::open(app.address).await, Wire::open(app.address).await];
    // Connections are accepted in the order in which they came.
    app.get("/healthz").await.ok();
    assert!(started.elapsed() > SOON / 2, "{:?}", started.elapsed());
}

#[sqlx::test(migrations = false)]
async fn the_connection_that_is_idle_for_longest_makes_room(pool: PgPool) {
    let mut options = Options::default();
    options.serve.connections = 2;
    options.serve.proxies = proxy();
    let app = App::with(pool, options).await;
    let mut first = Wire::open(app.address).await;
    first.get("/healthz").await.unwrap().ok();
    let mut second = Wire::open(app.address).await;
    second.get("/healthz").await.unwrap().ok();
    // Not for a connection that may be about to be used again.
    sleep(Duration::from_millis(1_200)).await;
    let mut third = Wire::open(app.address).await;
    third.get("/healthz").await.expect("room").ok();
    assert!(first.get("/healthz").await.is_none(), "it had to leave");
    second.get("/healthz").await.expect("it may stay").ok();
}

#[sqlx::test(migrations = false)]
async fn one_address_cannot_take_all_connections(pool: PgPool) {
    let mut options = Options::default();
    options.serve.connections = 10;
    let app = App::with(pool, options).await;
    let mut flood = Vec::new();
    for _ in 0..10 {
        flood.push(Wire::open(app.address).await);
    }
    let mut refused = 0;
    for wire in &mut flood[5..] {
        if let Some(answer) = wire.try_answer().await {
            answer.problem(503, "overloaded");
            assert!(
                answer.header("retry-after").is_some() && answer.header("x-request-id").is_some()
            );
            refused += 1;
        }
    }
    assert_eq!(refused, 5);
    let mut other = Wire::open_from("127.0.0.2", app.address).await;
    other.get("/healthz").await.expect("room for others").ok();
    flood[0]
        .get("/healthz")
        .await
        .expect("who is in stays in")
        .ok();
}

#[sqlx::test(migrations = false)]
async fn large_bodies_of_one_address_leave_room_for_those_of_others(pool: PgPool) {
    let mut options = Options::default();
    options.body.budget_bytes = 400_000;
    let app = App::with(pool, options).await;
    let body = json!({ "api_key": app.tenant.key, "body": "a".repeat(90_000) }).to_string();
    let request = client::request("POST", SUBMIT, &[JSON], body.as_bytes());
    let started = Instant::now();
    let (_held, answer) = loop {
        let mut held = [Wire::open(app.address).await, Wire::open(app.address).await];
        for wire in &mut held {
            wire.send(&request[..request.len() - 1]).await;
        }
        sleep(Duration::from_millis(200)).await;
        let answer = app.post_text(SUBMIT, &body).await;
        if answer.status != 200 {
            break (held, answer);
        }
        // It arrived before one of them, which was refused then.
        assert!(started.elapsed() < PATIENCE * 3, "there is always room");
    };
    answer.problem(503, "overloaded");
    let mut other = Wire::open_from("127.0.0.2", app.address).await;
    other.send(&request).await;
    other.answer().await.ok();
}

#[sqlx::test(migrations = false)]
async fn an_answer_that_nobody_reads_is_dropped_at_its_deadline(pool: PgPool) {
    let mut options = Options::default();
    options.serve.answer = SOON;
    let app = App::with(pool, options).await;
    let whole = app.get("/docs").await.body.len();
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4_096).unwrap();
    let mut wire = Wire::over(socket.connect(app.address).await.unwrap());
    // More than all buffers of the system hold.
    let requests = 40;
    let request = "GET /docs HTTP/1.1\r\nHost: test\r\n\r\n";
    wire.send(request.repeat(requests)).await;
    // While nobody reads, the server gives up. From then on, nothing can be sent to it.
    let given_up = async {
        while wire.stream.write_all(b" ").await.is_ok() {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, given_up)
        .await
        .expect("the connection is reset");
    // What the system holds can be read still, and the reset may be told once more.
    let mut received = Vec::new();
    let _ = timeout(PATIENCE, wire.stream.read_to_end(&mut received))
        .await
        .expect("an end");
    assert!(received.len() < whole * requests, "{}", received.len());
}

/// What lets this machine's connections have all there is.
fn proxy() -> Proxies {
    Proxies::new(["127.0.0.0/8".parse().unwrap()])
}

#[sqlx::test(migrations = false)]
async fn a_shutdown_lets_a_running_request_finish_and_closes_the_rest(pool: PgPool) {
    let mut options = impatient();
    options.serve.finish = PATIENCE;
    options.body.deadline = PATIENCE;
    let mut app = App::with(pool, options).await;
    let body = json!({ "api_key": app.tenant.key, "body": "in flight" }).to_string();
    let request = client::request("POST", SUBMIT, &[JSON], body.as_bytes());
    let (first, rest) = request.split_at(request.len() - 5);
    let mut stream = TcpStream::connect(app.address).await.unwrap();
    stream.write_all(first).await.unwrap();
    sleep(Duration::from_millis(100)).await;

    app.stop.cancel();
    let stopped = Instant::now();
    while TcpStream::connect(app.address).await.is_ok() {
        assert!(stopped.elapsed() < PATIENCE, "the listener stays open");
        sleep(Duration::from_millis(10)).await;
    }
    stream.write_all(rest).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    client::parse(&answer).ok();
    timeout(PATIENCE, &mut app.server)
        .await
        .expect("ends")
        .unwrap()
        .unwrap();
}

#[sqlx::test(migrations = false)]
async fn case_49_a_process_that_was_told_to_stop_goes_on_accepting_for_a_while(pool: PgPool) {
    let mut options = impatient();
    options.serve.drain = SOON * 5;
    let mut app = App::with(pool, options).await;
    let mut kept = Wire::open(app.address).await;
    kept.get("/healthz").await.expect("before").ok();
    app.stop.cancel();
    // Before it knows, it answers as ever.
    while kept
        .get("/healthz")
        .await
        .expect("still open")
        .header("connection")
        != Some("close")
    {
        sleep(Duration::from_millis(10)).await;
    }
    assert!(kept.get("/healthz").await.is_none(), "closed after it");
    let mut new = Wire::open(app.address).await;
    new.get("/healthz").await.expect("accepted").ok();
    timeout(PATIENCE, &mut app.server)
        .await
        .expect("ends")
        .unwrap()
        .unwrap();
    assert!(TcpStream::connect(app.address).await.is_err());
}

#[sqlx::test(migrations = false)]
async fn a_shutdown_cuts_off_what_outlives_its_limit(pool: PgPool) {
    let mut options = impatient();
    options.body.deadline = PATIENCE * 6;
    let mut app = App::with(pool, options).await;
    let head = format!(
        "POST {SUBMIT} HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{{"
    );
    let mut stream = TcpStream::connect(app.address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    sleep(Duration::from_millis(100)).await;
    app.stop.cancel();
    timeout(PATIENCE, &mut app.server)
        .await
        .expect("the limit holds")
        .unwrap()
        .unwrap();
    let mut answer = Vec::new();
    let closed = timeout(PATIENCE, stream.read_to_end(&mut answer))
        .await
        .expect("the connection is closed");
    assert!(closed.is_err() || answer.is_empty(), "{answer:?}");
}
