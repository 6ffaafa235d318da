//! Exports of a site's data: which ones there are, and the rows that their archives are built from.
//!
//! An archive is read member by member, each in a short transaction. The export's boundary, an id, says which items belong to
//! it. So no transaction stays open while somebody downloads, and the set of items is the same however long that takes. What
//! people decide meanwhile can show in later members.

mod items;

use chrono::{DateTime, Utc};
use domain::{
    actor::Actor,
    id::{ActorId, ExportId, GroupVersionId, RuleGroupId, SiteId, TeamId},
    reach::Reach,
    rules::Rule,
};
use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgPool, types::Json};
use uuid::Uuid;

pub use self::items::{PAGE, Planned, lines, page, planned};
use crate::{Error, page::Page};

/// An export. The audit log shows it as the management interface does.
#[derive(Clone, Debug, Serialize)]
pub struct Export {
    /// The export.
    pub id: ExportId,
    /// Its team.
    #[serde(rename = "team_id")]
    pub team: TeamId,
    /// The site whose data it contains.
    #[serde(rename = "site_id")]
    pub site: SiteId,
    /// Who created it; none from the command line.
    pub created_by: Option<ActorId>,
    /// When it was created.
    #[serde(serialize_with = "domain::event::iso8601")]
    pub created_at: DateTime<Utc>,
    /// Items with smaller ids are in it.
    pub upto: Uuid,
    /// Until when it can be read.
    #[serde(serialize_with = "domain::event::iso8601")]
    pub expires_at: DateTime<Utc>,
}

/// The most exports that a team can have at a time. Those that closures create are not counted.
pub const MOST: i64 = 10;

/// An export to create.
#[derive(Clone, Copy, Debug)]
pub struct NewExport {
    /// The site's team.
    pub team: TeamId,
    /// The site.
    pub site: SiteId,
    /// Who creates it.
    pub by: Actor,
}

/// Creates an export of everything that the site has by now. None: the team has [`MOST`] exports already. Run it in a
/// transaction.
pub async fn create(conn: &mut PgConnection, new: NewExport) -> Result<Option<ExportId>, Error> {
    lock_team(conn, new.team).await?;
    let id = ExportId::from(Uuid::now_v7());
    let created = sqlx::query!(
        "
        insert into exports (id, team_id, site_id, created_by, upto)
        select $1, $2, $3, $4, $5
        where (select count(*) from exports where team_id = $2 and expires_at > now() and closure_id is null) < $6
        ",
        id.as_uuid(),
        new.team.as_uuid(),
        new.site.as_uuid(),
        new.by.as_uuid(),
        // Larger than the id of everything that this process has accepted.
        Uuid::now_v7(),
        MOST,
    )
    .execute(conn)
    .await?;
    Ok((created.rows_affected() == 1).then_some(id))
}

/// So that two creations at once are counted one after the other.
async fn lock_team(conn: &mut PgConnection, team: TeamId) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "select id from teams where id = $1 for no key update",
        team.as_uuid()
    )
    .fetch_optional(conn)
    .await?;
    Ok(())
}

/// The exports that meet a condition.
macro_rules! select {
    ($conn:expr, $condition:literal, $($value:expr),+) => {
        sqlx::query!(
            "
        select id, team_id, site_id, created_by, created_at, upto, expires_at
        from exports
        where "
                + $condition
                + "
        ",
            $($value),+
        )
        .fetch_all($conn)
        .await?
        .into_iter()
        .map(|row| Export {
            id: row.id.into(),
            team: row.team_id.into(),
            site: row.site_id.into(),
            created_by: row.created_by.map(ActorId::from),
            created_at: row.created_at,
            upto: row.upto,
            expires_at: row.expires_at,
        })
        .collect::<Vec<_>>()
    };
}

/// An export; none if there is none within reach.
pub async fn find(
    conn: &mut PgConnection,
    reach: Reach,
    export: ExportId,
) -> Result<Option<Export>, Error> {
    let mut found = select!(
        conn,
        "id = $1 and ($2::uuid is null or team_id = $2) and expires_at > now()",
        export.as_uuid(),
        reach.team().map(TeamId::as_uuid)
    );
    Ok(found.pop())
}

/// Exports within reach, the newest first.
pub async fn list(conn: &mut PgConnection, reach: Reach, page: Page) -> Result<Vec<Export>, Error> {
    Ok(select!(
        conn,
        "($1::uuid is null or team_id = $1) and ($2::uuid is null or id < $2) and expires_at > now()
        order by id desc
        limit $3",
        reach.team().map(TeamId::as_uuid),
        page.after,
        page.limit
    ))
}

/// Removes exports that have expired, and returns how many they were.
pub(crate) async fn forget_old(pool: &PgPool) -> Result<u64, Error> {
    let removed = sqlx::query!("delete from exports where expires_at <= now()")
        .execute(pool)
        .await?;
    Ok(removed.rows_affected())
}

