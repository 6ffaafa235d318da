//! `listen` over a real socket, and its parts.

mod forwarding;

use domain::signature::{SignatureHeaders, SigningSecrets};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;

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
fn both_secrets_of_a_rotation_verify_and_old_signatures_do_not() {
    let verified = Verdict::Checked {
        service: Ok(()),
        standard: Ok(()),
    };
    let rotated = header_map(&signed(2, Some(1), now()));
    assert_eq!(verify(&secret(1), &rotated, BODY), verified);
    assert_eq!(verify(&secret(2), &rotated, BODY), verified);
    let replayed = header_map(&signed(1, None, now() - 400));
    assert_eq!(
        verify(&secret(1), &replayed, BODY),
        Verdict::Checked {
            service: Ok(()),
            standard: Err(Flaw::Unverified(Unverified::Stale))
        }
    );
    let missing = Err(Flaw::Missing);
    assert_eq!(
        verify(&secret(1), &HeaderMap::new(), BODY),
        Verdict::Checked {
            service: missing,
            standard: missing
        }
    );
}

#[test]
fn the_secret_is_read_when_the_demo_file_appears() {
    let directory = tempfile::tempdir().unwrap();
    let source = Secret::InFile(directory.path().join("demo.json"));
    assert!(source.load().unwrap_err().contains("demo.json"));
    let demo = format!(
        r#"{{"base_url":"http://x","webhook_secret":"{}"}}"#,
        secret(1).expose()
    );
    std::fs::write(directory.path().join("demo.json"), demo).unwrap();
    assert_eq!(source.load(), Ok(secret(1)));
}

#[test]
fn case_45_the_secret_comes_from_a_file_or_the_environment_too() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("secret");
    std::fs::write(&file, format!("{}\n", secret(2).expose())).unwrap();
    let defaults = |environment: Option<u8>| Defaults {
        secret: environment.map(secret),
        demo: None,
    };
    let chosen = |given: Option<u8>, file, environment| {
        let chosen = Secret::chosen(given.map(secret), file, None, defaults(environment));
        chosen.unwrap().load()
    };
    assert_eq!(chosen(None, Some(file.clone()), Some(3)), Ok(secret(2)));
    assert_eq!(chosen(None, None, Some(3)), Ok(secret(3)));
    assert_eq!(chosen(Some(1), None, Some(3)), Ok(secret(1)));
    assert!(chosen(None, None, None).is_err());

    std::fs::write(&file, "not a secret").unwrap();
    let unusable = Secret::chosen(None, Some(file), None, defaults(Some(3)));
    let told = format!("{:#}", unusable.unwrap_err());
    assert!(
        told.contains("unusable") && !told.contains("not a secret"),
        "{told}"
    );
    let missing = Some(directory.path().join("missing"));
    let missing = Secret::chosen(None, missing, None, defaults(Some(3)));
    assert!(missing.unwrap_err().to_string().contains("cannot read"));
}

#[test]
fn case_45_what_reorders_or_hides_text_is_printed_escaped() {
    let verdict = Verdict::NoSecret(String::new());
    let shown = |body: &str| {
        let answer = (StatusCode::OK, "");
        print::event(&HeaderMap::new(), &verdict, answer, body.as_bytes())
    };
    for hidden in [
        '\u{202e}',
        '\u{2066}',
        '\u{200f}',
        '\u{61c}',
        '\u{200b}',
        '\u{2028}',
        '\u{feff}',
        '\u{e0041}',
        '\u{9b}',
    ] {
        let escaped = format!("a\\u{{{:x}}}b", u32::from(hidden));
        for body in [format!("a{hidden}b"), format!(r#"{{"k":"a{hidden}b"}}"#)] {
            let shown = shown(&body);
            assert!(
                shown.contains(&escaped) && !shown.contains(hidden),
                "{shown:?}"
            );
        }
    }
    assert!(shown("Grüße, 世界, مرحبا").contains("Grüße, 世界, مرحبا"));
}

#[test]
fn an_event_is_printed_without_obeying_it() {
    let headers = [
        ("x-service-event", "media.created"),
        ("x-service-delivery-id", "d-1"),
    ];
    let headers = headers
        .iter()
        .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
        .collect();
    let verdict = Verdict::Checked {
        service: Ok(()),
        standard: Err(Flaw::Missing),
    };
    let shown = |body| print::event(&headers, &verdict, (StatusCode::OK, ""), body);
    assert_eq!(
        shown(br#"{"a":1}"#),
        "media.created  delivery d-1  answered 200\nNOT VERIFIED; webhook-signature: missing\n{\n  \"a\": 1\n}\n\n"
    );
    assert!(shown(b"\x1b[2J").contains("\\u{1b}[2J"));
    assert!(shown(&[b'x'; 10_000]).ends_with("\n... (cut)\n\n"));
}

#[test]
fn numbers_are_printed_as_they_came() {
    let verdict = Verdict::NoSecret(String::new());
    let body = br#"{"data":{"metadata":{"price":1.0,"id":12345678901234567890123}}}"#;
    let shown = print::event(&HeaderMap::new(), &verdict, (StatusCode::OK, ""), body);
    assert!(
        shown.contains("\"price\": 1.0,") && shown.contains("\"id\": 12345678901234567890123\n"),
        "{shown}"
    );
}

#[test]
fn the_first_lines_say_whether_signatures_are_verified() {
    let address = "127.0.0.1:9000".parse().unwrap();
    let introduction = |secret| {
        let receiver = Receiver {
            secret,
            ..receiver(1)
        };
        print::introduction(address, &receiver)
    };
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("demo.json");
    for (secret, why) in [
        (Secret::Unknown, "--secret-file"),
        (Secret::InFile(file.clone()), "No such file"),
    ] {
        let told = introduction(secret);
        assert!(
            told.contains("signatures are not verified") && told.contains(why),
            "{told}"
        );
    }
    let demo = format!(r#"{{"webhook_secret":"{}"}}"#, secret(1).expose());
    std::fs::write(&file, demo).unwrap();
    for secret in [Secret::Given(secret(1)), Secret::InFile(file)] {
        let told = introduction(secret);
        assert!(told.contains("Verifying with the"), "{told}");
    }
}

#[test]
fn statuses_are_read() {
    assert_eq!(final_status("503"), Ok(StatusCode::SERVICE_UNAVAILABLE));
    for wrong in ["", "100", "20", "1000", "ok"] {
        assert!(final_status(wrong).is_err(), "{wrong}");
    }
}
