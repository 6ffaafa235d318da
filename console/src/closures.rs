//! Closures of a team, or of all teams: the list, a new one, how far one has got, and cancelling it.

use askama::Template;
use domain::{
    closure::{ClosureState, WaitsFor},
    id::ClosureId,
    scope::Scope,
};
use management::{
    Refused,
    closures::{self, Closure, Wanted, What},
    sites::{self, ManagedSite},
    teams,
};

use crate::page::{self, Answer, Area, Frame, PageRequest, Problems, pager};

/// Fields that can have problems beside them.
const FIELDS: &[&str] = &["what", "name", "grace_days"];

/// The sites that the form offers.
const SITES: i64 = 100;

/// What the form offers to close as a whole.
const TEAM: &str = "team";

#[derive(Template)]
#[template(path = "closures.html")]
struct List<'a> {
    frame: Frame,
    rows: Vec<Closure>,
    next: Option<String>,
    /// What can be closed; none if the person may not, or if there is nothing.
    offer: Option<Offer>,
    what: &'a str,
    grace: &'a str,
    problems: Problems,
}

struct Offer {
    team: String,
    team_name: String,
    sites: Vec<ManagedSite>,
}

/// What is closed, in words.
fn what(closure: &Closure) -> &'static str {
    match closure.site {
        Some(_) => "the site",
        None => "the whole team",
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

pub(crate) async fn list(request: PageRequest) -> Answer {
    page(&request, Problems::default()).await
}

pub(crate) async fn create(request: PageRequest) -> Answer {
    let at = request.at()?;
    match start(&request, at).await {
        Ok(closure) => request.lead_to(format!("closures/{}?done=closure-started", closure.id)),
        Err(refused) => page(&request, Problems::of(refused)?).await,
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
    let wanted = Wanted {
        what,
        name: request.form.get("name").to_owned(),
        grace: request.form.read("grace_days")?,
    };
    let caller = request.caller()?;
    closures::create(&caller, &wanted).await
}

async fn page(request: &PageRequest, problems: Problems) -> Answer {
    let frame = Frame::of(request, "closures").await?;
    let caller = request.caller()?;
    let listed = closures::list(&caller, pager::asked(request)).await?;
    let (form, is_new) = (&request.form, problems.are_none());
    let page = List {
        next: pager::next(request, &listed, |closure| closure.id),
        rows: listed,
        offer: if frame.may(Scope::ClosuresWrite) {
            offer(request, frame.at).await?
        } else {
            None
        },
        frame,
        what: if is_new {
            request.query.get("site")
        } else {
            form.get("what")
        },
        grace: if is_new { "30" } else { form.get("grace_days") },
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}

/// The team of the page with its sites; for an operator, the team that is named.
async fn offer(request: &PageRequest, at: Area) -> Result<Option<Offer>, Refused> {
    let named = [&request.query, &request.form].map(|values| values.get("team").parse().ok());
    let Some(team) = at.team().or(named[0]).or(named[1]) else {
        return Ok(None);
    };
    let caller = request.caller()?;
    let found = teams::get(&caller, team).await?;
    let sites = match at {
        Area::Team(_) => sites::list(&caller, pager::first(SITES)).await?,
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

#[derive(Template)]
#[template(path = "closures/closure.html")]
struct Shown {
    frame: Frame,
    row: Closure,
    may_cancel: bool,
    may_resume: bool,
    may_export: bool,
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    let frame = Frame::of(&request, "closures").await?;
    let caller = request.caller()?;
    let id: ClosureId = request.id("closure")?;
    let closure = closures::get(&caller, id).await?;
    let may = frame.may(Scope::ClosuresWrite);
    Ok(page::shown(&Shown {
        may_cancel: may && closure.state == ClosureState::Grace,
        may_resume: may && closure.state == ClosureState::Failed,
        may_export: frame.may(Scope::SitesExport) && closure.state == ClosureState::Grace,
        frame,
        row: closure,
    }))
}

pub(crate) async fn cancel(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let id: ClosureId = request.id("closure")?;
    closures::cancel(&caller, id).await?;
    request.lead_to(format!("closures/{id}?done=closure-cancelled"))
}

pub(crate) async fn resume(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let id: ClosureId = request.id("closure")?;
    closures::resume(&caller, id).await?;
    request.lead_to(format!("closures/{id}?done=closure-resumed"))
}
