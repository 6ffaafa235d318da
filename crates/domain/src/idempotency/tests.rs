//! Which requests count as the same, and which keys are accepted.

use serde_json::value::RawValue;

use super::*;
use crate::submission::{RawSubmission, Submission, SubmissionLimits};

const PIXEL: &str = "R0lGODlhAQABAAAAACw=";

fn fingerprint(change: impl FnOnce(&mut RawSubmission<'_>)) -> Fingerprint {
    let mut raw = RawSubmission {
        body: Some("text"),
        ..RawSubmission::default()
    };
    change(&mut raw);
    Fingerprint::of(&Submission::parse(raw, &SubmissionLimits::default()).unwrap())
}

fn with_metadata(metadata: &str) -> Fingerprint {
    let metadata: Box<RawValue> = serde_json::from_str(metadata).unwrap();
    let raw = RawSubmission {
        body: Some("text"),
        metadata: Some(&metadata),
        ..RawSubmission::default()
    };
    Fingerprint::of(&Submission::parse(raw, &SubmissionLimits::default()).unwrap())
}

#[test]
fn every_field_counts() {
    let all = [
        fingerprint(|_| {}),
        fingerprint(|raw| raw.body = Some("texT")),
        fingerprint(|raw| raw.app_media_id = Some("text")),
        fingerprint(|raw| raw.app_media_id = Some("")),
        fingerprint(|raw| raw.content_url = Some("https://example.com/a.png")),
        fingerprint(|raw| raw.content_base64 = Some(PIXEL)),
        fingerprint(|raw| raw.rule_group_id = Some("01980f6d-22aa-7bbb-8ccc-0123456789ab")),
        with_metadata("{}"),
        with_metadata(r#"{"a":1}"#),
        with_metadata(r#"{"a":"1"}"#),
        with_metadata(r#"{"a":[1]}"#),
        with_metadata(r#"{"a":{}}"#),
        with_metadata(r#"{"a":null}"#),
    ];
    let different: std::collections::HashSet<_> = all.iter().copied().collect();
    assert_eq!(different.len(), all.len());
}

#[test]
fn the_spelling_of_the_same_values_does_not_count() {
    assert_eq!(
        fingerprint(|raw| raw.content_base64 = Some(PIXEL)),
        fingerprint(|raw| raw.content_base64 = Some("data:image/gif;base64,R0lGODlhAQABAAAAACw="))
    );
    assert_eq!(
        with_metadata(r#"{"a":"é","b":[1,{"c":2,"d":3}]}"#),
        with_metadata(r#" { "b" : [1, {"d":3, "c":2}], "a" : "\u00e9" } "#)
    );
}

#[test]
fn keys_are_short_and_printable() {
    let longest = "k".repeat(255);
    for key in ["a", "order 17/b", "\"x\"", longest.as_str()] {
        assert_eq!(key.parse::<IdempotencyKey>().unwrap().as_str(), key);
    }
    let too_long = "k".repeat(256);
    for key in ["", "é", "a\nb", "a\0", too_long.as_str()] {
        assert_eq!(
            key.parse::<IdempotencyKey>(),
            Err(MalformedIdempotencyKey),
            "{key:?}"
        );
    }
}
