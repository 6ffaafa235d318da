//! A rule group's versions: list, create, read, make one live, and see which were live when.

use api_common::{Code, Created, Field, Json, JsonBody, Path, Query, Refusal, Schema, Time, given};
use domain::{
    id::{ActorId, GroupVersionId, RuleGroupId},
    reason::Reason,
    scope::Scope,
};
use management::rule_groups::versions::{self, NewVersion};
use poem_openapi::OpenApi;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::rule_group::{ListedVersion, Publication, Version};
use uuid::Uuid;

use super::{
    RuleGroup, group_example, rule_schema,
    rules::{RuleDocument, documents},
};
use crate::{After, Caller, Limit, List, Operation, PREFIX, Part, Tag, example_values};

#[derive(Default)]
pub(crate) struct Versions;

#[OpenApi(tag = "Tag::RuleGroups")]
impl Versions {
    /// List versions
    ///
    /// Returns the newest versions first.
    #[oai(
        path = "/rule-groups/:rule_group_id/versions",
        method = "get",
        operation_id = "listVersions"
    )]
    async fn list_versions(
        &self,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
        /// The most items in one page.
        limit: Query<Limit>,
        /// Where to continue: the `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<RuleGroupVersion>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let group = rule_group_id.0;
        let versions = versions::list(&caller, group, part.page()).await?;
        Ok(Json(part.list(versions, |version| version.id.as_uuid())))
    }

    /// Create a version from the draft
    ///
    /// The version is live at once, unless `live` is `false`: it judges what is submitted from the answer on. If somebody else
    /// changed the draft after the `revision` you send, you get 409 and nothing is created.
    #[oai(
        path = "/rule-groups/:rule_group_id/versions",
        method = "post",
        operation_id = "createVersion"
    )]
    async fn create_version(
        &self,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
        request: JsonBody<NewRuleGroupVersion>,
    ) -> Result<Created<RuleGroupVersion>, Refusal> {
        let (group, new) = (rule_group_id.0, request.value.into());
        let version = versions::create(&caller, group, new).await?;
        let location = format!("{PREFIX}/rule-groups/{group}/versions/{}", version.id);
        Ok(Created::at(location, version))
    }

    /// Read a version
    #[oai(
        path = "/rule-groups/:rule_group_id/versions/:version_id",
        method = "get",
        operation_id = "getVersion"
    )]
    async fn get_version(
        &self,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
        /// The version.
        version_id: Path<GroupVersionId>,
    ) -> Result<Json<RuleGroupVersionWithRules>, Refusal> {
        let (group, version) = (rule_group_id.0, version_id.0);
        let version = versions::get(&caller, group, version).await?;
        Ok(Json(version.into()))
    }

    /// Make a version live
    ///
    /// Makes an earlier version live again, or a version that was created without being live. It judges what is submitted from
    /// the answer on. What was submitted before is judged by the version that was live then. An edited draft stays as it is.
    #[oai(
        path = "/rule-groups/:rule_group_id/live-version",
        method = "put",
        operation_id = "setLiveVersion"
    )]
    async fn set_live_version(
        &self,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
        request: JsonBody<LiveVersionChange>,
    ) -> Result<Json<RuleGroup>, Refusal> {
        let (group, wanted) = (rule_group_id.0, request.value.version_id.0);
        let group = versions::set_live(&caller, group, wanted).await?;
        Ok(Json(group.into()))
    }

    /// List publications
    ///
    /// Returns which version was live from when, the latest first.
    #[oai(
        path = "/rule-groups/:rule_group_id/publications",
        method = "get",
        operation_id = "listPublications"
    )]
    async fn list_publications(
        &self,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
        /// The most items in one page.
        limit: Query<Limit>,
        /// Where to continue: the `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<RuleGroupPublication>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let group = rule_group_id.0;
        let publications = versions::publications(&caller, group, part.page()).await?;
        Ok(Json(part.list(publications, |publication| publication.id)))
    }
}

