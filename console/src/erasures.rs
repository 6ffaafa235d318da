//! Erasures of a team: the list, and a new one.

pub(crate) mod erasure;
mod form_values;

use std::sync::Arc;

use askama::Template;
use domain::{
    chain::State,
    erasure::SubjectKind,
    id::{ErasureId, TeamId},
    scope::Scope,
};
use management::{
    Refused,
    erasures::{self, Erasure},
    sites::{self, ManagedSite},
};
use poem::http::StatusCode;

use self::form_values::{FIELDS, Values};
use crate::{
    number::grouped,
    page::{self, Area, Frame, pager},
    problems::Problems,
    request::PageRequest,
    router::Answer,
    time::Moment,
};

/// What a person types to start an erasure.
const PROOF: &str = "erase";

/// The sites that the form offers.
const SITES: u16 = 100;

#[derive(Template)]
#[template(path = "erasures.html")]
struct List<'a> {
    frame: Frame,
    team: Area,
    rows: Vec<Row>,
    next: Option<String>,
    /// Whether the person may start one.
    may_erase: bool,
    sites: Vec<ManagedSite>,
    values: Values<'a>,
    problems: Problems,
}

/// An erasure, as lists show it.
struct Row {
    id: ErasureId,
    kind: &'static str,
    state: State,
    items: String,
    started: Moment,
    ended: Option<Moment>,
}

impl From<&Erasure> for Row {
    fn from(erasure: &Erasure) -> Self {
        Self {
            id: erasure.id,
            kind: words(erasure.kind),
            state: erasure.state,
            items: grouped(erasure.counts.items),
            started: erasure.created_at.into(),
            ended: erasure.ended_at.map(Moment::from),
        }
    }
}

/// How items were chosen, in words.
fn words(kind: SubjectKind) -> &'static str {
    match kind {
        SubjectKind::MediaIds => "items by their ids",
        SubjectKind::AppMediaIds => "items by the application’s ids",
        SubjectKind::Author => "the items of an author",
        SubjectKind::Metadata => "items with a value in their metadata",
        SubjectKind::Everything => "all items",
    }
}

pub(crate) async fn list(request: Arc<PageRequest>) -> Answer {
    page(&request, StatusCode::OK, Problems::default()).await
}

pub(crate) async fn create(request: Arc<PageRequest>) -> Answer {
    let team = request.team()?;
    let frame = Frame::of(&request, Area::Team(team), "erasures").await?;
    frame.require(Scope::ErasuresWrite)?;
    match start(&request, team).await {
        Ok(erasure) => {
            let place = format!("erasures/{}?done=erasure-started", erasure.id);
            Ok(page::see_other(Area::Team(team).path(&place)))
        }
        Err(refused) => {
            let problems = Problems::of(refused)?;
            page(&request, StatusCode::UNPROCESSABLE_ENTITY, problems).await
        }
    }
}

async fn start(request: &PageRequest, team: TeamId) -> Result<Erasure, Refused> {
    let wanted = Values::of(&request.form).read(team)?;
    if request.form.get("typed") != PROOF {
        return Err(Refused::field("typed", format!("must be the word {PROOF}")));
    }
    let caller = request.caller(Some(team))?;
    erasures::create(&request.management, &caller, &wanted).await
}

async fn page(request: &PageRequest, status: StatusCode, problems: Problems) -> Answer {
    let team = request.team()?;
    let frame = Frame::of(request, Area::Team(team), "erasures").await?;
    let caller = request.caller(Some(team))?;
    let listed = erasures::list(&request.management, &caller, pager::asked(request)).await?;
    let first = sites::Page {
        after: None,
        limit: SITES.into(),
    };
    let page = List {
        rows: listed.iter().map(Row::from).collect(),
        next: pager::next(request, &listed, |erasure| erasure.id),
        may_erase: frame.may(Scope::ErasuresWrite),
        sites: sites::list(&request.management, &caller, first).await?,
        frame,
        team: Area::Team(team),
        values: Values::of(&request.form),
        problems,
    };
    Ok(page::html(status, &page))
}
