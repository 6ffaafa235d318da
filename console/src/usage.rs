//! How much of its plan a team has used, and what the plan allows.

use askama::Template;
use chrono::{DateTime, TimeDelta, Utc};
use domain::{
    id::TeamId,
    plan::{PerMinute, SubscriptionState, TeamPerMinute},
    rate_limit::KEYS_OF_A_TEAM,
};
use management::{
    Refused,
    plans::{self, Plan, Terms},
    subscriptions::{self, Subscription},
    usage::{self, Period},
};

use crate::{
    number::{grouped, percent},
    page::{self, Answer, Frame, PageError, PageRequest},
};

/// How long submissions are still accepted when a subscription is past due, as the statement says that accepts them
/// (`crates/store/src/accept/insert.rs`).
const GRACE: TimeDelta = TimeDelta::days(7);

#[derive(Template)]
#[template(path = "usage.html")]
struct Usage {
    frame: Frame,
    state: State,
    /// The period that has not ended.
    current: Option<Row>,
    past: Vec<Row>,
    plan: Option<Terms>,
}

impl Usage {
    /// What all keys of the team together may submit in a minute.
    fn submissions_together(plan: &Terms) -> String {
        let named = plan.team_submissions_per_minute.map(TeamPerMinute::get);
        together(plan.submissions_per_minute, named)
    }

    /// How often all keys of the team together may ask for the status in a minute.
    fn status_queries_together(plan: &Terms) -> String {
        let named = plan.team_status_queries_per_minute.map(TeamPerMinute::get);
        together(plan.status_queries_per_minute, named)
    }
}

/// Whether submissions are accepted.
enum State {
    /// There is no subscription.
    Missing,
    /// It begins later.
    NotBegun(DateTime<Utc>),
    /// They are.
    Active,
    /// They are until this time.
    PastDue(DateTime<Utc>),
    /// They are not any more: the subscription is past due for too long.
    Overdue(DateTime<Utc>),
    /// They are not.
    Cancelled,
}

impl State {
    fn of(subscription: Option<&Subscription>) -> Self {
        let Some(subscription) = subscription else {
            return Self::Missing;
        };
        let now = Utc::now();
        match (subscription.state, subscription.past_due_since) {
            (SubscriptionState::Cancelled, _) => Self::Cancelled,
            _ if subscription.started_at > now => Self::NotBegun(subscription.started_at),
            (SubscriptionState::PastDue, Some(since)) if since + GRACE > now => {
                Self::PastDue(since + GRACE)
            }
            (SubscriptionState::PastDue, Some(since)) => Self::Overdue(since + GRACE),
            (SubscriptionState::Active | SubscriptionState::PastDue, _) => Self::Active,
        }
    }
}

/// A billing period.
struct Row {
    start: String,
    end: String,
    ends: DateTime<Utc>,
    submissions: Share,
    deliveries: Share,
}

impl From<Period> for Row {
    fn from(period: Period) -> Self {
        Self {
            start: day(period.start),
            end: day(period.end),
            ends: period.end,
            submissions: Share::of(period.submissions, period.quota),
            deliveries: Share::of(period.deliveries, period.delivery_quota),
        }
    }
}

/// How much of a quota was used.
struct Share {
    used: String,
    /// How much is allowed; none means no limit.
    quota: Option<String>,
    percent: i64,
    /// The colour of its bar.
    tone: &'static str,
}

impl Share {
    /// From here on, in percent, the bar warns.
    const MUCH: i64 = 80;

    fn of(used: i64, quota: Option<i64>) -> Self {
        let percent = quota.map_or(0, |quota| percent(used, quota));
        Self {
            used: grouped(used),
            quota: quota.map(grouped),
            percent,
            tone: match percent {
                100.. => "no",
                Self::MUCH..100 => "warn",
                _ => "",
            },
        }
    }
}

fn day(time: DateTime<Utc>) -> String {
    time.format("%-d %b %Y").to_string()
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    let team = request.team()?;
    let caller = request.caller()?;
    let mut periods = match usage::periods(&caller, team).await {
        Ok(periods) => periods.into_iter().map(Row::from).collect(),
        // A team without a subscription has none.
        Err(Refused::NotFound(_)) => Vec::new(),
        Err(other) => return Err(other.into()),
    }
    .into_iter();
    let plan = plan(&request, team).await?;
    Ok(page::shown(&Usage {
        frame: Frame::of(&request, "usage").await?,
        state: State::of(plan.as_ref().map(|(subscription, _)| subscription)),
        current: periods.next(),
        past: periods.collect(),
        plan: plan.map(|(_, plan)| plan.terms),
    }))
}

/// The subscription of a team and its plan, if it has one.
pub(crate) async fn plan(
    request: &PageRequest,
    team: TeamId,
) -> Result<Option<(Subscription, Plan)>, PageError> {
    let caller = request.caller()?;
    let subscription = match subscriptions::get(&caller, team).await {
        Ok(subscription) => subscription,
        Err(Refused::NotFound(_)) => return Ok(None),
        Err(other) => return Err(other.into()),
    };
    let plan = plans::get(&caller, subscription.plan).await?;
    Ok(Some((subscription, plan)))
}

/// What all keys of a team together may do in a minute.
fn together(one: PerMinute, named: Option<i64>) -> String {
    grouped(named.unwrap_or(one.get() * i64::from(KEYS_OF_A_TEAM)))
}
