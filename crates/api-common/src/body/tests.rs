//! Bodies that are refused, and the members that errors name.

use serde::Deserialize;

use super::*;
use crate::problem::Code;

#[derive(Debug, Deserialize)]
struct Known {
    name: Option<String>,
    raw: Option<Box<RawValue>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Strict {
    #[serde(rename = "name")]
    _name: String,
    #[serde(rename = "inner")]
    _inner: Option<Box<Strict>>,
}

fn refused(body: impl AsRef<[u8]>) -> (String, String) {
    refused_as::<Known>(body)
}

fn refused_as<T: DeserializeOwned + std::fmt::Debug>(body: impl AsRef<[u8]>) -> (String, String) {
    let (code, detail, mut errors) = parse::<T>(body.as_ref()).unwrap_err().into_parts();
    assert_eq!(code, Code::InvalidRequest);
    match errors.pop() {
        Some(error) => (error.field, error.message),
        None => (String::new(), detail),
    }
}

fn refused_member(body: impl AsRef<[u8]>) -> String {
    refused(body).0
}

#[test]
fn raw_members_keep_their_spelling_and_null_is_not_given() {
    let known: Known =
        parse(br#" {"raw": {"b":1.50, "a":[1e2]}, "name":null, "other":[[]]}"#).unwrap();
    assert_eq!(known.raw.unwrap().get(), r#"{"b":1.50, "a":[1e2]}"#);
    assert_eq!(known.name, None);
}

#[test]
fn a_wrong_type_is_named_and_its_value_is_not_repeated() {
    assert_eq!(
        refused(r#"{"name": 123456}"#),
        ("name".into(), "must be a string".into())
    );
    assert_eq!(refused_member(r#"{"name": true}"#), "name");
    assert_eq!(refused_member(r#"{"name": ["x"]}"#), "name");
}

#[test]
fn a_known_member_given_twice_is_named_and_an_unknown_one_is_not_looked_at() {
    assert_eq!(
        refused(r#"{"name":"a","name":"b"}"#),
        ("name".into(), "is given twice".into())
    );
    assert_eq!(refused_member(r#"{"raw":null,"raw":{}}"#), "raw");
    assert!(parse::<Known>(br#"{"other":1,"other":2}"#).is_ok());
}

#[test]
fn members_that_are_missing_or_unknown_are_named_with_their_path() {
    let refused = |body: &str| refused_as::<Strict>(body);
    let missing = |name: &str| (name.to_owned(), "is missing".to_owned());
    let unknown = |name: &str| (name.to_owned(), "is no member of this request".to_owned());
    assert_eq!(refused("{}"), missing("name"));
    assert_eq!(refused(r#"{"name":"a","inner":{}}"#), missing("inner.name"));
    assert_eq!(refused(r#"{"name":"a","nmae":1}"#), unknown("nmae"));
    assert_eq!(
        refused(r#"{"name":"a","inner":{"x, expected `y`":1}}"#),
        unknown("inner.x, expected `y`")
    );
    assert_eq!(
        refused(r#"{"inner":{"name":"a","name":"b"}}"#),
        ("inner.name".into(), "is given twice".into())
    );
    let long = "x".repeat(1_000_000);
    let (field, _) = refused(&format!(r#"{{"{long}":1}}"#));
    assert_eq!(field, format!("{}...", "x".repeat(100)));
}

#[test]
fn what_is_not_unicode_is_refused_by_name_where_it_has_one() {
    assert_eq!(refused_member(b"{\"name\":\"\xff\"}"), "name");
    assert_eq!(refused_member(b"{\"raw\":{\"a\":\"\xff\"}}"), "raw");
    assert_eq!(refused_member(r#"{"name":"\ud800"}"#), "name");
    assert_eq!(refused_member(b"{\"other\":\"\xff\"}"), "other");
    assert_eq!(refused_member(b"{\"\xff\":1}"), "");
    assert_eq!(refused_member(b"{\"name\":\"a\"\xff}"), "");
    let inner = refused_as::<Strict>(b"{\"inner\":{\"name\":\"\xff\"}}");
    assert_eq!(inner.0, "inner");
}

#[test]
fn only_one_whole_object_is_taken() {
    for body in [
        "",
        " ",
        "[]",
        r#"["a"]"#,
        "null",
        "3",
        "{",
        r#"{"name":"a"} x"#,
        "{}{}",
        "\u{feff}{}",
    ] {
        assert_eq!(refused_member(body), "", "{body:?}");
    }
}

#[test]
fn deep_nesting_in_a_member_that_nobody_reads_costs_no_stack() {
    let deep = "[".repeat(1_000_000);
    refused(format!(r#"{{"other":{deep}"#));
    let closed = format!(r#"{{"other":{deep}{}}}"#, "]".repeat(1_000_000));
    assert!(parse::<Known>(closed.as_bytes()).is_ok());
}

#[test]
fn content_types() {
    for json in [
        "application/json",
        "Application/JSON; charset=utf-8",
        "application/ld+json",
    ] {
        assert!(is_json(json), "{json}");
    }
    for other in [
        "",
        "text/plain",
        "application/xml",
        "text/json",
        "application/jsonx",
        "json",
    ] {
        assert!(!is_json(other), "{other}");
    }
}
