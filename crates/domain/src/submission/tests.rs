//! What is refused, and that every mistake is reported at once.

use super::*;

fn parse(raw: RawSubmission<'_>) -> Result<Submission, Vec<Fault>> {
    Submission::parse(raw, &SubmissionLimits::default())
        .map_err(|errors| errors.into_iter().map(|error| error.fault).collect())
}

fn text(body: &str) -> RawSubmission<'_> {
    RawSubmission {
        body: Some(body),
        ..RawSubmission::default()
    }
}

fn faults(raw: RawSubmission<'_>) -> Vec<Fault> {
    parse(raw).err().unwrap_or_default()
}

#[test]
fn an_empty_string_counts_as_not_given() {
    assert_eq!(faults(text("")), [Fault::EmptySubmission]);
    let url = RawSubmission {
        content_url: Some("https://example.com/a.png"),
        ..text("")
    };
    assert_eq!(parse(url).unwrap().content_type(), ContentType::Image);
}

#[test]
fn the_text_limit_counts_bytes_and_is_exact() {
    assert!(parse(text(&"ü".repeat(51_200))).is_ok());
    assert_eq!(faults(text(&"a".repeat(102_401))), [Fault::TextTooLarge]);
}

#[test]
fn nul_is_refused_by_name_in_text_and_inside_metadata() {
    assert_eq!(faults(text("a\0b")), [Fault::InvalidField]);
    let metadata = |json: &str| {
        let raw = RawValue::from_string(json.to_owned()).unwrap();
        faults(RawSubmission {
            metadata: Some(&raw),
            ..text("a")
        })
    };
    assert_eq!(metadata(r#"{"a":"\u0000"}"#), [Fault::InvalidField]);
    assert_eq!(metadata(r#"{"a":"\\u0000"}"#), []);
    assert_eq!(metadata(r#"{"a":"\\\u0000"}"#), [Fault::InvalidField]);
    assert_eq!(metadata("[1]"), [Fault::InvalidField]);
}

#[test]
fn case_41_metadata_nests_32_deep_and_no_deeper() {
    let nested = |depth: usize| {
        let json = format!(
            r#"{{"a":{}1{}}}"#,
            "[".repeat(depth - 1),
            "]".repeat(depth - 1)
        );
        let raw = RawValue::from_string(json).unwrap();
        let raw = RawSubmission {
            metadata: Some(&raw),
            ..text("a")
        };
        Submission::parse(raw, &SubmissionLimits::default())
    };
    assert!(nested(32).is_ok());
    for depth in [33, 8_000] {
        let [error] = <[_; 1]>::try_from(nested(depth).unwrap_err()).unwrap();
        assert_eq!(error.fault, Fault::InvalidField);
        assert_eq!(error.field, format!("metadata.a{}", "[0]".repeat(31)));
        assert!(error.message.contains("at most 32 deep"), "{error:?}");
    }
}

#[test]
fn every_mistake_is_reported_at_once() {
    let raw = RawSubmission {
        content_url: Some("ftp://example.com"),
        rule_group_id: Some("x"),
        content_base64: Some("%%%"),
        ..RawSubmission::default()
    };
    assert_eq!(
        faults(raw),
        [
            Fault::ConflictingContent,
            Fault::InvalidField,
            Fault::InvalidField,
            Fault::InvalidImage
        ]
    );
}

#[test]
fn inline_images_are_known_by_their_first_bytes_not_by_their_declared_type() {
    let image = |text: &str| {
        faults(RawSubmission {
            content_base64: Some(text),
            ..RawSubmission::default()
        })
    };
    assert_eq!(image("data:image/jpeg;base64,iVBORw0KGgoAAAANSUhEUg=="), []);
    assert_eq!(image("data:image/png,iVBORw0KGgo="), [Fault::InvalidImage]);
    assert_eq!(image("aGVsbG8gd29ybGQ="), [Fault::UnsupportedImage]);
}

#[test]
fn a_url_with_credentials_is_refused() {
    let raw = RawSubmission {
        content_url: Some("https://a:b@example.com/"),
        ..RawSubmission::default()
    };
    assert_eq!(faults(raw), [Fault::InvalidField]);
}
