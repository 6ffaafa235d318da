//! Plans: how much the teams that subscribe to them may use.

pub(crate) mod limit;

use chrono::{DateTime, Utc};
use domain::{
    bounded_integer::{BoundedInteger, OutOfBounds},
    id::{PlanId, TeamId},
    name::Name,
    plan::{Limits, PerPeriod, TeamPerMinute, Terms},
    reach::Reach,
};
use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{Error, page::Page};

/// The plan that every database comes with: named `Unlimited` unless somebody renames it. New teams
/// subscribe to it unless another is named.
pub const UNLIMITED: PlanId =
    PlanId::from_uuid(Uuid::from_u128(0x0199_0000_0000_7000_8000_0000_0000_0001));

/// A plan. The audit log shows it as the management interface does.
#[derive(Clone, Debug, Serialize)]
pub struct Plan {
    /// The plan.
    pub id: PlanId,
    /// What it allows.
    #[serde(flatten)]
    pub terms: Terms,
    /// When it was created.
    #[serde(serialize_with = "domain::event::iso8601")]
    pub created_at: DateTime<Utc>,
}

struct Row {
    id: Uuid,
    name: String,
    submissions_per_period: Option<i64>,
    deliveries_per_period: Option<i64>,
    submissions_per_minute: i32,
    status_queries_per_minute: i32,
    team_submissions_per_minute: Option<i32>,
    team_status_queries_per_minute: Option<i32>,
    endpoints_per_site: i32,
    sites_per_team: i32,
    site_keys_per_team: i32,
    management_tokens_per_team: i32,
    rule_groups_per_team: i32,
    hash_lists_per_team: i32,
    created_at: DateTime<Utc>,
}

impl TryFrom<Row> for Plan {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self, Error> {
        let unreadable =
            |error: &dyn std::fmt::Display| Error::Unreadable(format!("plan {} {error}", row.id));
        let name = row.name.parse().map_err(|error| unreadable(&error))?;
        let terms = row.terms(name).map_err(|error| unreadable(&error))?;
        Ok(Self {
            id: row.id.into(),
            terms,
            created_at: row.created_at,
        })
    }
}

impl Row {
    fn terms(&self, name: Name) -> Result<Terms, OutOfBounds> {
        Ok(Terms {
            name,
            submissions_per_period: self
                .submissions_per_period
                .map(PerPeriod::try_from)
                .transpose()?,
            deliveries_per_period: self
                .deliveries_per_period
                .map(PerPeriod::try_from)
                .transpose()?,
            submissions_per_minute: whole(self.submissions_per_minute)?,
            status_queries_per_minute: whole(self.status_queries_per_minute)?,
            team_submissions_per_minute: self.team_submissions_per_minute.map(whole).transpose()?,
            team_status_queries_per_minute: self
                .team_status_queries_per_minute
                .map(whole)
                .transpose()?,
            limits: Limits {
                endpoints_per_site: whole(self.endpoints_per_site)?,
                sites_per_team: whole(self.sites_per_team)?,
                site_keys_per_team: whole(self.site_keys_per_team)?,
                management_tokens_per_team: whole(self.management_tokens_per_team)?,
                rule_groups_per_team: whole(self.rule_groups_per_team)?,
                hash_lists_per_team: whole(self.hash_lists_per_team)?,
            },
        })
    }
}

fn whole<const MIN: i64, const MAX: i64>(
    number: i32,
) -> Result<BoundedInteger<MIN, MAX>, OutOfBounds> {
    i64::from(number).try_into()
}

/// The plans that meet a condition.
macro_rules! select {
    ($conn:expr, $condition:literal, $($value:expr),+) => {
        sqlx::query_as!(
            Row,
            "
        select
            id, name, submissions_per_period, deliveries_per_period, submissions_per_minute, status_queries_per_minute,
            team_submissions_per_minute, team_status_queries_per_minute, endpoints_per_site, sites_per_team,
            site_keys_per_team, management_tokens_per_team, rule_groups_per_team, hash_lists_per_team, created_at
        from plans"
                + $condition
                + "
        ",
            $($value),+
        )
        .fetch_all($conn)
        .await?
        .into_iter()
        .map(Plan::try_from)
        .collect::<Result<Vec<_>, Error>>()
    };
}

/// A plan; none if there is none within reach. A team reaches only the plan that it subscribes to.
pub async fn find(
    conn: &mut PgConnection,
    reach: Reach,
    plan: PlanId,
) -> Result<Option<Plan>, Error> {
    let found = select!(
        conn,
        " p
        where
            id = $1
            and ($2::uuid is null or exists (select from subscriptions where plan_id = p.id and team_id = $2))",
        plan.as_uuid(),
        reach.team().map(TeamId::as_uuid)
    );
    Ok(found?.pop())
}

/// A plan that nobody else changes until the transaction ends; none if there is no such plan.
pub async fn lock(conn: &mut PgConnection, plan: PlanId) -> Result<Option<Plan>, Error> {
    let found = select!(
        conn,
        "
        where id = $1
        for no key update",
        plan.as_uuid()
    );
    Ok(found?.pop())
}

/// Plans within reach, the oldest first. A team reaches only the plan that it subscribes to.
pub async fn list(conn: &mut PgConnection, reach: Reach, page: Page) -> Result<Vec<Plan>, Error> {
    select!(
        conn,
        " p
        where
            ($1::uuid is null or exists (select from subscriptions where plan_id = p.id and team_id = $1))
            and ($2::uuid is null or id > $2)
        order by id
        limit $3",
        reach.team().map(TeamId::as_uuid),
        page.after,
        page.limit
    )
}

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
