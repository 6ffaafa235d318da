//! Rule groups: what a team edits as a draft, publishes as immutable versions, and attaches to sites.
//!
//! A change of a group locks it first ([`lock`]), so that versions get their numbers one by one and nobody overwrites
//! what somebody else edited. Groups are never deleted, because verdicts name their versions: [`disable`] hides them. Versions that no
//! verdict can name are removed when they are old ([`retention`]).

mod attachment;
mod draft;
pub(crate) mod retention;
pub mod shadow;
mod version;

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use domain::{
    id::{ActorId, GroupVersionId, RuleGroupId, SiteId, TeamId},
    plan::Limit,
    reach::Reach,
    rules::Rule,
};
use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

pub use self::{
    attachment::{attach, attached, detach},
    draft::{Draft, draft, edit},
    retention::stored_of_late,
    version::{
        Authorship, GroupVersion, ListedVersion, NewVersion, Publication, Version, add_version,
        find_version, publications, set_live, version, versions,
    },
};
use crate::{Error, page::Page, plan::limit};

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

/// A group; none if there is none within reach.
pub async fn find(
    conn: &mut PgConnection,
    reach: Reach,
    group: RuleGroupId,
) -> Result<Option<Group>, Error> {
    let row = sqlx::query_as!(
        Row,
        r#"
        select
            g.id, g.team_id, g.name, g.live_version_id, l.number as live_number, g.shadow_version_id,
            s.number as "shadow_number?", g.draft is not null as "edited!", g.draft_revision, g.created_at
        from rule_groups g
        join rule_group_versions l on l.id = g.live_version_id
        left join rule_group_versions s on s.id = g.shadow_version_id
        where g.id = $1 and ($2::uuid is null or g.team_id = $2) and g.disabled_at is null
        "#,
        group.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.map(Group::from))
}

/// A group that nobody else changes until the transaction ends; none if there is none within reach.
pub async fn lock(
    conn: &mut PgConnection,
    reach: Reach,
    group: RuleGroupId,
) -> Result<Option<Group>, Error> {
    let locked = sqlx::query_scalar!(
        "select id from rule_groups where id = $1 and ($2::uuid is null or team_id = $2) for no key update",
        group.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(&mut *conn)
    .await?;
    match locked {
        // Read only now: what was waited for is seen whole.
        Some(_) => find(conn, reach, group).await,
        None => Ok(None),
    }
}

/// Groups within reach, the oldest first.
pub async fn list(conn: &mut PgConnection, reach: Reach, page: Page) -> Result<Vec<Group>, Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select
            g.id, g.team_id, g.name, g.live_version_id, l.number as live_number, g.shadow_version_id,
            s.number as "shadow_number?", g.draft is not null as "edited!", g.draft_revision, g.created_at
        from rule_groups g
        join rule_group_versions l on l.id = g.live_version_id
        left join rule_group_versions s on s.id = g.shadow_version_id
        where ($1::uuid is null or g.team_id = $1) and ($2::uuid is null or g.id > $2) and g.disabled_at is null
        order by g.id
        limit $3
        "#,
        reach.team().map(TeamId::as_uuid),
        page.after,
        page.limit,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(Group::from).collect())
}

/// A group's team; none if there is no such group.
pub async fn team_of(conn: &mut PgConnection, group: RuleGroupId) -> Result<Option<TeamId>, Error> {
    let team = sqlx::query_scalar!(
        "select team_id from rule_groups where id = $1 and disabled_at is null",
        group.as_uuid()
    )
    .fetch_optional(conn)
    .await?;
    Ok(team.map(TeamId::from))
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

/// A group that nobody else changes, nor attaches to a site, until the transaction ends; none if there is none within reach.
/// With it, some of the sites that it judges for.
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
    let sites = attachment::sites_of(conn, group).await?;
    Ok(Some((found, sites)))
}

/// Hides a group, for ever: submissions cannot name it, and its name is free. Its versions stay. Run it in a transaction that
/// has locked it so ([`lock_to_disable`]).
pub async fn disable(conn: &mut PgConnection, group: RuleGroupId) -> Result<(), Error> {
    sqlx::query!(
        "update rule_groups set disabled_at = now(), shadow_version_id = null where id = $1",
        group.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

struct Row {
    id: Uuid,
    team_id: Uuid,
    name: String,
    live_version_id: Uuid,
    live_number: i32,
    shadow_version_id: Option<Uuid>,
    shadow_number: Option<i32>,
    edited: bool,
    draft_revision: i64,
    created_at: DateTime<Utc>,
}

impl From<Row> for Group {
    fn from(row: Row) -> Self {
        Self {
            id: row.id.into(),
            team: row.team_id.into(),
            name: row.name,
            live: row.live_version_id.into(),
            live_number: row.live_number,
            shadow: row.shadow_version_id.map(GroupVersionId::from),
            shadow_number: row.shadow_number,
            edited: row.edited,
            draft_revision: row.draft_revision,
            created_at: row.created_at,
        }
    }
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
