//! How heads are read, and how requests are rendered.

use super::{connection::parse, *};

#[test]
fn a_head_is_read_once_it_is_complete() {
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{\"id\"";
    assert!(parse(&answer[..30]).unwrap().is_none());
    let head = parse(answer).unwrap().unwrap();
    assert_eq!(
        (head.status, head.length, head.content, head.closes),
        (200, 39, 12, false)
    );
}

#[test]
fn a_redirect_says_where_it_leads() {
    let answer =
        b"HTTP/1.1 303 See Other\r\nlocation: /t/1/desk?as=reject\r\ncontent-length: 0\r\n\r\n";
    let head = parse(answer).unwrap().unwrap();
    assert_eq!(head.location.as_deref(), Some("/t/1/desk?as=reject"));
}

#[test]
fn an_answer_of_unknown_length_is_an_error_rather_than_a_guess() {
    assert!(parse(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").is_err());
}

#[test]
fn an_answer_without_content_needs_no_length() {
    let head = parse(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap().unwrap();
    assert_eq!((head.status, head.content), (204, 0));
}

#[test]
fn a_request_tells_the_bytes_of_its_body() {
    let request = String::from_utf8(submission("site_a", "1", "für")).unwrap();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    assert!(
        head.ends_with(&format!("content-length: {}", body.len())),
        "{head}"
    );
    assert_eq!(
        body,
        r#"{"api_key":"site_a","app_media_id":"1","body":"für"}"#
    );
}

#[test]
fn an_idempotency_key_is_a_header_and_changes_nothing_else() {
    let plain = String::from_utf8(submission("site_a", "1", "text")).unwrap();
    let named = String::from_utf8(repeatable_submission("site_a", "1", "text", "k-1")).unwrap();
    assert_ne!(named, plain);
    assert_eq!(named.replace("idempotency-key: k-1\r\n", ""), plain);
}
