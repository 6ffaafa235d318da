//! Request bodies: a JSON object, read within bounds and parsed strictly.
//!
//! Whether unknown members are ignored or refused is for their type to say (`deny_unknown_fields`). A known one that is
//! missing, of a wrong type, given twice, or holding what is not Unicode is refused with its name. poem's own JSON payload is not used: it has no bounds and turns numbers and booleans into strings.

use poem::{FromRequest, Request, RequestBody, Result};
use poem_openapi::{
    error::ContentTypeError,
    impl_apirequest_for_payload,
    payload::{ParsePayload, Payload},
    registry::{MetaSchemaRef, Registry},
    types::Type,
};
use serde::de::{Deserialize, DeserializeOwned};
use serde_json::{Deserializer, de::Read};

use crate::{body::BodyReader, fair::Share, problem::Refusal};

/// A required JSON object.
pub(crate) struct JsonBody<T> {
    pub(crate) value: T,
    /// Held until the handler ends: `value` is about as large as the body was.
    _share: Share,
}

impl<T: Type> Payload for JsonBody<T> {
    const CONTENT_TYPE: &'static str = "application/json";

    fn check_content_type(content_type: &str) -> bool {
        is_json(content_type)
    }

    fn schema_ref() -> MetaSchemaRef {
        T::schema_ref()
    }

    fn register(registry: &mut Registry) {
        T::register(registry);
    }
}

impl<T: Type + DeserializeOwned> ParsePayload for JsonBody<T> {
    const IS_REQUIRED: bool = true;

    async fn from_request(request: &Request, body: &mut RequestBody) -> Result<Self> {
        let held = reader(request).read(request, body.take()?).await?;
        Ok(Self {
            value: parse(&held.bytes)?,
            _share: held.share,
        })
    }
}

impl_apirequest_for_payload!(JsonBody<T>, T: Type + DeserializeOwned);

/// A JSON object where there need not be one: the body of a GET. It stays out of the OpenAPI document.
pub(crate) struct OptionalJsonBody<T>(pub(crate) Option<T>);

impl<'a, T: DeserializeOwned + Send> FromRequest<'a> for OptionalJsonBody<T> {
    async fn from_request(request: &'a Request, body: &mut RequestBody) -> Result<Self> {
        let held = reader(request).read(request, body.take()?).await?;
        if held.bytes.is_empty() {
            return Ok(Self(None));
        }
        match request.content_type() {
            Some(content_type) if is_json(content_type) => Ok(Self(Some(parse(&held.bytes)?))),
            Some(_) | None => Err(ContentTypeError::ExpectContentType.into()),
        }
    }
}

pub(crate) fn reader(request: &Request) -> &BodyReader {
    request
        .data()
        .expect("the router gives every request its body reader")
}

/// `application/json` or another `application/...+json`, whatever its parameters.
pub(crate) fn is_json(content_type: &str) -> bool {
    let essence = content_type
        .split(';')
        .next()
        .unwrap_or_default()
        .trim_ascii();
    let subtype = essence
        .split_at_checked("application/".len())
        .filter(|(kind, _)| kind.eq_ignore_ascii_case("application/"));
    subtype.is_some_and(|(_, subtype)| {
        let suffix = subtype.rsplit('+').next().unwrap_or_default();
        suffix.eq_ignore_ascii_case("json")
    })
}

/// Parses a JSON object.
pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Refusal> {
    match bytes.trim_ascii_start().first() {
        Some(b'{') => {}
        Some(_) => return Err(Refusal::invalid_request("The body must be a JSON object.")),
        None => {
            return Err(Refusal::invalid_request(
                "The body is empty; it must be a JSON object.",
            ));
        }
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => decode(Deserializer::from_str(text)),
        // Parsed all the same, to name the member; in an ignored one the parser would not mind.
        Err(error) => Err(decode::<_, T>(Deserializer::from_slice(bytes))
            .err()
            .unwrap_or_else(|| {
                Refusal::invalid_request(format!(
                    "The body is not UTF-8, from byte {} on.",
                    error.valid_up_to()
                ))
            })),
    }
}

fn decode<'de, R: Read<'de>, T: Deserialize<'de>>(mut json: Deserializer<R>) -> Result<T, Refusal> {
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        explain(&path, &error.into_inner())
    })?;
    json.end().map_err(|error| explain(ROOT, &error))?;
    Ok(value)
}

/// How `serde_path_to_error` writes the path of the whole document, and of a member whose name it has not read.
const ROOT: &str = ".";
const NAMELESS: &str = "?";

/// Says which member is wrong and what it should be, without repeating its value.
fn explain(path: &str, error: &serde_json::Error) -> Refusal {
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    if let Some(name) = quoted_after("duplicate field `", message) {
        return Refusal::invalid_field(inside(path, name), "is given twice");
    }
    if let Some(name) = quoted_after("missing field `", message) {
        return Refusal::invalid_field(inside(path, name), "is missing");
    }
    if matches!(path, ROOT | NAMELESS) {
        return Refusal::invalid_request(format!("The body is not valid JSON: {error}."));
    }
    if message.starts_with("unknown field `") {
        return Refusal::invalid_field(shortened(path), "is no member of this request");
    }
    let message = match message.split_once(", expected ") {
        Some((_, expected)) => format!("must be {expected}"),
        None if error.is_data() => message.to_owned(),
        None => format!("is not valid JSON: {error}"),
    };
    Refusal::invalid_field(path, message)
}

fn quoted_after<'m>(prefix: &str, message: &'m str) -> Option<&'m str> {
    message.strip_prefix(prefix)?.split('`').next()
}

/// The path of a member that is known by the path of its object and its own name.
fn inside(path: &str, name: &str) -> String {
    match path {
        ROOT | NAMELESS => name.to_owned(),
        path => format!("{path}.{name}"),
    }
}

/// A path that the client made up need not come back whole.
fn shortened(path: &str) -> String {
    const LONGEST: usize = 100;
    match path.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}...", &path[..cut]),
        None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::value::RawValue;

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

    fn refused_as<T: DeserializeOwned + std::fmt::Debug>(
        body: impl AsRef<[u8]>,
    ) -> (String, String) {
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
        assert_eq!(refused_member(b"{\"other\":\"\xff\"}"), "");
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
}
