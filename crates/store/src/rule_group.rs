//! Rule groups: what a team edits as a draft, publishes as immutable versions, and attaches to
//! sites.
//!
//! A change of a group locks it first ([`lock`]), so that versions are numbered one by one and
//! nobody overwrites the edits of somebody else. Groups are never deleted, because verdicts name
//! their versions: [`disable`] hides them. Versions that no verdict can name are removed when they
//! are old ([`retention`]).

mod imported;
mod read;
pub(crate) mod retention;
pub mod shadow;
mod version;

use std::collections::{BTreeSet, HashMap};

use chrono::{DateTime, Utc};
use domain::{
    id::{ActorId, GroupVersionId, RuleGroupId, RuleId, SiteId, TeamId},
    plan::Limit,
    reach::Reach,
    rules::{Rule, RuleType},
};
use serde::Serialize;
use serde_json::Value;
use sqlx::{PgConnection, types::Json};
use uuid::Uuid;

pub use self::{
    imported::{
        ImportedGroup, ImportedVersion, import_group, import_version, is_named, keep, owner,
    },
    read::{JudgedSite, attach, attached, detach, find, judged_sites, list, lock, team_of},
    version::{
        Authorship, GroupVersion, ListedVersion, NewVersion, Publication, Version, add_version,
        find_version, publications, set_live, version, versions,
    },
};
use crate::{Error, plan::limit};

/// Two groups of a team that are not disabled cannot have one name.
const NAME_KEY: &str = "rule_groups_name_key";

/// A group. The audit log shows it as the management interface does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Group {
    /// The group.
    pub id: RuleGroupId,
    /// Its team.
    #[serde(rename = "team_id")]
    pub team: TeamId,
    /// Its name. Groups of a team that are not disabled have different names.
    pub name: String,
    /// The version that judges new submissions.
    #[serde(rename = "live_version_id")]
    pub live: GroupVersionId,
    /// Its number.
    #[serde(rename = "live_version_number")]
    pub live_number: i32,
    /// The version that judges beside it without effect.
    #[serde(rename = "shadow_version_id")]
    pub shadow: Option<GroupVersionId>,
    /// Its number.
    #[serde(rename = "shadow_version_number")]
    pub shadow_number: Option<i32>,
    /// Whether the draft differs from the live version.
    #[serde(rename = "draft_edited")]
    pub edited: bool,
    /// Counts the changes of what the draft shows.
    pub draft_revision: i64,
    /// When it was created.
    #[serde(serialize_with = "domain::event::iso8601")]
    pub created_at: DateTime<Utc>,
}

/// Gives a group another name.
///
/// # Errors
/// [`Error::NameTaken`].
pub async fn rename(conn: &mut PgConnection, group: RuleGroupId, name: &str) -> Result<(), Error> {
    sqlx::query!(
        "update rule_groups set name = $2 where id = $1",
        group.as_uuid(),
        name,
    )
    .execute(conn)
    .await
    .map_err(Error::on_violation(NAME_KEY, Error::NameTaken))?;
    Ok(())
}

/// The hash lists that rules name, each once.
fn hash_lists(rules: &[Rule]) -> Vec<Uuid> {
    let named = rules.iter().flat_map(|rule| rule.kind.hash_lists());
    let named: BTreeSet<Uuid> = named.map(|list| list.as_uuid()).collect();
    named.into_iter().collect()
}

fn actor(id: Option<Uuid>) -> Option<ActorId> {
    id.map(ActorId::from)
}

/// Creates a group whose first version is live, from the command line. Run it in a transaction.
///
/// # Errors
/// [`Error::NameTaken`], [`Error::LimitReached`].
pub async fn create(
    conn: &mut PgConnection,
    team: TeamId,
    name: &str,
    version: NewVersion<'_>,
) -> Result<RuleGroupId, Error> {
    create_as(conn, team, name, version, Authorship::COMMAND_LINE).await
}

/// Creates a group whose first version is live. Run it in a transaction.
///
/// # Errors
/// [`Error::NameTaken`], [`Error::LimitReached`].
pub async fn create_as(
    conn: &mut PgConnection,
    team: TeamId,
    name: &str,
    version: NewVersion<'_>,
    authorship: Authorship<'_>,
) -> Result<RuleGroupId, Error> {
    limit::require(conn, team, Limit::RuleGroups).await?;
    let group = RuleGroupId::from(Uuid::now_v7());
    let first = GroupVersionId::from(Uuid::now_v7());
    sqlx::query!(
        "insert into rule_groups (id, team_id, name, live_version_id) values ($1, $2, $3, $4)",
        group.as_uuid(),
        team.as_uuid(),
        name,
        first.as_uuid(),
    )
    .execute(&mut *conn)
    .await
    .map_err(Error::on_violation(NAME_KEY, Error::NameTaken))?;
    version::insert(conn, first, group, version, authorship).await?;
    version::record_publication(conn, group, first, authorship.by).await?;
    Ok(group)
}

