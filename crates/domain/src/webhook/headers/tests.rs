//! Which headers an owner can set, and which the service keeps for itself.

use super::*;

#[test]
fn what_the_service_or_http_sets_cannot_be_chosen_in_any_spelling() {
    for name in [
        "Host",
        "content-LENGTH",
        "X-Service-Signature",
        "Webhook-Id",
        "Transfer-Encoding",
        "Connection",
        "Keep-Alive",
        "TE",
        "Trailer",
        "Upgrade",
        "Proxy-Connection",
        "HTTP2-Settings",
        "Traceparent",
        "tracestate",
    ] {
        assert_eq!(
            CustomHeader::new(name, "x"),
            Err(InvalidHeader::Reserved),
            "{name}"
        );
    }
}

#[test]
fn case_45_names_that_pass_for_the_services_own_or_a_proxys_are_refused() {
    for name in [
        "X_Service_Signature",
        "webhook_id",
        "Content_Length",
        "x_api_key",
        "_",
    ] {
        let refused = CustomHeader::new(name, "x");
        assert_eq!(refused, Err(InvalidHeader::Name), "{name}");
    }
    for name in [
        "Date",
        "Forwarded",
        "Via",
        "X-Forwarded-For",
        "X-Forwarded-Host",
        "X-Real-IP",
    ] {
        let refused = CustomHeader::new(name, "x");
        assert_eq!(refused, Err(InvalidHeader::Reserved), "{name}");
    }
    for name in ["X-API-Key", "Authorization", "X-Forward", "Cookie"] {
        assert!(CustomHeader::new(name, "x").is_ok(), "{name}");
    }
}

#[test]
fn case_45_a_header_that_was_stored_with_an_underscore_is_still_read() {
    let stored = r#"{"name":"x_api_key","value":"hunter2"}"#;
    let header: CustomHeader = serde_json::from_str(stored).unwrap();
    assert_eq!((header.name(), header.expose()), ("x_api_key", "hunter2"));
}

#[test]
fn nothing_that_ends_a_line_or_hides_gets_through() {
    for name in ["", "a b", "a:b", "ä", "a\r\nb"] {
        assert_eq!(
            CustomHeader::new(name, "x"),
            Err(InvalidHeader::Name),
            "{name:?}"
        );
    }
    for value in ["", " x", "x ", "a\r\nb: c", "a\nb", "a\0", "ä", "\t"] {
        assert_eq!(
            CustomHeader::new("a", value),
            Err(InvalidHeader::Value),
            "{value:?}"
        );
    }
    let long = "x".repeat(MAX_VALUE_BYTES + 1);
    assert_eq!(CustomHeader::new("a", &long), Err(InvalidHeader::Value));
}

#[test]
fn a_credential_is_taken_and_not_shown() {
    let header = CustomHeader::new("Authorization", "Bearer hunter2 x").unwrap();
    assert_eq!(
        (header.name(), header.expose()),
        ("authorization", "Bearer hunter2 x")
    );
    assert!(!format!("{header:?}").contains("hunter2"));
}
