//! The review desk: how much waits, the way to the next review, and how much people have seen.

pub(crate) mod bulk;
pub(crate) mod reports;
pub(crate) mod review;

use std::collections::HashMap;

use askama::Template;
use chrono::{DateTime, Utc};
use domain::{
    id::{ReviewId, SiteId},
    review::{Severity, Tier},
    scope::Scope,
};
use management::{
    Conflict, Noun, Refused,
    reviews::{self, Exposure, Waiting},
    sites,
};
use poem::{Response, http::StatusCode};

use crate::page::{self, Answer, Frame, PageError, PageRequest, pager};

/// Sites whose names are known.
const SITES: i64 = 200;

#[derive(Template)]
#[template(path = "desk.html")]
struct Start {
    frame: Frame,
    rows: Vec<Row>,
    total: i64,
    overdue: i64,
    /// What was decided last, and can be undone for a while.
    held: Option<Held>,
    /// Whether the person has just looked for a review, and there was none.
    is_empty: bool,
}

/// What waits of one site and severity.
struct Row {
    site: String,
    severity: Severity,
    for_leads: bool,
    reviews: i64,
    overdue: i64,
    oldest: DateTime<Utc>,
}

/// A decision that the page before sent.
struct Held {
    review: ReviewId,
    said: &'static str,
}

impl Held {
    /// The one that the address names. It has only an id and one of two words, so nobody can make a page say something else.
    fn of(request: &PageRequest) -> Option<Self> {
        let said = match request.query.get("as") {
            "approve" => "Approved.",
            "reject" => "Rejected.",
            _ => return None,
        };
        let review: uuid::Uuid = request.query.get("decided").parse().ok()?;
        Some(Self {
            review: review.into(),
            said,
        })
    }
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let waiting = reviews::waiting(&caller).await?;
    let sites = sites::list(&caller, pager::first(SITES)).await?;
    let names: HashMap<SiteId, String> = sites
        .into_iter()
        .map(|site| (site.id, site.settings.name))
        .collect();
    let page = Start {
        frame: Frame::of(&request, "desk").await?,
        total: waiting.iter().map(|part| part.reviews).sum(),
        overdue: waiting.iter().map(|part| part.overdue).sum(),
        rows: waiting.iter().map(|part| Row::new(part, &names)).collect(),
        held: Held::of(&request),
        is_empty: request.query.has("empty"),
    };
    Ok(page::shown(&page))
}

pub(crate) async fn claim(request: PageRequest) -> Answer {
    next(&request, "").await
}

/// Leads to the next review, or to the start if none is left. `query` says what was done.
async fn next(request: &PageRequest, query: &str) -> Answer {
    let caller = request.caller()?;
    let claimed = reviews::claim(&caller, 1).await?;
    let place = match claimed.first() {
        Some(shown) => format!("desk/{}?{query}", shown.review.id),
        None => format!("desk?empty=yes&{query}"),
    };
    request.lead_to(place.trim_end_matches(['?', '&']))
}

/// The answer to a script, which shows nothing.
fn done() -> Response {
    Response::builder().status(StatusCode::NO_CONTENT).finish()
}

/// Whether a review is not the person's any more, which happens to everybody: somebody else decided, or it took too long.
fn is_lost(refused: &Refused) -> bool {
    matches!(
        refused,
        Refused::NotFound(Noun::Review)
            | Refused::Conflict(Conflict::ReviewNotYours | Conflict::ReviewDecided, _)
    )
}

impl Row {
    fn new(part: &Waiting, names: &HashMap<SiteId, String>) -> Self {
        let site = names.get(&part.site).cloned();
        Self {
            site: site.unwrap_or_else(|| part.site.to_string()),
            severity: part.severity,
            for_leads: part.tier == Tier::Leads,
            reviews: part.reviews,
            overdue: part.overdue,
            oldest: part.oldest,
        }
    }
}

impl Start {
    /// Leads decide what moderators pass up.
    fn has_leads(&self) -> bool {
        self.rows.iter().any(|row| row.for_leads)
    }
}

pub(crate) fn tone(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "no",
        Severity::High => "warn",
        Severity::Normal | Severity::Low => "",
    }
}

/// An error that leads on to the next review, if the review is lost; else the error itself.
async fn lost_or(request: &PageRequest, refused: Refused) -> Answer {
    if is_lost(&refused) {
        return next(request, "lost=yes").await;
    }
    Err(PageError::Refused(refused))
}

#[derive(Template)]
#[template(path = "desk/exposure.html")]
struct Seen {
    frame: Frame,
    rows: Vec<Exposure>,
    is_complete: bool,
}

impl Seen {
    fn is_everybody(&self) -> bool {
        self.frame.may(Scope::ReviewsManage)
    }
}

pub(crate) async fn exposure(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let exposures = reviews::exposures(&caller, None, None).await?;
    Ok(page::shown(&Seen {
        frame: Frame::of(&request, "desk").await?,
        rows: exposures.rows,
        is_complete: exposures.is_complete,
    }))
}
