//! Reading backtests: one, or those of a group.

use chrono::{DateTime, Utc};
use domain::{
    id::{ActorId, BacktestId, GroupVersionId, RuleGroupId, SiteId, TeamId},
    reach::Reach,
};
use sqlx::PgConnection;
use uuid::Uuid;

use super::Backtest;
use crate::{Error, page::Page};

/// A backtest; none if there is none within reach.
pub async fn find(
    conn: &mut PgConnection,
    reach: Reach,
    backtest: BacktestId,
) -> Result<Option<Backtest>, Error> {
    let row = sqlx::query_as!(
        Row,
        "
        select
            id, team_id, rule_group_id, version_id, site_id, since, until, total, state, looked_at, of_other_groups,
            undecided, without_content, without_scores, changed, created_by, created_at, ended_at, error
        from backtests
        where id = $1 and ($2::uuid is null or team_id = $2)
        ",
        backtest.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(conn)
    .await?;
    row.map(Backtest::try_from).transpose()
}

/// A group's backtests, the latest first.
pub async fn list(
    conn: &mut PgConnection,
    group: RuleGroupId,
    page: Page,
) -> Result<Vec<Backtest>, Error> {
    let rows = sqlx::query_as!(
        Row,
        "
        select
            id, team_id, rule_group_id, version_id, site_id, since, until, total, state, looked_at, of_other_groups,
            undecided, without_content, without_scores, changed, created_by, created_at, ended_at, error
        from backtests
        where rule_group_id = $1 and ($2::uuid is null or id < $2)
        order by id desc
        limit $3
        ",
        group.as_uuid(),
        page.after,
        page.limit,
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter().map(Backtest::try_from).collect()
}

struct Row {
    id: Uuid,
    team_id: Uuid,
    rule_group_id: Uuid,
    version_id: Option<Uuid>,
    site_id: Option<Uuid>,
    since: Option<DateTime<Utc>>,
    until: DateTime<Utc>,
    total: i64,
    state: String,
    looked_at: i64,
    of_other_groups: i64,
    undecided: i64,
    without_content: i64,
    without_scores: i64,
    changed: i64,
    created_by: Option<Uuid>,
    created_at: DateTime<Utc>,
    ended_at: Option<DateTime<Utc>>,
    error: Option<String>,
}

impl TryFrom<Row> for Backtest {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self, Error> {
        let not_judged =
            row.of_other_groups + row.undecided + row.without_content + row.without_scores;
        Ok(Self {
            id: row.id.into(),
            team: row.team_id.into(),
            group: row.rule_group_id.into(),
            version: row.version_id.map(GroupVersionId::from),
            site: row.site_id.map(SiteId::from),
            since: row.since,
            until: row.until,
            state: row.state.parse()?,
            total: row.total.max(row.looked_at),
            looked_at: row.looked_at,
            judged: row.looked_at - not_judged,
            of_other_groups: row.of_other_groups,
            undecided: row.undecided,
            without_content: row.without_content,
            without_scores: row.without_scores,
            changed: row.changed,
            error: row.error,
            created_by: row.created_by.map(ActorId::from),
            created_at: row.created_at,
            ended_at: row.ended_at,
        })
    }
}
