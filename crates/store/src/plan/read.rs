//! Reading plans: one, one that is locked, or all within reach.

use domain::{
    id::{PlanId, TeamId},
    reach::Reach,
};
use sqlx::PgConnection;

use super::{Plan, row::Row};
use crate::{Error, page::Page};

/// A plan; none if there is none within reach. A team reaches only the plan that it subscribes to.
pub async fn find(
    conn: &mut PgConnection,
    reach: Reach,
    plan: PlanId,
) -> Result<Option<Plan>, Error> {
    let row = sqlx::query_as!(
        Row,
        "
        select
            id, name, submissions_per_period, deliveries_per_period, submissions_per_minute, status_queries_per_minute,
            team_submissions_per_minute, team_status_queries_per_minute, endpoints_per_site, sites_per_team,
            site_keys_per_team, management_tokens_per_team, rule_groups_per_team, hash_lists_per_team, created_at
        from plans p
        where
            id = $1
            and ($2::uuid is null or exists (select from subscriptions where plan_id = p.id and team_id = $2))
        ",
        plan.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(conn)
    .await?;
    row.map(Plan::try_from).transpose()
}

/// A plan that nobody else changes until the transaction ends; none if there is no such plan.
pub async fn lock(conn: &mut PgConnection, plan: PlanId) -> Result<Option<Plan>, Error> {
    let row = sqlx::query_as!(
        Row,
        "
        select
            id, name, submissions_per_period, deliveries_per_period, submissions_per_minute, status_queries_per_minute,
            team_submissions_per_minute, team_status_queries_per_minute, endpoints_per_site, sites_per_team,
            site_keys_per_team, management_tokens_per_team, rule_groups_per_team, hash_lists_per_team, created_at
        from plans
        where id = $1
        for no key update
        ",
        plan.as_uuid(),
    )
    .fetch_optional(conn)
    .await?;
    row.map(Plan::try_from).transpose()
}

/// Plans within reach, the oldest first. A team reaches only the plan that it subscribes to.
pub async fn list(conn: &mut PgConnection, reach: Reach, page: Page) -> Result<Vec<Plan>, Error> {
    let rows = sqlx::query_as!(
        Row,
        "
        select
            id, name, submissions_per_period, deliveries_per_period, submissions_per_minute, status_queries_per_minute,
            team_submissions_per_minute, team_status_queries_per_minute, endpoints_per_site, sites_per_team,
            site_keys_per_team, management_tokens_per_team, rule_groups_per_team, hash_lists_per_team, created_at
        from plans p
        where
            ($1::uuid is null or exists (select from subscriptions where plan_id = p.id and team_id = $1))
            and ($2::uuid is null or id > $2)
        order by id
        limit $3
        ",
        reach.team().map(TeamId::as_uuid),
        page.after,
        page.limit,
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter().map(Plan::try_from).collect()
}