/// A part of a walk over the team's audit log.
#[derive(Debug)]
pub struct AuditSlice {
    /// The rows about the site as lines of JSON, without line ends.
    pub lines: Vec<String>,
    /// The last row that was looked at; none if there is no further row.
    pub last: Option<Uuid>,
}

/// Looks at the team's next rows after one, at most `limit`.
pub async fn audit_slice(
    conn: &mut PgConnection,
    export: &Export,
    after: Uuid,
    limit: i64,
) -> Result<AuditSlice, Error> {
    let rows = sqlx::query!(
        r#"
        with looked_at as (
            select l.id, l.target_id
            from audit_log l
            where l.team_id = $1 and l.id > $2 and l.id < $3
            order by l.id
            limit $4
        )
        select
            a.id as "id!",
            (
                select
                    json_build_object(
                        'id', l.id,
                        'actor', l.actor,
                        'actor_id', l.actor_id,
                        'action', l.action,
                        'target_id', l.target_id,
                        'details', l.details,
                        'request_id', l.request_id,
                        'occurred_at', l.occurred_at
                    )::text
                from audit_log l
                where
                    l.id = a.id
                    and (
                        a.target_id = $5
                        or exists (select from media m where m.id = a.target_id and m.site_id = $5)
                        or exists (select from site_keys k where k.id = a.target_id and k.site_id = $5)
                        or exists (select from webhook_endpoints e where e.id = a.target_id and e.site_id = $5)
                    )
            ) as line
        from looked_at a
        order by a.id
        "#,
        export.team.as_uuid(),
        after,
        export.upto,
        limit,
        export.site.as_uuid(),
    )
    .fetch_all(conn)
    .await?;
    let last = rows.last().map(|row| row.id);
    let lines = rows.into_iter().filter_map(|row| row.line);
    let lines = lines.map(|line| line.replace(['\n', '\r'], " ")).collect();
    Ok(AuditSlice { lines, last })
}

/// A group, with a list of the versions that judged or judge.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExportedGroup {
    /// The group.
    pub id: RuleGroupId,
    /// Its name.
    pub name: String,
    /// Whether it was deleted.
    pub deleted: bool,
    /// The version that judges new submissions.
    pub live_version_id: GroupVersionId,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// The versions, the oldest first.
    pub versions: Vec<ListedVersion>,
}

/// A version without its rules.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ListedVersion {
    /// The version.
    pub id: GroupVersionId,
    /// Its number; a group's versions count from 1.
    pub number: i32,
    /// Its author's note.
    pub note: String,
    /// When it was made.
    pub created_at: DateTime<Utc>,
}

/// The team's next group after one, in the order of ids.
pub async fn next_group(
    conn: &mut PgConnection,
    team: TeamId,
    after: Uuid,
) -> Result<Option<ExportedGroup>, Error> {
    let group = sqlx::query!(
        r#"
        select id, name, disabled_at is not null as "deleted!", live_version_id, created_at
        from rule_groups
        where team_id = $1 and id > $2
        order by id
        limit 1
        "#,
        team.as_uuid(),
        after,
    )
    .fetch_optional(&mut *conn)
    .await?;
    let Some(group) = group else { return Ok(None) };
    let versions = sqlx::query_as!(
        ListedVersion,
        "
        select v.id, v.number, v.note, v.created_at
        from rule_group_versions v
        where
            v.rule_group_id = $1
            and (
                v.kept or v.id = $2
                or exists (select from rule_group_publications p where p.version_id = v.id)
            )
        order by v.number
        ",
        group.id,
        group.live_version_id,
    )
    .fetch_all(conn)
    .await?;
    Ok(Some(ExportedGroup {
        id: group.id.into(),
        name: group.name,
        deleted: group.deleted,
        live_version_id: group.live_version_id.into(),
        created_at: group.created_at,
        versions,
    }))
}

/// The group's name, and the number and rules of its next such version after one with this number.
pub async fn next_version(
    conn: &mut PgConnection,
    group: RuleGroupId,
    after: i32,
) -> Result<Option<(String, i32, Vec<Rule>)>, Error> {
    let row = sqlx::query!(
        r#"
        select g.name, v.number, v.rules as "rules: Json<Vec<Rule>>"
        from rule_group_versions v
        join rule_groups g on g.id = v.rule_group_id
        where
            v.rule_group_id = $1 and v.number > $2
            and (
                v.kept or v.id = g.live_version_id
                or exists (select from rule_group_publications p where p.version_id = v.id)
            )
        order by v.number
        limit 1
        "#,
        group.as_uuid(),
        after,
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.map(|row| (row.name, row.number, row.rules.0)))
}
