//! Rule groups as YAML or JSON documents: export, and import as a new group or as a group's draft.

use api_common::{
    Code, Created, Described, Field, Json, Path, Query, Refusal, Schema,
    body::{held, is_json, parse},
    openapi::at,
};
use bytes::Bytes;
use domain::{
    id::{GroupVersionId, RuleGroupId, TeamId},
    name::Name,
    rule_file::InputFile,
    scope::Scope,
};
use http_server::Share;
use management::rule_groups::files::{self, ExportedGroup};
use poem::{IntoResponse, Request, RequestBody, Response, Result as PoemResult, http::header};
use poem_openapi::{
    ApiResponse, OpenApi, impl_apirequest_for_payload,
    payload::{ParsePayload, Payload},
    registry::{
        MetaHeader, MetaMediaType, MetaResponse, MetaResponses, MetaSchema, MetaSchemaRef, Registry,
    },
    types::Type as _,
};
use serde_json::{Value, json};

use super::{
    CreatedRuleGroup, created_example,
    draft::{self, RuleGroupDraft},
    rule_schema,
    rules::RuleDocuments,
};
use crate::{Caller, Operation, Tag};

impl_apirequest_for_payload!(RuleFileBody);

#[derive(Default)]
pub(crate) struct Files;

#[OpenApi(tag = "Tag::RuleGroups")]
impl Files {
    /// Import a rule group
    ///
    /// Creates a group from a YAML or JSON document. Its first version is live at once. YAML must not have anchors or aliases,
    /// and may have up to 4 MiB.
    #[oai(
        path = "/rule-groups/import",
        method = "post",
        operation_id = "importRuleGroup"
    )]
    async fn import_rule_group(
        &self,
        caller: Caller,
        /// The team that will own the group. If omitted, it is the team of the token. Operators must name a team.
        team_id: Query<TeamId>,
        request: RuleFileBody,
    ) -> Result<Created<CreatedRuleGroup>, Refusal> {
        let read = move || request.read();
        let created = files::import_group(&caller, team_id.0, read).await?;
        Ok(CreatedRuleGroup::answer(created))
    }

    /// Import a draft
    ///
    /// Replaces the group's draft with the rules of a YAML or JSON document. Rules that keep the IDs they were exported with stay
    /// the same rules. The group keeps its name.
    #[oai(
        path = "/rule-groups/:rule_group_id/import",
        method = "post",
        operation_id = "importDraft"
    )]
    async fn import_draft(
        &self,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
        /// The revision of the draft that you read. If it is outdated, you get 409 (`draft_changed`). If omitted, the draft
        /// is replaced in any case.
        revision: Query<Revision>,
        request: RuleFileBody,
    ) -> Result<Json<RuleGroupDraft>, Refusal> {
        let (group, revision) = (rule_group_id.0, revision.0.map(|revision| revision.0));
        let read = move || request.read();
        let draft = files::import_draft(&caller, group, revision, read).await?;
        Ok(Json(draft.into()))
    }

    /// Export a rule group
    ///
    /// Returns a version as a YAML document. If you import it, you get an equal group.
    #[oai(
        path = "/rule-groups/:rule_group_id/export",
        method = "get",
        operation_id = "exportRuleGroup"
    )]
    async fn export_rule_group(
        &self,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
        /// The version. If omitted, it is the live version.
        version_id: Query<GroupVersionId>,
    ) -> Result<YamlFile, Refusal> {
        let (group, version) = (rule_group_id.0, version_id.0);
        let exported = files::export(&caller, group, version).await?;
        Ok(YamlFile(exported))
    }
}

/// A revision in a query.
pub(crate) struct Revision(i64);

impl std::str::FromStr for Revision {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

impl Described for Revision {
    fn expected() -> String {
        "the `revision` of a draft".to_owned()
    }

    fn schema() -> MetaSchema {
        MetaSchema::new_with_format("integer", "int64")
    }
}

const YAML: &str = "application/yaml";

/// A rule group as a document.
#[expect(
    dead_code,
    reason = "for the OpenAPI document only: requests are read as `InputFile`"
)]
#[derive(Schema)]
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
fn is_yaml(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default();
    [YAML, "application/x-yaml", "text/yaml", "text/x-yaml"]
        .iter()
        .any(|yaml| essence.trim().eq_ignore_ascii_case(yaml))
}

impl RuleFileBody {
    fn read(&self) -> Result<InputFile, Refusal> {
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

/// A rule group as a YAML file.
pub(crate) struct YamlFile(ExportedGroup);

impl IntoResponse for YamlFile {
    fn into_response(self) -> Response {
        Response::builder()
            .content_type(YAML)
            .header(
                header::CONTENT_DISPOSITION,
                format!("attachment; filename=\"{}.yaml\"", self.0.name),
            )
            .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
            .body(self.0.yaml)
    }
}

impl ApiResponse for YamlFile {
    fn meta() -> MetaResponses {
        let header = |name: &str, description: &str| MetaHeader {
            name: name.to_owned(),
            description: Some(description.to_owned()),
            required: true,
            deprecated: false,
            schema: MetaSchemaRef::Inline(Box::new(MetaSchema::new("string"))),
        };
        MetaResponses {
            responses: vec![MetaResponse {
                description: "The rule group.",
                status: Some(200),
                status_range: None,
                content: vec![MetaMediaType {
                    content_type: YAML,
                    schema: MetaSchemaRef::Inline(Box::new(MetaSchema::new("string"))),
                }],
                headers: vec![
                    header("Content-Disposition", "`attachment`, with a file name."),
                    header("X-Content-Type-Options", "Always `nosniff`."),
                ],
            }],
        }
    }

    fn register(_registry: &mut Registry) {}
}

/// Describes the exported file. Only the text says that YAML can be imported, too, because client
/// generators support one media type.
pub(crate) fn declare(document: &mut Value) {
    let answer = "/paths/~1rule-groups~1{rule_group_id}~1export/get/responses/200/content";
    at(document, answer)[YAML]["example"] = EXAMPLE.into();
}

/// An example of a document.
const EXAMPLE: &str = "name: House rules
rules:
- name: Blocked words
  type: keyword
  keywords: [blockedword]
  effect: reject
";

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let file = json!({ "name": "Imported rules", "rules": rule_schema::examples() });
    vec![
        Operation::new("importRuleGroup", Scope::RulesWrite)
            .problems(&[Code::NameTaken, Code::LimitReached])
            .request(file.clone())
            .answer(created_example()),
        Operation::new("importDraft", Scope::RulesWrite)
            .problems(&[Code::DraftChanged])
            .request(file)
            .answer(draft::example()),
        Operation::new("exportRuleGroup", Scope::RulesRead),
    ]
}

#[cfg(test)]
mod tests {
    use domain::rule_file::InputFile;

    use super::*;
    use crate::rule_groups::rules::RuleDocuments;

    #[test]
    fn the_example_is_a_rule_group() {
        let file = InputFile::from_yaml(EXAMPLE).unwrap();
        let rules = RuleDocuments(file.rules).into_rules().unwrap();
        assert_eq!((file.name.as_str(), rules.len()), ("House rules", 1));
    }
}
