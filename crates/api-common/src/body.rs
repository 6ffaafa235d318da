//! Request bodies: a JSON object, read within bounds and parsed strictly.
//!
//! The type decides whether unknown members are ignored or refused (`deny_unknown_fields`). A known
//! member that is missing, has a wrong type, occurs twice or is not Unicode is refused by name.
//! poem's own JSON payload is not used: it has no bounds and turns numbers and booleans into
//! strings.

mod parse;

use http_server::{BodyReader, Held, Share};
use poem::{Body, FromRequest, Request, RequestBody, Result};
use poem_openapi::{
    error::ContentTypeError,
    impl_apirequest_for_payload,
    payload::{ParsePayload, Payload},
    registry::{MetaSchemaRef, Registry},
    types::Type,
};
use serde::de::DeserializeOwned;

use crate::problem::Refusal;

pub use parse::parse;

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
