//! A file of hashes as a request body: text that is read within the limits of all bodies and stored
//! unchanged.

use api_common::body::held;
use bytes::Bytes;
use http_server::Share;
use poem::{Request, RequestBody, Result};
use poem_openapi::{
    impl_apirequest_for_payload,
    payload::{ParsePayload, Payload},
    registry::{MetaSchema, MetaSchemaRef},
};

pub(super) const TEXT: &str = "text/plain";

/// The file. Its lines are checked later, when it is read in the background.
pub(crate) struct HashFile {
    pub(super) bytes: Bytes,
    /// Kept until the handler ends.
    _share: Share,
}

impl Payload for HashFile {
    const CONTENT_TYPE: &'static str = TEXT;

    /// Exchanges and spreadsheets also call it `text/csv`.
    fn check_content_type(content_type: &str) -> bool {
        let essence = content_type.split(';').next().unwrap_or_default();
        [TEXT, "text/csv"]
            .iter()
            .any(|text| essence.trim().eq_ignore_ascii_case(text))
    }

    fn schema_ref() -> MetaSchemaRef {
        MetaSchemaRef::Inline(Box::new(MetaSchema::new("string")))
    }
}

impl ParsePayload for HashFile {
    const IS_REQUIRED: bool = true;

    async fn from_request(request: &Request, body: &mut RequestBody) -> Result<Self> {
        let held = held(request, body.take()?).await?;
        Ok(Self {
            bytes: held.bytes,
            _share: held.share,
        })
    }
}

impl_apirequest_for_payload!(HashFile);
