//! A rule group as a document in a request: YAML or JSON.

use api_common::{
    body::{held, is_json, parse},
    field::Field,
    problem::Refusal,
};
use bytes::Bytes;
use domain::{name::Name, rule_file::InputFile};
use http_server::Share;
use poem::{Request, RequestBody, Result as PoemResult};
use poem_openapi::{
    Object,
    payload::{ParsePayload, Payload},
    registry::{MetaSchemaRef, Registry},
    types::Type as _,
};

use crate::rule_groups::rules::RuleDocuments;

pub(super) const YAML: &str = "application/yaml";

// For the document only: requests are read as `InputFile`.
/// A rule group as a document.
#[derive(Object)]
pub(crate) struct NewRuleFile {
    /// The group's name.
    name: Field<Name>,
    /// The group's rules, in the order of evaluation.
    rules: RuleDocuments,
}

/// A rule group as a request body, in YAML or JSON. It is parsed only for callers who can import
/// it.
pub(crate) struct RuleFileBody {
    bytes: Bytes,
    is_json: bool,
    /// The client's share of the memory for bodies. It is kept as long as the body.
    _share: Share,
}

impl Payload for RuleFileBody {
    const CONTENT_TYPE: &'static str = "application/json";

    fn check_content_type(content_type: &str) -> bool {
        is_json(content_type) || is_yaml(content_type)
    }

    fn schema_ref() -> MetaSchemaRef {
        NewRuleFile::schema_ref()
    }

    fn register(registry: &mut Registry) {
        NewRuleFile::register(registry);
    }
}

impl ParsePayload for RuleFileBody {
    const IS_REQUIRED: bool = true;

    async fn from_request(request: &Request, body: &mut RequestBody) -> PoemResult<Self> {
        let held = held(request, body.take()?).await?;
        Ok(Self {
            bytes: held.bytes,
            is_json: request.content_type().is_none_or(is_json),
            _share: held.share,
        })
    }
}

/// The name in RFC 9512, and earlier names.
pub(super) fn is_yaml(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default();
    [YAML, "application/x-yaml", "text/yaml", "text/x-yaml"]
        .iter()
        .any(|yaml| essence.trim().eq_ignore_ascii_case(yaml))
}

impl RuleFileBody {
    pub(super) fn read(&self) -> Result<InputFile, Refusal> {
        if self.is_json {
            return parse(&self.bytes);
        }
        let text = str::from_utf8(&self.bytes)
            .map_err(|_| Refusal::invalid_request("The body is not UTF-8."))?;
        InputFile::from_yaml(text).map_err(|error| {
            Refusal::invalid_request(format!("The body is no rule group: {error}."))
        })
    }
}
