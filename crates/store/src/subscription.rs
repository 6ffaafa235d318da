//! Subscriptions: which plan a team has, and the state of the subscription.

use chrono::{DateTime, Utc};
use domain::{
    id::{PlanId, TeamId},
    plan::SubscriptionState,
};
use serde::Serialize;
use sqlx::PgConnection;

use crate::Error;

/// The plan of a subscription exists.
pub(crate) const PLAN_KEY: &str = "subscriptions_plan_id_fkey";

/// A team's subscription; every team has one. The audit log shows it as the management interface
/// does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Subscription {
    /// The team.
    #[serde(rename = "team_id")]
    pub team: TeamId,
    /// Its plan.
    #[serde(rename = "plan_id")]
    pub plan: PlanId,
    /// The state.
    pub state: SubscriptionState,
    /// The billing periods are the UTC months from here on.
    #[serde(serialize_with = "domain::event::iso8601")]
    pub started_at: DateTime<Utc>,
    /// Since when it is past due, if it is.
    #[serde(serialize_with = "domain::event::iso8601_or_null")]
    pub past_due_since: Option<DateTime<Utc>>,
}

/// New values for a subscription.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The plan.
    pub plan: PlanId,
    /// The state.
    pub state: SubscriptionState,
    /// When the billing periods begin; none keeps the present value.
    pub started_at: Option<DateTime<Utc>>,
}

/// A team's subscription; none if there is no such team.
pub async fn find(conn: &mut PgConnection, team: TeamId) -> Result<Option<Subscription>, Error> {
    let row = sqlx::query_as!(
        Row,
        "
        select team_id, plan_id, state, started_at, past_due_since
        from subscriptions
        where team_id = $1
        ",
        team.as_uuid(),
    )
    .fetch_optional(conn)
    .await?;
    row.map(Subscription::try_from).transpose()
}

/// A subscription that nobody else changes until the transaction ends; none if there is no such
/// team.
pub async fn lock(conn: &mut PgConnection, team: TeamId) -> Result<Option<Subscription>, Error> {
    let row = sqlx::query_as!(
        Row,
        "
        select team_id, plan_id, state, started_at, past_due_since
        from subscriptions
        where team_id = $1
        for no key update
        ",
        team.as_uuid(),
    )
    .fetch_optional(conn)
    .await?;
    row.map(Subscription::try_from).transpose()
}

/// Changes a team's subscription. A subscription that stays past due keeps the time since when it
/// is.
///
/// # Errors
/// [`Error::UnknownPlan`].
pub async fn change(
    conn: &mut PgConnection,
    team: TeamId,
    wanted: Wanted,
) -> Result<Subscription, Error> {
    let row = sqlx::query_as!(
        Row,
        "
        update subscriptions
        set
            plan_id = $2,
            state = $3,
            started_at = coalesce($4, started_at),
            past_due_since = case when $3 = 'past_due' then coalesce(past_due_since, now()) end
        where team_id = $1
        returning team_id, plan_id, state, started_at, past_due_since
        ",
        team.as_uuid(),
        wanted.plan.as_uuid(),
        wanted.state.as_str(),
        wanted.started_at,
    )
    .fetch_one(conn)
    .await
    .map_err(Error::on_violation(PLAN_KEY, Error::UnknownPlan))?;
    row.try_into()
}

struct Row {
    team_id: uuid::Uuid,
    plan_id: uuid::Uuid,
    state: String,
    started_at: DateTime<Utc>,
    past_due_since: Option<DateTime<Utc>>,
}

impl TryFrom<Row> for Subscription {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self, Error> {
        Ok(Self {
            team: row.team_id.into(),
            plan: row.plan_id.into(),
            state: row.state.parse()?,
            started_at: row.started_at,
            past_due_since: row.past_due_since,
        })
    }
}
