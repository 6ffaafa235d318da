//! Backtests of a group: the list, a new one, one with its findings, and cancelling it.

use askama::Template;
use chrono::{DateTime, Utc};
use domain::{
    backtest::{Agreement, Count, Decided},
    chain::State,
    media::Status,
};
use management::{
    Noun, Refused,
    rule_groups::{
        backtests::{self, Backtest, Change, NewBacktest},
        versions::ListedVersion,
    },
    sites::{self, ManagedSite},
};

use super::{
    names::People,
    page_header::{self, Head, Tab},
    versions::choices,
};
use crate::{
    page::{self, Answer, Frame, PageError, PageRequest, Problems, pager},
    rules::trial::tone,
    time,
};

/// Sites that are offered.
const SITES: i64 = 200;

/// A backtest in a list.
struct Row {
    backtest: Backtest,
    is_running: bool,
    tone: &'static str,
    percent: i64,
    started: DateTime<Utc>,
    by: String,
}

impl Row {
    fn new(backtest: Backtest, people: &People) -> Self {
        Self {
            is_running: backtest.state == State::Running,
            tone: match backtest.state {
                State::Running => "",
                State::Finished => "ok",
                State::Cancelled => "warn",
                State::Failed => "no",
            },
            // A backtest of nothing is done.
            percent: (backtest.looked_at * 100)
                .checked_div(backtest.total)
                .unwrap_or(100),
            started: backtest.created_at,
            by: people.name(backtest.created_by),
            backtest,
        }
    }
}

#[derive(Template)]
#[template(path = "rules/backtests.html")]
struct List {
    frame: Frame,
    head: Head,
    backtests: Vec<Row>,
    next: Option<String>,
    versions: Vec<ListedVersion>,
    sites: Vec<ManagedSite>,
    problems: Problems,
}

#[derive(Template)]
#[template(path = "rules/backtest.html")]
struct One {
    frame: Frame,
    head: Head,
    row: Row,
    findings: Findings,
    changes: Vec<Change>,
    next: Option<String>,
}

pub(crate) async fn list(request: PageRequest) -> Answer {
    page(&request, Problems::default()).await
}

pub(crate) async fn create(request: PageRequest) -> Answer {
    match start(&request).await {
        Ok(started) => led(&request, &started, "backtest-started"),
        Err(refused) => page(&request, Problems::of(refused)?).await,
    }
}

async fn page(request: &PageRequest, problems: Problems) -> Answer {
    let caller = request.caller()?;
    let (group, asked) = (request.id("group")?, pager::asked(request));
    let listed = backtests::list(&caller, group, asked).await?;
    let versions = choices(request, &caller).await?;
    let sites = sites::list(&caller, pager::first(SITES)).await?;
    let people = People::of(&caller).await?;
    let (frame, head) = page_header::open(request, &caller, Tab::Backtests).await?;
    let next = pager::next(request, &listed, |backtest| backtest.id);
    let page = List {
        frame,
        head,
        next,
        backtests: listed
            .into_iter()
            .map(|backtest| Row::new(backtest, &people))
            .collect(),
        versions,
        sites,
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let id = request.id("backtest")?;
    let report = backtests::get(&caller, id).await?;
    let (frame, head) = page_header::open(&request, &caller, Tab::Backtests).await?;
    // The address names another group than that of the backtest.
    if report.backtest.group != head.group().id {
        return Err(PageError::NoSuchPage);
    }
    let changes = backtests::changes(&caller, id, pager::asked(&request)).await?;
    let people = People::of(&caller).await?;
    Ok(page::shown(&One {
        frame,
        head,
        next: pager::next(&request, &changes, |change| change.media),
        changes,
        findings: Findings::of(&report.counts),
        row: Row::new(report.backtest, &people),
    }))
}

pub(crate) async fn cancel(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let cancelled = backtests::cancel(&caller, request.id("backtest")?).await?;
    led(&request, &cancelled, "backtest-cancelled")
}

/// Leads to a backtest, whose page says what was done.
fn led(request: &PageRequest, backtest: &Backtest, done: &str) -> Answer {
    let (group, id) = (backtest.group, backtest.id);
    request.lead_to(format!("rules/{group}/backtests/{id}?done={done}"))
}

async fn start(request: &PageRequest) -> Result<Backtest, Refused> {
    let caller = request.caller()?;
    let no_group = |_| Refused::NotFound(Noun::RuleGroup);
    let group = request.id("group").map_err(no_group)?;
    let form = &request.form;
    let new = NewBacktest {
        version: form.optional_choice("version", "must be one of the versions")?,
        site: form.optional_choice("site", "must be one of the sites")?,
        since: typed_time(request, "since")?,
        until: typed_time(request, "until")?,
        limit: form.read_optional("limit")?,
    };
    backtests::create(&caller, group, new)
        .await
        .map_err(as_in_the_form)
}

/// A time in UTC, as browsers send it. Empty: none.
fn typed_time(request: &PageRequest, field: &str) -> Result<Option<DateTime<Utc>>, Refused> {
    let text = request.form.get(field).trim();
    if text.is_empty() {
        return Ok(None);
    }
    let wrong = || Refused::field(field, "must be a day and a time, such as 2026-03-01T09:30");
    time::typed(text).map(Some).ok_or_else(wrong)
}

/// The form calls the version and the site by shorter names.
fn as_in_the_form(refused: Refused) -> Refused {
    let Refused::Fields(mut fields) = refused else {
        return refused;
    };
    for problem in &mut fields.problems {
        if let Some(name) = problem.field.strip_suffix("_id") {
            problem.field = name.to_owned();
        }
    }
    Refused::Fields(fields)
}

struct Findings {
    /// Statuses at the time, statuses now, and the number of items.
    counts: Vec<(Status, Status, u64)>,
    /// How verdicts agree with people: what is compared, before, and after.
    agreement: Vec<(&'static str, Shares, Shares)>,
    /// Whether people decided about any of the items.
    has_decisions: bool,
}

/// Precision and recall, in words.
struct Shares {
    precision: String,
    recall: String,
}

impl Findings {
    fn of(counts: &[Count]) -> Self {
        let mut pairs: Vec<(Status, Status, u64)> = Vec::new();
        for count in counts {
            let same = pairs
                .iter_mut()
                .find(|(old, new, _)| (*old, *new) == (count.old, count.new));
            match same {
                Some((_, _, items)) => *items += count.items,
                None => pairs.push((count.old, count.new, count.items)),
            }
        }
        let kinds: [(&str, &[Status]); 3] = [
            ("rejected", &[Status::Rejected]),
            ("pending_review", &[Status::PendingReview]),
            ("either", &[Status::Rejected, Status::PendingReview]),
        ];
        let agreement = kinds.into_iter().map(|(name, kinds)| {
            let before = Agreement::of(counts, |count| count.old, kinds);
            let after = Agreement::of(counts, |count| count.new, kinds);
            (name, Shares::of(before), Shares::of(after))
        });
        Self {
            counts: pairs,
            agreement: agreement.collect(),
            has_decisions: counts.iter().any(|count| count.decided != Decided::Nobody),
        }
    }
}

impl Shares {
    fn of(agreement: Agreement) -> Self {
        let percent = |share: Option<f64>| {
            share.map_or_else(|| "–".to_owned(), |share| format!("{:.1} %", share * 100.0))
        };
        Self {
            precision: percent(agreement.precision()),
            recall: percent(agreement.recall()),
        }
    }
}
