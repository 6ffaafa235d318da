//! Reading groups: one, one that is locked, or all within reach.

use chrono::{DateTime, Utc};
use domain::{
    id::{GroupVersionId, RuleGroupId, TeamId},
    reach::Reach,
};
use sqlx::PgConnection;
use uuid::Uuid;

use super::Group;
use crate::{Error, page::Page};

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
        // It is read after the lock, so that it shows the changes that the lock waited for.
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

pub(super) struct Row {
    pub(super) id: Uuid,
    pub(super) team_id: Uuid,
    pub(super) name: String,
    pub(super) live_version_id: Uuid,
    pub(super) live_number: i32,
    pub(super) shadow_version_id: Option<Uuid>,
    pub(super) shadow_number: Option<i32>,
    pub(super) edited: bool,
    pub(super) draft_revision: i64,
    pub(super) created_at: DateTime<Utc>,
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
