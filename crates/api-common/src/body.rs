//! Request bodies: a JSON object, read within bounds and parsed strictly.
//!
//! The type decides whether unknown members are ignored or refused (`deny_unknown_fields`). A known
//! member that is missing, has a wrong type, occurs twice or is not Unicode is refused by name.
//! poem's own JSON payload is not used: it has no bounds and turns numbers and booleans into
//! strings.

use std::{fmt, str::Utf8Error};

use domain::lone_surrogates::Half;
use http_server::{BodyReader, Held, Share};
use poem::{Body, FromRequest, Request, RequestBody, Result};
use poem_openapi::{
    error::ContentTypeError,
    impl_apirequest_for_payload,
    payload::{ParsePayload, Payload},
    registry::{MetaSchemaRef, Registry},
    types::Type,
};
use serde::de::{self, Deserialize, DeserializeOwned, MapAccess, Visitor};
use serde_json::{Deserializer, de::Read, value::RawValue};

use crate::problem::Refusal;

/// A required JSON object.
pub struct JsonBody<T> {
    /// The object.
    pub value: T,
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
        let held = held(request, body.take()?).await?;
        Ok(Self {
            value: parse(&held.bytes)?,
            _share: held.share,
        })
    }
}

impl_apirequest_for_payload!(JsonBody<T>, T: Type + DeserializeOwned);

/// An optional JSON object: the body of a GET. The OpenAPI document does not show it.
pub struct OptionalJsonBody<T>(pub Option<T>);

impl<'a, T: DeserializeOwned + Send> FromRequest<'a> for OptionalJsonBody<T> {
    async fn from_request(request: &'a Request, body: &mut RequestBody) -> Result<Self> {
        let held = held(request, body.take()?).await?;
        if held.bytes.is_empty() {
            return Ok(Self(None));
        }
        match request.content_type() {
            Some(content_type) if is_json(content_type) => Ok(Self(Some(parse(&held.bytes)?))),
            Some(_) | None => Err(ContentTypeError::ExpectContentType.into()),
        }
    }
}

/// Reads the whole body, within the bounds of the listener.
pub async fn held(request: &Request, body: Body) -> Result<Held, Refusal> {
    let reader = request
        .data::<BodyReader>()
        .expect("the interface gives every request the reader");
    Ok(reader.read(request, body).await?)
}

/// `application/json` or another `application/...+json`, with any parameters.
pub fn is_json(content_type: &str) -> bool {
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
pub fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Refusal> {
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
        Err(error) => Err(not_utf8(bytes, error)),
    }
}

/// Parses it anyway, to name the member. Not as a `T`, so that the parser is compiled only once more.
fn not_utf8(bytes: &[u8], error: Utf8Error) -> Refusal {
    match decode::<_, Unread>(Deserializer::from_slice(bytes)) {
        Err(refusal) => refusal,
        Ok(Unread) => Refusal::invalid_request(format!(
            "The body is not UTF-8, from byte {} on.",
            error.valid_up_to()
        )),
    }
}

/// An object of which every member is read, and none is kept: a body can have a million members.
struct Unread;

impl<'de> Deserialize<'de> for Unread {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Self)
    }
}

impl<'de> Visitor<'de> for Unread {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self, A::Error> {
        while members.next_entry::<String, &RawValue>()?.is_some() {}
        Ok(self)
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

/// The paths that `serde_path_to_error` writes for the whole document, and for a member whose name
/// it has not read.
const ROOT: &str = ".";

const NAMELESS: &str = "?";

/// What the parser says about half of a character (`domain::lone_surrogates`), in a text that is more than judged.
const HALVES: [&str; 2] = [
    "lone leading surrogate in hex escape",
    "unexpected end of hex escape",
];

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
    if HALVES.contains(&message) {
        return match path {
            ROOT | NAMELESS => Refusal::invalid_request(format!("The body {}.", Half::Inside)),
            path => Refusal::invalid_field(shortened(path), Half::Inside.to_string()),
        };
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

/// The path of a member, from the path of its object and its name.
fn inside(path: &str, name: &str) -> String {
    match path {
        ROOT | NAMELESS => name.to_owned(),
        path => format!("{path}.{name}"),
    }
}

/// A path that the client invented is shortened.
fn shortened(path: &str) -> String {
    const LONGEST: usize = 100;
    match path.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}...", &path[..cut]),
        None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests;
