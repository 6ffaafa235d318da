//! A rule group's versions: list, make, read, let one be live, and which were.

use std::sync::Arc;

use domain::{
    id::{ActorId, GroupVersionId, RuleGroupId},
    reason::Reason,
    scope::Scope,
};
use management::{
    Management,
    rule_groups::versions::{self, NewVersion},
};
use poem::web::Data;
use poem_openapi::{Object, OpenApi};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::rule_group::{ListedVersion, Publication, Version};
use uuid::Uuid;

use super::{
    RuleGroup, group_example,
    rules::{RuleDocument, documents},
    schema,
};
use crate::{
    answer::{Created, Json},
    management::{
        PREFIX, Tag,
        caller::Caller,
        document::{Operation, example},
        list::{After, Limit, List, Part},
    },
    member::{Member, Time, given},
    path::Path,
    payload::JsonBody,
    problem::{Code, Refusal},
    query::Query,
};

/// A version of a rule group. It never changes.
#[derive(Serialize, Object)]
pub(crate) struct RuleGroupVersion {
    /// The version.
    id: Uuid,
    /// Its number; a group's versions count from 1.
    number: i32,
    /// What its author says of it; may be empty.
    note: String,
    /// How many rules it has.
    rule_count: i32,
    /// The token with which it was made; null from the command line.
    #[oai(nullable)]
    created_by: Option<Uuid>,
    /// When it was made.
    created_at: Member<Time>,
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
#[derive(Serialize, Object)]
pub(crate) struct RuleGroupVersionWithRules {
    /// What lists show of it.
    #[serde(flatten)]
    #[oai(flatten)]
    version: RuleGroupVersion,
    /// Its rules, in the order of evaluation.
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

/// A version that the draft is to become.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewRuleGroupVersion {
    /// The revision of the draft that is meant.
    revision: i64,
    /// A word about it.
    #[oai(nullable)]
    note: Option<Member<Reason>>,
    /// Whether it is live at once; it is if nothing is said. Without, it can be let live later, or judge in the shadow.
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

/// Which version is to be live.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(crate) struct LiveVersionChange {
    /// One of the group's.
    version_id: Member<GroupVersionId>,
}

/// A version that became live.
#[derive(Serialize, Object)]
pub(crate) struct RuleGroupPublication {
    /// The entry.
    id: Uuid,
    /// The version.
    version_id: Uuid,
    /// Its number.
    version_number: i32,
    /// The token with which it was published; null from the command line.
    #[oai(nullable)]
    published_by: Option<Uuid>,
    /// From when on it judged what was submitted.
    published_at: Member<Time>,
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

pub(crate) struct Versions;

#[OpenApi(tag = "Tag::RuleGroups")]
impl Versions {
    /// List versions
    ///
    /// The newest first.
    #[oai(
        path = "/rule-groups/:rule_group_id/versions",
        method = "get",
        operation_id = "listVersions"
    )]
    async fn list_versions(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The group.
        rule_group_id: Path<RuleGroupId>,
        /// How many at most.
        limit: Query<Limit>,
        /// Where to go on: `next_cursor` of the part before.
        cursor: After,
    ) -> Result<Json<List<RuleGroupVersion>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let group = rule_group_id.0;
        let versions = versions::list(&management, &caller, group, part.page()).await?;
        Ok(Json(part.list(versions, |version| version.id.as_uuid())))
    }

    /// Make a version of the draft
    ///
    /// It is live at once, unless `live` is false: what is submitted from the answer on is judged by it. If somebody else has
    /// changed the draft since the `revision`, nothing is made.
    #[oai(
        path = "/rule-groups/:rule_group_id/versions",
        method = "post",
        operation_id = "createVersion"
    )]
    async fn create_version(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The group.
        rule_group_id: Path<RuleGroupId>,
        request: JsonBody<NewRuleGroupVersion>,
    ) -> Result<Created<RuleGroupVersion>, Refusal> {
        let (group, new) = (rule_group_id.0, request.value.into());
        let version = versions::create(&management, &caller, group, new).await?;
        Ok(Created {
            location: format!("{PREFIX}/rule-groups/{group}/versions/{}", version.id),
            value: version.into(),
        })
    }

    /// Read a version
    #[oai(
        path = "/rule-groups/:rule_group_id/versions/:version_id",
        method = "get",
        operation_id = "getVersion"
    )]
    async fn get_version(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The group.
        rule_group_id: Path<RuleGroupId>,
        /// The version.
        version_id: Path<GroupVersionId>,
    ) -> Result<Json<RuleGroupVersionWithRules>, Refusal> {
        let (group, version) = (rule_group_id.0, version_id.0);
        let version = versions::get(&management, &caller, group, version).await?;
        Ok(Json(version.into()))
    }

    /// Let a version be live
    ///
    /// An earlier one again, or one that was made without being live. What is submitted from the answer on is judged by it;
    /// what was submitted before is judged by the version that was live then. The draft stays if it was edited.
    #[oai(
        path = "/rule-groups/:rule_group_id/live-version",
        method = "put",
        operation_id = "setLiveVersion"
    )]
    async fn set_live_version(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The group.
        rule_group_id: Path<RuleGroupId>,
        request: JsonBody<LiveVersionChange>,
    ) -> Result<Json<RuleGroup>, Refusal> {
        let (group, wanted) = (rule_group_id.0, request.value.version_id.0);
        let group = versions::set_live(&management, &caller, group, wanted).await?;
        Ok(Json(group.into()))
    }

    /// List publications
    ///
    /// Which version was live from when, the latest first.
    #[oai(
        path = "/rule-groups/:rule_group_id/publications",
        method = "get",
        operation_id = "listPublications"
    )]
    async fn list_publications(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The group.
        rule_group_id: Path<RuleGroupId>,
        /// How many at most.
        limit: Query<Limit>,
        /// Where to go on: `next_cursor` of the part before.
        cursor: After,
    ) -> Result<Json<List<RuleGroupPublication>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let group = rule_group_id.0;
        let publications = versions::publications(&management, &caller, group, part.page()).await?;
        Ok(Json(part.list(publications, |publication| publication.id)))
    }
}

/// What the document says beyond the signatures.
pub(super) fn described() -> Vec<Operation> {
    let version = json!({
        "id": example::VERSION,
        "number": 3,
        "note": "Review codes are reviewed.",
        "rule_count": 4,
        "created_by": example::TOKEN,
        "created_at": example::CREATED_AT,
    });
    let mut with_rules = version.clone();
    with_rules["rules"] = Value::Array(schema::examples());
    let publication = json!({
        "id": "01980f6d-14aa-7bbb-8ccc-0123456789ab",
        "version_id": example::VERSION,
        "version_number": 3,
        "published_by": example::TOKEN,
        "published_at": example::CREATED_AT,
    });
    vec![
        Operation {
            answer: Some(example::list(&version)),
            ..Operation::new("listVersions", Scope::RulesRead)
        },
        Operation {
            problems: &[Code::DraftChanged, Code::LimitReached],
            request: Some(
                json!({ "revision": 7, "note": "Review codes are reviewed.", "live": true }),
            ),
            answer: Some(version),
            ..Operation::new("createVersion", Scope::RulesWrite)
        },
        Operation {
            answer: Some(with_rules),
            ..Operation::new("getVersion", Scope::RulesRead)
        },
        Operation {
            request: Some(json!({ "version_id": example::VERSION })),
            answer: Some(group_example()),
            ..Operation::new("setLiveVersion", Scope::RulesWrite)
        },
        Operation {
            answer: Some(example::list(&publication)),
            ..Operation::new("listPublications", Scope::RulesRead)
        },
    ]
}
