//! Reading bulk decisions: one, or those of a team.

use chrono::{DateTime, Utc};
use domain::{
    id::{BulkDecisionId, ReviewPolicyId, TeamId},
    reach::Reach,
};
use sqlx::{PgConnection, types::Json};
use uuid::Uuid;

use super::{Bulk, Filter};
use crate::{Error, page::Page};

/// A bulk decision; none if there is none within reach.
pub async fn find(
    conn: &mut PgConnection,
    reach: Reach,
    bulk: BulkDecisionId,
) -> Result<Option<Bulk>, Error> {
    let row = sqlx::query_as!(
        Row,
        r#"
        select
            id, team_id, ruling, policy_id, reason, filter as "filter: Json<Filter>", total, done, skipped, undone, state, error,
            created_by, created_at, ended_at
        from bulk_decisions
        where id = $1 and ($2::uuid is null or team_id = $2)
        "#,
        bulk.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(conn)
    .await?;
    row.map(Bulk::try_from).transpose()
}

/// A team's bulk decisions, the latest first.
pub async fn list(conn: &mut PgConnection, team: TeamId, page: Page) -> Result<Vec<Bulk>, Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select
            id, team_id, ruling, policy_id, reason, filter as "filter: Json<Filter>", total, done, skipped, undone, state, error,
            created_by, created_at, ended_at
        from bulk_decisions
        where team_id = $1 and ($2::uuid is null or id < $2)
        order by id desc
        limit $3
        "#,
        team.as_uuid(),
        page.after,
        page.limit,
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter().map(Bulk::try_from).collect()
}

struct Row {
    id: Uuid,
    team_id: Uuid,
    ruling: String,
    policy_id: Option<Uuid>,
    reason: String,
    filter: Option<Json<Filter>>,
    total: i32,
    done: i32,
    skipped: i32,
    undone: i32,
    state: String,
    error: Option<String>,
    created_by: Uuid,
    created_at: DateTime<Utc>,
    ended_at: Option<DateTime<Utc>>,
}

impl TryFrom<Row> for Bulk {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self, Error> {
        Ok(Self {
            id: row.id.into(),
            team: row.team_id.into(),
            decision: row.ruling.parse()?,
            policy: row.policy_id.map(ReviewPolicyId::from),
            reason: row.reason,
            filter: row.filter.map(|filter| filter.0),
            total: row.total,
            done: row.done,
            skipped: row.skipped,
            undone: row.undone,
            state: row.state.parse()?,
            error: row.error,
            created_by: row.created_by.into(),
            created_at: row.created_at,
            ended_at: row.ended_at,
        })
    }
}
