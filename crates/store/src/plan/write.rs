//! Creating a plan, and giving it other terms.

use domain::{
    id::PlanId,
    plan::{PerPeriod, TeamPerMinute},
};
use sqlx::PgConnection;
use uuid::Uuid;

use super::{Plan, Terms};
use crate::Error;

/// Two plans cannot have one name.
const NAME_KEY: &str = "plans_name_key";

/// Creates a plan.
///
/// # Errors
/// [`Error::NameTaken`].
pub async fn create(conn: &mut PgConnection, terms: Terms) -> Result<Plan, Error> {
    let id = Uuid::now_v7();
    let limits = terms.limits;
    let created_at = sqlx::query_scalar!(
        "
        insert into plans (
            id, name, submissions_per_period, deliveries_per_period, submissions_per_minute, status_queries_per_minute,
            team_submissions_per_minute, team_status_queries_per_minute, endpoints_per_site, sites_per_team,
            site_keys_per_team, management_tokens_per_team, rule_groups_per_team, hash_lists_per_team
        )
        values (
            $1, $2, $3, $4, $5::bigint, $6::bigint, $7::bigint, $8::bigint, $9::bigint, $10::bigint, $11::bigint,
            $12::bigint, $13::bigint, $14::bigint
        )
        returning created_at
        ",
        id,
        terms.name.as_str(),
        terms.submissions_per_period.map(PerPeriod::get),
        terms.deliveries_per_period.map(PerPeriod::get),
        terms.submissions_per_minute.get(),
        terms.status_queries_per_minute.get(),
        terms.team_submissions_per_minute.map(TeamPerMinute::get),
        terms.team_status_queries_per_minute.map(TeamPerMinute::get),
        limits.endpoints_per_site.get(),
        limits.sites_per_team.get(),
        limits.site_keys_per_team.get(),
        limits.management_tokens_per_team.get(),
        limits.rule_groups_per_team.get(),
        limits.hash_lists_per_team.get(),
    )
    .fetch_one(conn)
    .await
    .map_err(Error::on_violation(NAME_KEY, Error::NameTaken))?;
    Ok(Plan {
        id: id.into(),
        terms,
        created_at,
    })
}

/// Gives a plan other terms, which hold at once for all teams that subscribe to it.
///
/// # Errors
/// [`Error::NameTaken`].
pub async fn change(conn: &mut PgConnection, plan: PlanId, terms: &Terms) -> Result<(), Error> {
    let limits = terms.limits;
    sqlx::query!(
        "
        update plans
        set
            name = $2,
            submissions_per_period = $3,
            deliveries_per_period = $4,
            submissions_per_minute = $5::bigint,
            status_queries_per_minute = $6::bigint,
            team_submissions_per_minute = $7::bigint,
            team_status_queries_per_minute = $8::bigint,
            endpoints_per_site = $9::bigint,
            sites_per_team = $10::bigint,
            site_keys_per_team = $11::bigint,
            management_tokens_per_team = $12::bigint,
            rule_groups_per_team = $13::bigint,
            hash_lists_per_team = $14::bigint
        where id = $1
        ",
        plan.as_uuid(),
        terms.name.as_str(),
        terms.submissions_per_period.map(PerPeriod::get),
        terms.deliveries_per_period.map(PerPeriod::get),
        terms.submissions_per_minute.get(),
        terms.status_queries_per_minute.get(),
        terms.team_submissions_per_minute.map(TeamPerMinute::get),
        terms.team_status_queries_per_minute.map(TeamPerMinute::get),
        limits.endpoints_per_site.get(),
        limits.sites_per_team.get(),
        limits.site_keys_per_team.get(),
        limits.management_tokens_per_team.get(),
        limits.rule_groups_per_team.get(),
        limits.hash_lists_per_team.get(),
    )
    .execute(conn)
    .await
    .map_err(Error::on_violation(NAME_KEY, Error::NameTaken))?;
    Ok(())
}
