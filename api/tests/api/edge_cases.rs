//! The edges of HTTP: what unusual, careless and hostile clients send, and what they are told.

use std::fmt::Write as _;

use serde_json::json;
use sqlx::PgPool;

use crate::{
    app::{App, STATUS, SUBMIT},
    client::{self, Wire},
};

const JSON: (&str, &str) = ("Content-Type", "application/json");

/// Every path that is served, with its methods.
const ROUTES: [(&str, &[&str]); 7] = [
    ("/", &["GET", "HEAD"]),
    (SUBMIT, &["POST"]),
    (STATUS, &["GET", "HEAD", "POST"]),
    ("/functions/v1/openapi.json", &["GET", "HEAD"]),
    ("/docs", &["GET", "HEAD"]),
    ("/healthz", &["GET", "HEAD"]),
    ("/readyz", &["GET", "HEAD"]),
];

fn submission(app: &App) -> String {
    json!({ "api_key": app.tenant.key, "body": "hello" }).to_string()
}

/// A head for a body that is sent apart.
fn head(lines: &str) -> String {
    format!(
        "POST {SUBMIT} HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n{lines}\r\n\r\n"
    )
}

#[sqlx::test(migrations = false)]
async fn a_client_that_asks_first_is_told_to_go_on_or_refused_at_once(pool: PgPool) {
    let app = App::start(pool).await;
    let body = submission(&app);
    let mut wire = Wire::open(app.address).await;
    let length = body.len();
    wire.send(head(&format!(
        "Content-Length: {length}\r\nExpect: 100-continue"
    )))
    .await;
    assert_eq!(wire.answer().await.status, 100);
    wire.send(&body).await;
    wire.answer().await.ok();

    for (lines, status, code) in [
        ("Content-Length: 16777217", 413, "payload_too_large"),
        (
            "Content-Length: 20\r\nContent-Encoding: gzip",
            415,
            "unsupported_media_type",
        ),
    ] {
        let mut wire = Wire::open(app.address).await;
        wire.send(head(&format!("{lines}\r\nExpect: 100-continue")))
            .await;
        wire.answer().await.problem(status, code);
        assert!(
            wire.try_answer().await.is_none(),
            "closed: the body never comes"
        );
    }
}

#[sqlx::test(migrations = false)]
async fn compressed_bodies_are_refused_unread(pool: PgPool) {
    let app = App::start(pool).await;
    for encoding in ["gzip", "br", "deflate, gzip", "x-unheard-of"] {
        let headers = [JSON, ("Content-Encoding", encoding)];
        let answer = app
            .request("POST", SUBMIT, &headers, submission(&app))
            .await;
        let problem = answer.problem(415, "unsupported_media_type");
        assert!(
            problem["detail"]
                .as_str()
                .unwrap()
                .contains("Content-Encoding"),
            "{problem}"
        );
    }
    let headers = [JSON, ("Content-Encoding", "identity")];
    app.request("POST", SUBMIT, &headers, submission(&app))
        .await
        .ok();
}

#[sqlx::test(migrations = false)]
async fn a_refused_client_may_send_on_and_reads_its_refusal(pool: PgPool) {
    let app = App::start(pool).await;
    let body = vec![b' '; 12 << 20];
    for (method, path, headers, status) in [
        ("POST", "/nowhere", &[JSON][..], 404),
        ("PUT", SUBMIT, &[JSON], 405),
        ("POST", SUBMIT, &[("Content-Type", "text/plain")], 415),
        ("POST", SUBMIT, &[JSON, ("Content-Encoding", "gzip")], 415),
    ] {
        let answer = app.request(method, path, headers, &body).await;
        assert_eq!(answer.status, status, "{answer:?}");
    }
}

#[sqlx::test(migrations = false)]
async fn trailers_and_extensions_of_chunks_mean_nothing(pool: PgPool) {
    let app = App::start(pool).await;
    let body = submission(&app);
    let chunked = format!(
        "{}{:x};name=\"value\"\r\n{body}\r\n0\r\nX-Trailer: api_key\r\nContent-Length: 3\r\n\r\n",
        head("Transfer-Encoding: chunked\r\nTrailer: X-Trailer\r\nConnection: close"),
        body.len(),
    );
    client::exchange(app.address, chunked.as_bytes()).await.ok();
}

#[sqlx::test(migrations = false)]
async fn a_length_beside_chunks_is_not_believed_and_ends_the_connection(pool: PgPool) {
    let app = App::start(pool).await;
    let body = submission(&app);
    for order in [
        "Content-Length: 3\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 3",
    ] {
        let mut wire = Wire::open(app.address).await;
        let smuggled = client::request("GET", "/healthz", &[], b"");
        let chunked = format!("{}{:x}\r\n{body}\r\n0\r\n\r\n", head(order), body.len());
        wire.send([chunked.as_bytes(), &smuggled].concat()).await;
        wire.answer().await.ok();
        assert!(
            wire.try_answer().await.is_none(),
            "what follows is not a request"
        );
    }
    for broken in [
        "Content-Length: 3\r\nContent-Length: 4",
        "Content-Length: -1",
        "Content-Length: 3, 3",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: gzip",
        "X : space before the colon",
        "X: bare \n newline \0",
    ] {
        let answer = client::exchange(app.address, head(broken).as_bytes()).await;
        assert_eq!(answer.status, 400, "{broken:?}: {answer:?}");
    }
    assert_eq!(app.count("select count(*) from media").await, 2);
}

