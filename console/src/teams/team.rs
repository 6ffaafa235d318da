//! A team, as operators see it: its name, its subscription, and its first owner.

use std::sync::Arc;

use askama::Template;
use domain::{name::Name, role::Role, scope::Scope};
use management::{
    Refused, people, plans,
    subscriptions::{self, Subscription},
    teams::{self, Team},
};
use poem::http::StatusCode;

use crate::{
    page::{self, Area, Frame},
    problems::Problems,
    request::PageRequest,
    router::Answer,
    time::Moment,
};

#[derive(Template)]
#[template(path = "teams/team.html")]
struct Shown {
    frame: Frame,
    team: Team,
    created: Moment,
    subscription: Subscription,
    plan: String,
    since: Moment,
    past_due: Option<Moment>,
    /// Where the person gets into the team, and as what. None if they are not in it.
    own: Option<(String, Role)>,
    /// Nobody can invite people into the team yet.
    has_no_owner: bool,
    /// The name in the form.
    name: String,
    problems: Problems,
}

pub(crate) async fn show(request: Arc<PageRequest>) -> Answer {
    page(&request, StatusCode::OK, Problems::default()).await
}

pub(crate) async fn rename(request: Arc<PageRequest>) -> Answer {
    let frame = Frame::of(&request, Area::Instance, "teams").await?;
    frame.require(Scope::TeamsWrite)?;
    match renamed(&request).await {
        Ok(team) => {
            let path = Area::Instance.path(&format!("teams/{}", team.id));
            Ok(page::see_other(format!("{path}?done=team-renamed")))
        }
        Err(refused) => {
            let problems = Problems::of(refused)?;
            page(&request, StatusCode::UNPROCESSABLE_ENTITY, problems).await
        }
    }
}

async fn renamed(request: &PageRequest) -> Result<Team, Refused> {
    let team = request
        .team()
        .map_err(|_| Refused::NotFound(management::Noun::Team))?;
    let name = request.form.get("name").trim().parse::<Name>();
    let name = name.map_err(|wrong| Refused::field("name", wrong.to_string()))?;
    let caller = request.caller(None)?;
    teams::update(&request.management, &caller, team, |_| Some(name)).await
}

async fn page(request: &PageRequest, status: StatusCode, problems: Problems) -> Answer {
    let frame = Frame::of(request, Area::Instance, "teams").await?;
    let (id, caller) = (request.team()?, request.caller(None)?);
    let team = teams::get(&request.management, &caller, id).await?;
    let subscription = subscriptions::get(&request.management, &caller, id).await?;
    let plan = plans::get(&request.management, &caller, subscription.plan).await?;
    let without = people::without_owner(&request.management, &caller, &[id]).await?;
    let name = if status == StatusCode::OK {
        team.name.clone()
    } else {
        request.form.get("name").to_owned()
    };
    let page = Shown {
        own: frame.role_in(Area::Team(team.id)),
        frame,
        created: team.created_at.into(),
        plan: plan.terms.name.into(),
        since: subscription.started_at.into(),
        past_due: subscription.past_due_since.map(Moment::from),
        has_no_owner: !without.is_empty(),
        team,
        subscription,
        name,
        problems,
    };
    Ok(page::html(status, &page))
}
