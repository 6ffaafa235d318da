//! Closures of a team, or of all teams: the list, and a new one.

pub(crate) mod closure;

use std::sync::Arc;

use askama::Template;
use domain::{
    closure::{ClosureState, GraceDays, WaitsFor},
    id::ClosureId,
    scope::Scope,
};
use management::{
    Refused,
    closures::{self, Closure, Wanted, What},
    sites::{self, ManagedSite},
    teams,
};
use poem::http::StatusCode;

use crate::{
    page::{self, Area, Frame, pager},
    problems::Problems,
    request::PageRequest,
    router::Answer,
    time::Moment,
};

/// Fields that can have problems beside them.
const FIELDS: &[&str] = &["what", "name", "grace_days"];

/// The sites that the form offers.
const SITES: u16 = 100;

/// What the form offers to close as a whole.
const TEAM: &str = "team";

#[derive(Template)]
#[template(path = "closures.html")]
struct List<'a> {
    frame: Frame,
    at: Area,
    rows: Vec<Row>,
    next: Option<String>,
    /// What can be closed; none if the person may not, or if there is nothing.
    offer: Option<Offer>,
    what: &'a str,
    name: &'a str,
    grace: &'a str,
    problems: Problems,
}

/// What the form offers.
struct Offer {
    team: String,
    team_name: String,
    sites: Vec<ManagedSite>,
}

/// A closure, as lists show it.
struct Row {
    id: ClosureId,
    what: &'static str,
    name: String,
    state: ClosureState,
    waits_for: Option<&'static str>,
    started: Moment,
    erases: Moment,
    ended: Option<Moment>,
}

impl From<&Closure> for Row {
    fn from(closure: &Closure) -> Self {
        Self {
            id: closure.id,
            what: if closure.site.is_some() {
                "the site"
            } else {
                "the whole team"
            },
            name: closure.name.clone(),
            state: closure.state,
            waits_for: closure.waits_for.map(words),
            started: closure.created_at.into(),
            erases: closure.erase_at.into(),
            ended: closure.ended_at.map(Moment::from),
        }
    }
}

/// What a closure waits for, in words.
fn words(waits_for: WaitsFor) -> &'static str {
    match waits_for {
        WaitsFor::LegalHold => "a legal hold to be lifted; it looks once a day",
        WaitsFor::OtherErasures => "other erasures of the team",
        WaitsFor::FailedErasure => {
            "its erasure that has failed to be continued; it looks once an hour"
        }
    }
}

pub(crate) async fn list(request: Arc<PageRequest>) -> Answer {
    page(&request, StatusCode::OK, Problems::default()).await
}

pub(crate) async fn create(request: Arc<PageRequest>) -> Answer {
    let at = request.at()?;
    let frame = Frame::of(&request, at, "closures").await?;
    frame.require(Scope::ClosuresWrite)?;
    match start(&request, at).await {
        Ok(closure) => {
            let place = format!("closures/{}?done=closure-started", closure.id);
            Ok(page::see_other(at.path(&place)))
        }
        Err(refused) => {
            let problems = Problems::of(refused)?;
            page(&request, StatusCode::UNPROCESSABLE_ENTITY, problems).await
        }
    }
}

async fn start(request: &PageRequest, at: Area) -> Result<Closure, Refused> {
    let unknown = || Refused::field("what", "must be one of those that are offered");
    let what = match (request.form.get("what"), at) {
        (TEAM, Area::Team(team)) => What::Team(team),
        (TEAM, _) => {
            let team = request.form.get("team").parse();
            What::Team(team.map_err(|_| unknown())?)
        }
        (site, _) => What::Site(site.parse().map_err(|_| unknown())?),
    };
    let grace = request.form.get("grace_days").trim().parse::<GraceDays>();
    let wanted = Wanted {
        what,
        name: request.form.get("name").to_owned(),
        grace: grace.map_err(|wrong| Refused::field("grace_days", wrong.to_string()))?,
    };
    let caller = request.caller(at.team())?;
    closures::create(&request.management, &caller, &wanted).await
}

async fn page(request: &PageRequest, status: StatusCode, problems: Problems) -> Answer {
    let at = request.at()?;
    let frame = Frame::of(request, at, "closures").await?;
    let caller = request.caller(at.team())?;
    let listed = closures::list(&request.management, &caller, pager::asked(request)).await?;
    let (form, is_new) = (&request.form, status == StatusCode::OK);
    let page = List {
        rows: listed.iter().map(Row::from).collect(),
        next: pager::next(request, &listed, |closure| closure.id),
        offer: if frame.may(Scope::ClosuresWrite) {
            offer(request, at).await?
        } else {
            None
        },
        frame,
        at,
        what: if is_new {
            request.query.get("site")
        } else {
            form.get("what")
        },
        name: form.get("name"),
        grace: if is_new { "30" } else { form.get("grace_days") },
        problems,
    };
    Ok(page::html(status, &page))
}

/// The team of the page with its sites; for an operator, the team that is named.
async fn offer(request: &PageRequest, at: Area) -> Result<Option<Offer>, Refused> {
    let named = [&request.query, &request.form].map(|values| values.get("team").parse().ok());
    let Some(team) = at.team().or(named[0]).or(named[1]) else {
        return Ok(None);
    };
    let caller = request.caller(at.team())?;
    let found = teams::get(&request.management, &caller, team).await?;
    let first = sites::Page {
        after: None,
        limit: SITES.into(),
    };
    let sites = match at {
        Area::Team(_) => sites::list(&request.management, &caller, first).await?,
        Area::Instance | Area::Own => Vec::new(),
    };
    Ok(Some(Offer {
        team: team.to_string(),
        team_name: found.name,
        sites: sites
            .into_iter()
            .filter(|site| site.closure.is_none())
            .collect(),
    }))
}