/// A group, locked so that nobody else changes it or attaches it to a site until the transaction
/// ends; none if there is none within reach. With it, some of the sites that it judges for.
pub async fn lock_to_disable(
    conn: &mut PgConnection,
    reach: Reach,
    group: RuleGroupId,
) -> Result<Option<(Group, Vec<SiteId>)>, Error> {
    sqlx::query_scalar!(
        "select id from rule_groups where id = $1 and ($2::uuid is null or team_id = $2) for update",
        group.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(&mut *conn)
    .await?;
    let Some(found) = find(conn, reach, group).await? else {
        return Ok(None);
    };
    let sites = sites_of(conn, group).await?;
    Ok(Some((found, sites)))
}

/// Hides a group, for ever: submissions cannot name it, and its name is free. Its versions stay.
/// Run it in a transaction that has locked the group with [`lock_to_disable`].
pub async fn disable(conn: &mut PgConnection, group: RuleGroupId) -> Result<(), Error> {
    sqlx::query!(
        "update rule_groups set disabled_at = now(), shadow_version_id = null where id = $1",
        group.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// A draft.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Its rules.
    pub rules: Vec<Rule>,
    /// Counts the changes of what the draft shows.
    pub revision: i64,
    /// Whether it differs from the live version.
    pub edited: bool,
}

/// A group's draft; none if there is no such group.
pub async fn draft(conn: &mut PgConnection, group: RuleGroupId) -> Result<Option<Draft>, Error> {
    let row = sqlx::query!(
        r#"
        select
            coalesce(g.draft, v.rules) as "rules!: Json<Vec<Rule>>",
            g.draft_revision,
            g.draft is not null as "edited!"
        from rule_groups g
        join rule_group_versions v on v.id = g.live_version_id
        where g.id = $1
        "#,
        group.as_uuid(),
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.map(|row| Draft {
        rules: row.rules.0,
        revision: row.draft_revision,
        edited: row.edited,
    }))
}

/// Replaces a group's draft, or, with none, goes back to its live version. Returns its new
/// revision. Run it in a transaction that has locked the group.
pub async fn edit(
    conn: &mut PgConnection,
    group: RuleGroupId,
    rules: Option<&[Rule]>,
) -> Result<i64, Error> {
    let revision = sqlx::query_scalar!(
        "
        update rule_groups
        set draft = $2, draft_hash_lists = $3, draft_revision = draft_revision + 1
        where id = $1
        returning draft_revision
        ",
        group.as_uuid(),
        rules.map(Json) as _,
        &hash_lists(rules.unwrap_or_default()),
    )
    .fetch_one(conn)
    .await?;
    Ok(revision)
}

/// Bytes of rules that a team has stored within the last 24 hours, in versions and backtests, as
/// they lie on disk.
pub async fn stored_of_late(conn: &mut PgConnection, team: TeamId) -> Result<i64, Error> {
    let bytes = sqlx::query_scalar!(
        r#"
        select
            (
                select coalesce(sum(pg_column_size(v.rules)), 0)
                from rule_group_versions v
                join rule_groups g on g.id = v.rule_group_id
                where v.kept is null and v.created_at > now() - interval '24 hours' and g.team_id = $1
            ) + (
                select coalesce(sum(pg_column_size(b.rules)), 0)
                from backtests b
                where b.created_at > now() - interval '24 hours' and b.team_id = $1
            ) as "bytes!"
        "#,
        team.as_uuid(),
    )
    .fetch_one(conn)
    .await?;
    Ok(bytes)
}

/// The most sites of a group that are named.
const TOLD: i64 = 10;

/// Some of the sites that a group judges for, attached or by default.
async fn sites_of(conn: &mut PgConnection, group: RuleGroupId) -> Result<Vec<SiteId>, Error> {
    let sites = sqlx::query_scalar!(
        r#"
        select id as "id!" from sites where default_rule_group_id = $1
        union
        select site_id from site_rule_groups where rule_group_id = $1
        order by 1
        limit $2
        "#,
        group.as_uuid(),
        TOLD,
    )
    .fetch_all(conn)
    .await?;
    Ok(sites.into_iter().map(SiteId::from).collect())
}

/// Versions that take more bytes than this in the database are not looked through.
const LONGEST: i32 = 32 << 10;

/// The kinds of these rules, if they are in the live versions of these groups of a team. It is missing for rules of large
/// versions: reading those would cost more than it is worth.
pub async fn kinds(
    conn: &mut PgConnection,
    team: TeamId,
    groups: &[RuleGroupId],
    rules: &[RuleId],
) -> Result<HashMap<RuleId, RuleType>, Error> {
    let groups: Vec<Uuid> = groups.iter().map(|group| group.as_uuid()).collect();
    let rules: Vec<Uuid> = rules.iter().map(|rule| rule.as_uuid()).collect();
    let rows = sqlx::query!(
        r#"
        select (r.rule ->> 'id')::uuid as "id!", r.rule ->> 'type' as "kind!"
        from rule_groups g
        join rule_group_versions v on v.id = g.live_version_id
        cross join json_array_elements(case when pg_column_size(v.rules) <= $4 then v.rules end) as r (rule)
        where g.id = any($1) and g.team_id = $2 and (r.rule ->> 'id')::uuid = any($3)
        "#,
        &groups,
        team.as_uuid(),
        &rules,
        LONGEST,
    )
    .fetch_all(conn)
    .await?;
    let known = rows.into_iter().filter_map(|row| {
        let kind = serde_json::from_value(Value::String(row.kind)).ok()?;
        Some((row.id.into(), kind))
    });
    Ok(known.collect())
}