/// A version of a rule group. It never changes.
#[derive(Serialize, Schema)]
pub(crate) struct RuleGroupVersion {
    /// The ID of the version.
    id: Uuid,
    /// The number of the version. A group's versions are numbered from 1.
    number: i32,
    /// The author's note. It may be empty.
    note: String,
    /// How many rules it has.
    rule_count: i32,
    /// The token that created it. `null` if it was created from the command line.
    #[schema(nullable)]
    created_by: Option<Uuid>,
    /// When it was created.
    created_at: Field<Time>,
}

impl From<ListedVersion> for RuleGroupVersion {
    fn from(version: ListedVersion) -> Self {
        Self {
            id: version.id.as_uuid(),
            number: version.number,
            note: version.note,
            rule_count: version.rules,
            created_by: version.created_by.map(ActorId::as_uuid),
            created_at: version.created_at.into(),
        }
    }
}

/// A version with its rules.
#[derive(Serialize, Schema)]
pub(crate) struct RuleGroupVersionWithRules {
    /// The version.
    #[serde(flatten)]
    version: RuleGroupVersion,
    /// The version's rules, in the order of evaluation.
    rules: Vec<RuleDocument>,
}

impl From<Version> for RuleGroupVersionWithRules {
    fn from(version: Version) -> Self {
        Self {
            version: version.listed.into(),
            rules: documents(version.rules),
        }
    }
}

/// A version to create from the draft.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewRuleGroupVersion {
    /// The revision of the draft that you read. If it is outdated, you get 409 (`draft_changed`).
    revision: i64,
    /// A note about the version.
    #[schema(nullable)]
    note: Option<Field<Reason>>,
    /// Whether the version is live at once. The default is `true`. With `false`, you can make it live later, or have it judge
    /// in the shadow.
    #[serde(default, deserialize_with = "given")]
    live: Option<bool>,
}

impl From<NewRuleGroupVersion> for NewVersion {
    fn from(new: NewRuleGroupVersion) -> Self {
        Self {
            revision: new.revision,
            note: new.note.map(|note| note.0),
            live: new.live.unwrap_or(true),
        }
    }
}

/// The version to make live.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LiveVersionChange {
    /// A version of the group.
    version_id: Field<GroupVersionId>,
}

/// An entry in the history of live versions.
#[derive(Serialize, Schema)]
pub(crate) struct RuleGroupPublication {
    /// The ID of the entry.
    id: Uuid,
    /// The version that became live.
    version_id: Uuid,
    /// The number of the version.
    version_number: i32,
    /// The token that published it. `null` if it was published from the command line.
    #[schema(nullable)]
    published_by: Option<Uuid>,
    /// When it began to judge new submissions.
    published_at: Field<Time>,
}

impl From<Publication> for RuleGroupPublication {
    fn from(publication: Publication) -> Self {
        Self {
            id: publication.id,
            version_id: publication.version.as_uuid(),
            version_number: publication.number,
            published_by: publication.published_by.map(ActorId::as_uuid),
            published_at: publication.published_at.into(),
        }
    }
}

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let version = json!({
        "id": example_values::VERSION,
        "number": 3,
        "note": "Review codes are reviewed.",
        "rule_count": 4,
        "created_by": example_values::TOKEN,
        "created_at": example_values::CREATED_AT,
    });
    let mut with_rules = version.clone();
    with_rules["rules"] = Value::Array(rule_schema::examples());
    let publication = json!({
        "id": "01980f6d-14aa-7bbb-8ccc-0123456789ab",
        "version_id": example_values::VERSION,
        "version_number": 3,
        "published_by": example_values::TOKEN,
        "published_at": example_values::CREATED_AT,
    });
    vec![
        Operation::new("listVersions", Scope::RulesRead).answer(example_values::list(&version)),
        Operation::new("createVersion", Scope::RulesWrite)
            .problems(&[Code::DraftChanged, Code::LimitReached])
            .request(json!({ "revision": 7, "note": "Review codes are reviewed.", "live": true }))
            .answer(version),
        Operation::new("getVersion", Scope::RulesRead).answer(with_rules),
        Operation::new("setLiveVersion", Scope::RulesWrite)
            .request(json!({ "version_id": example_values::VERSION }))
            .answer(group_example()),
        Operation::new("listPublications", Scope::RulesRead)
            .answer(example_values::list(&publication)),
    ]
}
