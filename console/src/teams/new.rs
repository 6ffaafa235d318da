//! A new team, with its plan.

use std::sync::Arc;

use askama::Template;
use domain::{id::PlanId, name::Name, scope::Scope};
use management::{
    Refused,
    plans::Plan,
    teams::{self, Team},
};
use poem::http::StatusCode;

use crate::{
    page::{self, Area, Frame},
    plans,
    problems::Problems,
    router::Answer,
    request::PageRequest,
};

#[derive(Template)]
#[template(path = "teams/new.html")]
struct New<'a> {
    frame: Frame,
    plans: Vec<Plan>,
    name: &'a str,
    /// The plan that was chosen. Empty: the one of every new database.
    plan: &'a str,
    problems: Problems,
}

pub(crate) async fn show(visit: Arc<PageRequest>) -> Answer {
    form(&visit, StatusCode::OK, Problems::default()).await
}

pub(crate) async fn create(visit: Arc<PageRequest>) -> Answer {
    let frame = Frame::of(&visit, Area::Instance, "teams").await?;
    frame.require(Scope::TeamsWrite)?;
    match team(&visit).await {
        Ok(team) => {
            let path = Area::Instance.path(&format!("teams/{}", team.id));
            Ok(page::see_other(format!("{path}?done=team-created")))
        }
        Err(refused) => {
            let problems = Problems::of(refused)?;
            form(&visit, StatusCode::UNPROCESSABLE_ENTITY, problems).await
        }
    }
}

async fn team(visit: &PageRequest) -> Result<Team, Refused> {
    let name = visit.form.get("name").trim().parse::<Name>();
    let name = name.map_err(|wrong| Refused::field("name", wrong.to_string()))?;
    let plan = match visit.form.get("plan_id") {
        "" => None,
        plan => Some(plans::id(plan)?),
    };
    let caller = visit.caller(None)?;
    teams::create(&visit.management, &caller, &name, plan).await
}

async fn form(visit: &PageRequest, status: StatusCode, problems: Problems) -> Answer {
    let frame = Frame::of(visit, Area::Instance, "teams").await?;
    let frame = frame.require(Scope::TeamsWrite)?;
    let page = New {
        plans: plans::offered(visit).await?,
        frame,
        name: visit.form.get("name"),
        plan: visit.form.get("plan_id"),
        problems,
    };
    Ok(page::html(status, &page))
}

/// Whether a plan is the one that was typed or chosen.
fn is_chosen(plan: &PlanId, chosen: &str) -> bool {
    chosen.parse() == Ok(*plan)
}
