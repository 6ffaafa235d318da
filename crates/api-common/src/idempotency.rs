//! The request header `Idempotency-Key`.

use domain::idempotency::{IdempotencyKey, MAX_IDEMPOTENCY_KEY};
use poem::{Request, RequestBody, Result, http::HeaderValue};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaParamIn, MetaSchema, MetaSchemaRef},
};

use crate::problem::Refusal;

const HEADER: &str = "Idempotency-Key";

/// The header as received. Only callers with a valid site key see what is wrong with it.
pub struct IdempotencyHeader(Vec<HeaderValue>);

impl IdempotencyHeader {
    /// As if it was not given.
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// The key, if one was given.
    pub fn parse(&self) -> Result<Option<IdempotencyKey>, Refusal> {
        let value = match self.0.as_slice() {
            [] => return Ok(None),
            [value] => value,
            [_, _, ..] => return Err(Refusal::invalid_field(HEADER, "is given twice")),
        };
        // Characters other than ASCII are not valid either.
        let key = value.to_str().unwrap_or_default().parse();
        key.map(Some)
            .map_err(|error: domain::idempotency::MalformedIdempotencyKey| {
                Refusal::invalid_field(HEADER, error.to_string())
            })
    }
}

impl<'a> ApiExtractor<'a> for IdempotencyHeader {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::Parameter];
    const PARAM_IS_REQUIRED: bool = false;
    type ParamType = ();
    type ParamRawType = ();

    fn param_in() -> Option<MetaParamIn> {
        Some(MetaParamIn::Header)
    }

    fn param_schema_ref() -> Option<MetaSchemaRef> {
        Some(MetaSchemaRef::Inline(Box::new(MetaSchema {
            min_length: Some(1),
            max_length: Some(MAX_IDEMPOTENCY_KEY),
            // A header's value neither begins nor ends with a space.
            pattern: Some("^[!-~]([ -~]*[!-~])?$".to_owned()),
            ..MetaSchema::new("string")
        })))
    }

    async fn from_request(
        request: &'a Request,
        _body: &mut RequestBody,
        options: ExtractParamOptions<()>,
    ) -> Result<Self> {
        let values = request.headers().get_all(options.name);
        Ok(Self(values.iter().cloned().collect()))
    }
}