#[sqlx::test(migrations = false)]
async fn http_1_0_and_absolute_targets_are_served(pool: PgPool) {
    let app = App::start(pool).await;
    let body = submission(&app);
    let old = format!(
        "POST {SUBMIT} HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    // It is read to its end: an old client is not kept waiting on an open connection.
    client::exchange(app.address, old.as_bytes()).await.ok();
    let target = format!("http://moderation.example{SUBMIT}");
    app.request("POST", &target, &[JSON], &body).await.ok();
}

#[sqlx::test(migrations = false)]
async fn odd_targets_are_nowhere(pool: PgPool) {
    let app = App::start(pool).await;
    for target in [
        "/functions/v1/submit-media/",
        "/functions/v1//submit-media",
        "//functions/v1/submit-media",
        "/functions/v1/submit%2Dmedia",
        "/functions/v1/submit%2dmedia",
        "/functions%2Fv1/submit-media",
        "/functions/v1/../v1/submit-media",
        "/functions/v1/%2e%2e/v1/submit-media",
        "/functions/v1/submit-media%00",
        "/functions/v1/submit-media;x=y",
        "/FUNCTIONS/V1/SUBMIT-MEDIA",
        "/%",
        "/%ff",
        "/ü",
        "http://moderation.example/nowhere",
        "*",
    ] {
        for method in ["GET", "POST", "OPTIONS"] {
            let answer = app.request(method, target, &[JSON], "{}").await;
            answer.problem(404, "not_found");
        }
    }
    let answer = app
        .request("CONNECT", "moderation.example:443", &[], "")
        .await;
    answer.problem(404, "not_found");
}

#[sqlx::test(migrations = false)]
async fn heads_are_bounded_in_number_and_bytes(pool: PgPool) {
    let app = App::start(pool).await;
    let with = |lines: &str| {
        format!("GET /healthz HTTP/1.1\r\nHost: test\r\nConnection: close\r\n{lines}\r\n")
    };
    let many = |count: usize| {
        (0..count).fold(String::new(), |mut lines, n| {
            let _ = write!(lines, "X-{n}: a\r\n");
            lines
        })
    };
    let of_bytes = |count| with(&format!("X: {}\r\n", "a".repeat(count)));
    for fitting in [with(&many(98)), of_bytes(15_000)] {
        let answer = client::exchange(app.address, fitting.as_bytes()).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
    let path = "a".repeat(17_000);
    let long = format!("GET /{path} HTTP/1.1\r\nHost: test\r\n\r\n");
    // The last goes on for longer than the sockets' buffers hold, and its sender hears of it all the same.
    for excessive in [with(&many(99)), of_bytes(17_000), long, of_bytes(8 << 20)] {
        let answer = client::exchange(app.address, excessive.as_bytes()).await;
        answer.problem(431, "head_too_large");
    }
}

#[sqlx::test(migrations = false)]
async fn what_is_no_http_is_a_problem_too(pool: PgPool) {
    let app = App::start(pool).await;
    for malformed in [
        "BLA\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: test\r\nX y: 1\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
    ] {
        let answer = client::exchange(app.address, malformed.as_bytes()).await;
        answer.problem(400, "invalid_request");
    }
    // Also where it follows a good one.
    let mut wire = client::Wire::open(app.address).await;
    assert_eq!(wire.get("/healthz").await.unwrap().status, 200);
    wire.send("BLA\r\n\r\n").await;
    wire.answer().await.problem(400, "invalid_request");
}

#[sqlx::test(migrations = false)]
async fn every_route_answers_every_method_as_it_allows(pool: PgPool) {
    let app = App::start(pool).await;
    for (path, allowed) in ROUTES {
        for method in [
            "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW",
        ] {
            let answer = app
                .request(
                    method,
                    path,
                    &[JSON],
                    if method == "POST" { "{}" } else { "" },
                )
                .await;
            if allowed.contains(&method) {
                assert_ne!(answer.status, 405, "{method} {path}");
            } else if method == "HEAD" {
                assert_eq!(answer.status, 405, "{method} {path}");
            } else {
                answer.problem(405, "method_not_allowed");
            }
            if answer.status == 405 {
                assert_eq!(
                    answer.header("allow"),
                    Some(&*allowed.join(", ")),
                    "{method} {path}"
                );
            }
            if method == "HEAD" {
                assert_eq!(answer.body, "", "{path}");
                let got = app.get(path).await;
                assert_eq!(answer.status, got.status, "{path}");
                let length = answer.header("content-length");
                assert!(
                    length.is_none() || length == got.header("content-length"),
                    "{path}"
                );
                assert_eq!(
                    answer.header("content-type"),
                    got.header("content-type"),
                    "{path}"
                );
            }
            assert_eq!(answer.header("access-control-allow-origin"), None);
        }
    }
}
