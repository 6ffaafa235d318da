//! The subscription of a team, for operators: its plan, its state, and its billing periods.

use askama::Template;
use chrono::{DateTime, Utc};
use domain::id::TeamId;
use management::{
    Refused,
    plans::Plan,
    subscriptions::{self, Subscription, Wanted},
    teams::{self, Team},
    usage::{self, Period},
};

use crate::{
    number::grouped,
    page::{self, Answer, Frame, PageRequest, Problems},
    plans::{NO_SUCH_PLAN, offered_with},
    time,
};

#[derive(Template)]
#[template(path = "subscription.html")]
struct Shown {
    frame: Frame,
    team: Team,
    subscription: Subscription,
    plans: Vec<Plan>,
    /// What is in the form.
    plan: String,
    state: String,
    periods: Vec<Period>,
    problems: Problems,
}

fn used(used: i64, quota: Option<i64>) -> String {
    match quota {
        Some(quota) => format!("{} of {}", grouped(used), grouped(quota)),
        None => grouped(used),
    }
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    page(&request, Problems::default()).await
}

pub(crate) async fn change(request: PageRequest) -> Answer {
    let team = request.team()?;
    match replace(&request, team).await {
        Ok(()) => request.lead_to(format!(
            "teams/{team}/subscription?done=subscription-changed"
        )),
        Err(refused) => page(&request, Problems::of(refused)?).await,
    }
}

async fn replace(request: &PageRequest, team: TeamId) -> Result<(), Refused> {
    let wanted = Wanted {
        plan: request.form.choice("plan_id", NO_SUCH_PLAN)?,
        state: request.form.choice("state", "must be one of the states")?,
        started_at: moment(request.form.get("started_at"))?,
    };
    let caller = request.caller()?;
    subscriptions::replace(&caller, team, wanted).await?;
    Ok(())
}

/// A UTC time as browsers send it. An empty text is none.
fn moment(typed: &str) -> Result<Option<DateTime<Utc>>, Refused> {
    if typed.is_empty() {
        return Ok(None);
    }
    let wrong = || Refused::field("started_at", "must be a UTC time, such as 2030-12-31T08:00");
    time::moment(typed).map(Some).ok_or_else(wrong)
}

async fn page(request: &PageRequest, problems: Problems) -> Answer {
    let frame = Frame::of(request, "teams").await?;
    let (id, caller) = (request.team()?, request.caller()?);
    let subscription = subscriptions::get(&caller, id).await?;
    let periods = usage::periods(&caller, id).await?;
    let is_new = problems.are_none();
    let typed = |name: &str, now: String| {
        if is_new {
            now
        } else {
            request.form.get(name).to_owned()
        }
    };
    let page = Shown {
        frame,
        team: teams::get(&caller, id).await?,
        plans: offered_with(request, subscription.plan).await?,
        plan: typed("plan_id", subscription.plan.to_string()),
        state: typed("state", subscription.state.to_string()),
        subscription,
        periods,
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}
