//! Many at once: a lead looks at reviews that match a filter, and decides about those that are ticked, or about all that match.

mod form_values;

use std::ops::Range;

use askama::Template;
use chrono::{DateTime, Utc};
use domain::{chain::State, media::ContentType, review::Severity, score::Category};
use management::{
    media::explanation,
    review_policies::{self, ReviewPolicy},
    reviews::{
        ReviewView,
        bulk::{self, Bulk},
    },
    sites::{self, ManagedSite},
};

use self::form_values::wanted;
use super::{SITES, done};
use crate::{
    items::{
        image::{self, Picture},
        verdict_details, verdict_reason,
    },
    page::{self, Answer, Area, Form, Frame, PageRequest, Problems, Texts, pager},
    visible_text::VisibleText,
};

/// Fields of this page. What is wrong with anything else is told above the form.
const FIELDS: &[&str] = &["rule", "author", "policy_id", "reason", "typed"];

/// So many characters of each text are shown.
const SHOWN: usize = 1_000;

/// Bulk decisions that the page names.
const LAST: i64 = 5;

#[derive(Template)]
#[template(path = "desk/bulk.html")]
struct Many {
    frame: Frame,
    values: Texts,
    sites: Vec<ManagedSite>,
    policies: Vec<ReviewPolicy>,
    /// How many reviews match.
    count: usize,
    exceeds_most: bool,
    cards: Vec<Card>,
    last: Vec<Bulk>,
    problems: Problems,
}

/// A review that would be decided.
struct Card {
    id: String,
    /// The path of the item.
    item: String,
    severity: Severity,
    site: String,
    waiting: DateTime<Utc>,
    said: Option<VisibleText>,
    image: Option<Picture>,
    unseen: Option<String>,
    sentence: Option<VisibleText>,
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    form(&request, &request.query, Problems::default()).await
}

/// Starts a bulk decision, and leads to its progress.
pub(crate) async fn create(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let created = match wanted(&request.form) {
        Ok((new, meant)) => bulk::create(&caller, new, &meant).await,
        Err(refused) => Err(refused),
    };
    match created {
        Ok(made) => request.lead_to(format!("desk/bulk/{}", made.id)),
        Err(refused) => form(&request, &request.form, Problems::of(refused)?).await,
    }
}

/// Counts an unveiled picture. A script tells of it.
pub(crate) async fn unveil(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    bulk::unveil(&caller).await?;
    Ok(done())
}

/// The page for a filter, with what is wrong with what was sent.
async fn form(request: &PageRequest, sent: &Form, mut problems: Problems) -> Answer {
    let caller = request.caller()?;
    // A filter that means nothing does not make the page an error.
    let status = problems.status();
    let values = form_values::sent(sent);
    let filter = match form_values::filter(&values) {
        Ok(filter) => filter,
        Err(wrong) => {
            problems = Problems::of(wrong)?;
            bulk::Filter::default()
        }
    };
    let preview = bulk::preview(&caller, &filter).await?;
    let frame = Frame::of(request, "desk").await?;
    let sites = sites::list(&caller, pager::first(SITES)).await?;
    let last = bulk::list(&caller, pager::first(LAST)).await?;
    let page = Many {
        values,
        sites,
        policies: review_policies::of_team(&caller).await?,
        count: preview.count,
        exceeds_most: preview.is_too_many,
        cards: preview
            .shown
            .into_iter()
            .map(|shown| Card::new(frame.at, shown))
            .collect(),
        last,
        frame,
        problems,
    };
    Ok(page::html(status, &page))
}

/// The beginning of a text. The page of the item has all of it.
fn beginning(text: &str, marked: &[Range<usize>]) -> VisibleText {
    let end = text.char_indices().nth(SHOWN).map(|(end, _)| end);
    VisibleText {
        is_cut: end.is_some(),
        ..VisibleText::new(&text[..end.unwrap_or(text.len())], marked)
    }
}

impl Card {
    fn new(team: Area, shown: ReviewView) -> Self {
        let ReviewView { review, unseen, .. } = shown;
        let machine = review.machine.as_ref();
        let why = machine.and_then(explanation::of);
        let places = verdict_details::places(why.as_ref());
        Self {
            id: review.id.to_string(),
            item: team.path(&format!("items/{}", review.media)),
            severity: review.severity,
            waiting: review.waiting_since,
            said: review.body.as_deref().map(|text| beginning(text, &places)),
            image: image::of(review.content_type, review.image.as_ref()),
            unseen: unseen
                .filter(|_| review.content_type == ContentType::Image)
                .map(|unseen| unseen.to_string()),
            sentence: machine
                .map(|machine| VisibleText::new(&verdict_reason::of(machine, why.as_ref()), &[])),
            site: review.site_name,
        }
    }
}

#[derive(Template)]
#[template(path = "desk/bulk_progress.html")]
struct Progress {
    frame: Frame,
    /// What the application is told.
    reason: VisibleText,
    row: Bulk,
}

fn tone(state: State) -> &'static str {
    match state {
        State::Running => "",
        State::Finished => "ok",
        State::Cancelled => "warn",
        State::Failed => "no",
    }
}

/// How much was looked at.
fn percent(bulk: &Bulk) -> i32 {
    let looked_at = bulk.done.saturating_add(bulk.skipped);
    let percent = looked_at.saturating_mul(100).checked_div(bulk.total);
    percent.unwrap_or(100)
}

pub(crate) async fn progress(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let found = bulk::get(&caller, request.id("bulk")?).await?;
    Ok(page::shown(&Progress {
        frame: Frame::of(&request, "desk").await?,
        reason: VisibleText::new(&found.reason, &[]),
        row: found,
    }))
}

pub(crate) async fn undo(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let undone = bulk::cancel(&caller, request.id("bulk")?).await?;
    request.lead_to(format!("desk/bulk/{}?done=bulk-undone", undone.id))
}
