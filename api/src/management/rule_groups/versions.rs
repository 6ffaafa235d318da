//! A rule group's versions: list, make, read, let one be live, and which were.

use std::sync::Arc;

use domain::{
    audit::Action,
    id::{ActorId, GroupVersionId, RuleGroupId},
    reason::Reason,
    scope::Scope,
};
use poem::web::Data;
use poem_openapi::{Object, OpenApi};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::rule_group::{self, Authorship, ListedVersion, Publication, Version};
use uuid::Uuid;

use super::{
    RuleGroup,
    draft::{draft, require},
    find, group_example, lists, lock, record, room,
    rules::{RuleDocument, documents},
    schema, unknown_version,
};
use crate::{
    answer::{Created, Json},
    management::{
        Management, PREFIX, Tag,
        document::{Operation, example},
        list::{After, Limit, List, Part},
        session::Caller,
    },
    member::{Member, Time, given},
    path::Path,
    payload::JsonBody,
    problem::{Code, Refusal},
    query::Query,
};

/// A version of a rule group. It never changes.
#[derive(Serialize, Object)]
pub(in super::super) struct RuleGroupVersion {
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
pub(in super::super) struct RuleGroupVersionWithRules {
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
pub(in super::super) struct NewRuleGroupVersion {
    /// The revision of the draft that is meant.
    revision: i64,
    /// A word about it.
    #[oai(nullable)]
    note: Option<Member<Reason>>,
    /// Whether it is live at once; it is if nothing is said. Without, it can be let live later, or judge in the shadow.
    #[serde(default, deserialize_with = "given")]
    live: Option<bool>,
}

/// Which version is to be live.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct LiveVersionChange {
    /// One of the group's.
    version_id: Member<GroupVersionId>,
}

/// A version that became live.
#[derive(Serialize, Object)]
pub(in super::super) struct RuleGroupPublication {
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
        let mut session = management.read(&caller, Scope::RulesRead).await?;
        let group = find(&mut session, rule_group_id.0).await?;
        let part = Part::new(&limit, &cursor);
        let versions = rule_group::versions(session.conn(), group.id, part.page()).await?;
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
        let new = request.value;
        // What a released binary took may be more than this one takes, so the draft is compiled again.
        let mut session = management.read(&caller, Scope::RulesWrite).await?;
        let group = find(&mut session, rule_group_id.0).await?;
        let draft = draft(&mut session, group.id).await?;
        require(Some(new.revision), draft.revision)?;
        drop(session);
        let compiled = management
            .workbench
            .check(Some(group.team), draft.rules)
            .await?;

        let mut session = management.change(&caller, Scope::RulesWrite).await?;
        let group = lock(&mut session, rule_group_id.0).await?;
        require(Some(new.revision), group.draft_revision)?;
        lists::require(&mut session, group.team, &compiled.rules).await?;
        room::require(&management, &mut session, group.team).await?;
        let live = new.live.unwrap_or(true);
        let by = session.actor();
        let authorship = Authorship {
            by,
            note: new.note.as_ref().map_or("", |note| note.as_str()),
        };
        let conn = session.conn();
        let id = rule_group::add_version(conn, group.id, compiled.version(), authorship).await?;
        if live {
            rule_group::set_live(conn, group.id, id, by).await?;
            // The draft is that version now.
            rule_group::edit(conn, group.id, None).await?;
        }
        let version = rule_group::version(conn, group.id, id).await?;
        let version = version.ok_or_else(Refusal::internal)?;
        let value = RuleGroupVersion::from(version.listed);
        let action = if live {
            Action::RuleGroupPublish
        } else {
            Action::RuleGroupVersion
        };
        let details = json!({ "created": value });
        record(session, action, group.team, group.id, details).await?;
        Ok(Created {
            location: format!("{PREFIX}/rule-groups/{}/versions/{id}", group.id),
            value,
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
        let mut session = management.read(&caller, Scope::RulesRead).await?;
        let group = find(&mut session, rule_group_id.0).await?;
        let version = rule_group::version(session.conn(), group.id, version_id.0).await?;
        let version = version.ok_or_else(|| Refusal::not_found("version"))?;
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
        let wanted = request.value.version_id.0;
        let mut session = management.read(&caller, Scope::RulesWrite).await?;
        let group = find(&mut session, rule_group_id.0).await?;
        let version = rule_group::version(session.conn(), group.id, wanted).await?;
        let version = version.ok_or_else(|| unknown_version("version_id"))?;
        drop(session);
        if group.live == wanted {
            return Ok(Json(group.into()));
        }
        // Rules that this binary cannot judge with must not become live.
        let compiled = management
            .workbench
            .check(Some(group.team), version.rules)
            .await?;

        let mut session = management.change(&caller, Scope::RulesWrite).await?;
        let before = lock(&mut session, group.id).await?;
        if before.live == wanted {
            return Ok(Json(before.into()));
        }
        lists::require_still(&mut session, before.team, &compiled.rules).await?;
        let by = session.actor();
        rule_group::set_live(session.conn(), before.id, wanted, by).await?;
        let after = find(&mut session, before.id).await?;
        let details = json!({ "changed": { "live_version_number": {
            "from": before.live_number, "to": after.live_number
        } }, "version_id": wanted });
        let (team, id) = (after.team, after.id);
        record(session, Action::RuleGroupPublish, team, id, details).await?;
        Ok(Json(after.into()))
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
        let mut session = management.read(&caller, Scope::RulesRead).await?;
        let group = find(&mut session, rule_group_id.0).await?;
        let part = Part::new(&limit, &cursor);
        let publications = rule_group::publications(session.conn(), group.id, part.page()).await?;
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
