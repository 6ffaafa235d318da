//! The teams of the instance, for operators: the list, a new one with its plan, and one with its subscription and its first owner.

use askama::Template;
use domain::{id::PlanId, name::Name, role::Role};
use management::{
    Refused, people,
    plans::{self, Plan},
    subscriptions::{self, Subscription},
    teams::{self, Team},
};

use crate::{
    page::{self, Answer, Area, Frame, PageRequest, Problems, pager},
    plans::{NO_SUCH_PLAN, offered},
};

#[derive(Template)]
#[template(path = "teams.html")]
struct List {
    frame: Frame,
    rows: Vec<Team>,
    next: Option<String>,
}

pub(crate) async fn list(request: PageRequest) -> Answer {
    let frame = Frame::of(&request, "teams").await?;
    let caller = request.caller()?;
    let listed = teams::list(&caller, pager::asked(&request)).await?;
    Ok(page::shown(&List {
        next: pager::next(&request, &listed, |team| team.id),
        rows: listed,
        frame,
    }))
}

#[derive(Template)]
#[template(path = "teams/new.html")]
struct New {
    frame: Frame,
    plans: Vec<Plan>,
    problems: Problems,
}

pub(crate) async fn new(request: PageRequest) -> Answer {
    form(&request, Problems::default()).await
}

pub(crate) async fn create(request: PageRequest) -> Answer {
    match team(&request).await {
        Ok(team) => request.lead_to(format!("teams/{}?done=team-created", team.id)),
        Err(refused) => form(&request, Problems::of(refused)?).await,
    }
}

async fn team(request: &PageRequest) -> Result<Team, Refused> {
    let name: Name = request.form.read("name")?;
    let plan = request.form.optional_choice("plan_id", NO_SUCH_PLAN)?;
    let caller = request.caller()?;
    teams::create(&caller, &name, plan).await
}

async fn form(request: &PageRequest, problems: Problems) -> Answer {
    let frame = Frame::of(request, "teams").await?;
    let page = New {
        plans: offered(request).await?,
        frame,
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}

/// Whether a plan is the one that was typed or chosen.
fn is_chosen(plan: &PlanId, chosen: &str) -> bool {
    chosen.parse() == Ok(*plan)
}

#[derive(Template)]
#[template(path = "teams/team.html")]
struct Shown {
    frame: Frame,
    team: Team,
    subscription: Subscription,
    plan: String,
    /// Where the person gets into the team, and as what. None if they are not in it.
    own: Option<(String, Role)>,
    /// Nobody can invite people into the team yet.
    has_no_owner: bool,
    name: String,
    problems: Problems,
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    page(&request, Problems::default()).await
}

pub(crate) async fn rename(request: PageRequest) -> Answer {
    match renamed(&request).await {
        Ok(team) => request.lead_to(format!("teams/{}?done=team-renamed", team.id)),
        Err(refused) => page(&request, Problems::of(refused)?).await,
    }
}

async fn renamed(request: &PageRequest) -> Result<Team, Refused> {
    let team = request
        .team()
        .map_err(|_| Refused::NotFound(management::Noun::Team))?;
    let name: Name = request.form.read("name")?;
    let caller = request.caller()?;
    teams::update(&caller, team, |_| Some(name)).await
}

async fn page(request: &PageRequest, problems: Problems) -> Answer {
    let frame = Frame::of(request, "teams").await?;
    let (id, caller) = (request.team()?, request.caller()?);
    let team = teams::get(&caller, id).await?;
    let subscription = subscriptions::get(&caller, id).await?;
    let plan = plans::get(&caller, subscription.plan).await?;
    let without = people::without_owner(&caller, &[id]).await?;
    let name = if problems.are_none() {
        team.name.clone()
    } else {
        request.form.get("name").to_owned()
    };
    let page = Shown {
        own: frame.role_in(Area::Team(team.id)),
        frame,
        plan: plan.terms.name.into(),
        has_no_owner: !without.is_empty(),
        team,
        subscription,
        name,
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}
