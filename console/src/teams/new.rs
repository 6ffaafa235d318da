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
    request::PageRequest,
    router::Answer,
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

pub(crate) async fn show(request: Arc<PageRequest>) -> Answer {
    form(&request, StatusCode::OK, Problems::default()).await
}

pub(crate) async fn create(request: Arc<PageRequest>) -> Answer {
    let frame = Frame::of(&request, Area::Instance, "teams").await?;
    frame.require(Scope::TeamsWrite)?;
    match team(&request).await {
        Ok(team) => {
            let path = Area::Instance.path(&format!("teams/{}", team.id));
            Ok(page::see_other(format!("{path}?done=team-created")))
        }
        Err(refused) => {
            let problems = Problems::of(refused)?;
            form(&request, StatusCode::UNPROCESSABLE_ENTITY, problems).await
        }
    }
}

async fn team(request: &PageRequest) -> Result<Team, Refused> {
    let name = request.form.get("name").trim().parse::<Name>();
    let name = name.map_err(|wrong| Refused::field("name", wrong.to_string()))?;
    let plan = match request.form.get("plan_id") {
        "" => None,
        plan => Some(plans::id(plan)?),
    };
    let caller = request.caller(None)?;
    teams::create(&request.management, &caller, &name, plan).await
}

async fn form(request: &PageRequest, status: StatusCode, problems: Problems) -> Answer {
    let frame = Frame::of(request, Area::Instance, "teams").await?;
    let frame = frame.require(Scope::TeamsWrite)?;
    let page = New {
        plans: plans::offered(request).await?,
        frame,
        name: request.form.get("name"),
        plan: request.form.get("plan_id"),
        problems,
    };
    Ok(page::html(status, &page))
}

/// Whether a plan is the one that was typed or chosen.
fn is_chosen(plan: &PlanId, chosen: &str) -> bool {
    chosen.parse() == Ok(*plan)
}
