//! `listen` over a real socket, and its parts.

mod forwarding;
mod printing;
mod secrets;

use domain::signature::{SignatureHeaders, SigningSecrets, Unverified};
use hyper::HeaderMap;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use verify::{Flaw, Verdict};

use super::*;
use printing::{
    an_event_is_printed_without_obeying_it, case_45_what_reorders_or_hides_text_is_printed_escaped,
    numbers_are_printed_as_they_came, the_first_lines_say_whether_signatures_are_verified,
};
use secrets::{
    both_secrets_of_a_rotation_verify_and_old_signatures_do_not,
    case_45_the_secret_comes_from_a_file_or_the_environment_too,
    the_secret_is_read_when_the_demo_file_appears,
};

const BODY: &[u8] = br#"{"event":"media.created","data":{"n":1}}"#;

fn secret(byte: u8) -> WebhookSecret {
    WebhookSecret::from_random([byte; 32])
}

fn now() -> i64 {
    let since = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    since.as_secs().try_into().unwrap()
}

fn signed(current: u8, previous: Option<u8>, at: i64) -> SignatureHeaders {
    let secrets = SigningSecrets {
        current: secret(current),
        previous: previous.map(secret),
    };
    let id = "018f3f3e-0000-7000-8000-000000000001".parse().unwrap();
    SignatureHeaders::sign(&secrets, id, at, BODY)
}

fn header_map(signed: &SignatureHeaders) -> HeaderMap {
    signed
        .iter()
        .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
        .collect()
}

/// Sends one request to a receiver and returns the status line.
async fn answer_of(receiver: Receiver, headers: &SignatureHeaders, body: &[u8]) -> String {
    let answer = whole_answer_of(receiver, headers, body).await;
    answer.lines().next().unwrap().to_owned()
}

async fn whole_answer_of(receiver: Receiver, headers: &SignatureHeaders, body: &[u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(async move { accept(&listener, &Arc::new(receiver)).await });
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let mut request = format!(
        "POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {}\r\n",
        body.len()
    );
    for (name, value) in headers.iter() {
        request.extend([name, ": ", value, "\r\n"]);
    }
    request.push_str("\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    stream.write_all(body).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    serving.abort();
    answer
}

fn receiver(byte: u8) -> Receiver {
    Receiver {
        secret: Secret::Given(secret(byte)),
        forward: None,
        status: None,
        delay: Duration::ZERO,
    }
}

#[tokio::test]
async fn a_signed_event_is_answered_200_and_a_forged_one_401() {
    let headers = signed(1, None, now());
    assert_eq!(
        answer_of(receiver(1), &headers, BODY).await,
        "HTTP/1.1 200 OK"
    );
    assert_eq!(
        answer_of(receiver(2), &headers, BODY).await,
        "HTTP/1.1 401 Unauthorized"
    );
    assert_eq!(
        answer_of(receiver(1), &headers, b"{}").await,
        "HTTP/1.1 401 Unauthorized"
    );
}

#[tokio::test]
async fn it_fails_and_delays_on_purpose() {
    let delay = Duration::from_millis(300);
    let status = Some(StatusCode::INTERNAL_SERVER_ERROR);
    let started = time::Instant::now();
    let failing = Receiver {
        status,
        delay,
        ..receiver(1)
    };
    let answer = answer_of(failing, &signed(1, None, now()), BODY).await;
    assert_eq!(answer, "HTTP/1.1 500 Internal Server Error");
    assert!(started.elapsed() >= delay);
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused() {
    let body = vec![b'x'; LONGEST_BODY + 1];
    let answer = answer_of(receiver(1), &signed(1, None, now()), &body).await;
    assert_eq!(answer, "HTTP/1.1 413 Payload Too Large");
}

#[test]
fn statuses_are_read() {
    assert_eq!(final_status("503"), Ok(StatusCode::SERVICE_UNAVAILABLE));
    for wrong in ["", "100", "20", "1000", "ok"] {
        assert!(final_status(wrong).is_err(), "{wrong}");
    }
}
