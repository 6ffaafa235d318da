//! Backtests of a group: the list, a new one, one with its findings, and cancelling it.

mod findings;
mod new;

use askama::Template;
use domain::chain::State;
use management::{
    rule_groups::{
        backtests::{self, Backtest},
        versions::ListedVersion,
    },
    sites::{self, ManagedSite, Page},
};
use poem::http::StatusCode;

use self::findings::{Changed, Findings};
use super::{
    author_names::People,
    page_header::{self, Head, Tab},
    versions::choices,
};
use crate::{
    page::{self, Answer, Frame, PageRequest, Problems, pager},
    time::Moment,
};

/// Sites that are offered.
const SITES: i64 = 200;

/// A backtest in a list.
struct Row {
    backtest: Backtest,
    is_running: bool,
    tone: &'static str,
    percent: i64,
    started: Moment,
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
            started: backtest.created_at.into(),
            by: people.name(backtest.created_by),
            backtest,
        }
    }
}

#[derive(Template)]
#[template(path = "rules/backtests.html")]
struct List<'a> {
    frame: Frame,
    head: Head,
    backtests: Vec<Row>,
    next: Option<String>,
    versions: Vec<ListedVersion>,
    sites: Vec<ManagedSite>,
    typed: Typed<'a>,
    problems: Problems,
}

/// What was typed into the form.
struct Typed<'a> {
    version: &'a str,
    site: &'a str,
    since: &'a str,
    until: &'a str,
    limit: &'a str,
}

#[derive(Template)]
#[template(path = "rules/backtest.html")]
struct One {
    frame: Frame,
    head: Head,
    row: Row,
    findings: Findings,
    changes: Vec<Changed>,
    next: Option<String>,
}

pub(crate) async fn list(request: PageRequest) -> Answer {
    page(&request, Problems::default()).await
}

pub(crate) async fn create(request: PageRequest) -> Answer {
    match new::start(&request).await {
        Ok(backtest) => {
            let there = format!("/backtests/{}?done=backtest-started", backtest.id);
            Ok(page::see_other(page_header::path(
                &request,
                backtest.group,
                &there,
            )?))
        }
        Err(refused) => page(&request, Problems::of(refused)?).await,
    }
}

async fn page(request: &PageRequest, problems: Problems) -> Answer {
    let caller = request.caller()?;
    let (group, asked) = (request.id("group")?, pager::asked(request));
    let listed = backtests::list(&request.management, &caller, group, asked).await?;
    let versions = choices(request, &caller).await?;
    let offered = pager::first(SITES);
    let sites = sites::list(&request.management, &caller, offered).await?;
    let people = People::of(request, &caller).await?;
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
        typed: Typed {
            version: request.form.get("version"),
            site: request.form.get("site"),
            since: request.form.get("since"),
            until: request.form.get("until"),
            limit: request.form.get("limit"),
        },
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let (id, management) = (request.id("backtest")?, &request.management);
    let report = backtests::get(management, &caller, id).await?;
    let (frame, head) = page_header::open(&request, &caller, Tab::Backtests).await?;
    // The address names another group than that of the backtest.
    if report.backtest.group != head.group().id {
        return Err(crate::page::PageError::NoSuchPage);
    }
    let changes = backtests::changes(management, &caller, id, pager::asked(&request)).await?;
    let people = People::of(&request, &caller).await?;
    Ok(page::shown(&One {
        frame,
        head,
        next: pager::next(&request, &changes, |change| change.media),
        changes: changes.into_iter().map(Changed::from).collect(),
        findings: Findings::of(&report.counts),
        row: Row::new(report.backtest, &people),
    }))
}

pub(crate) async fn cancel(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let cancelled =
        backtests::cancel(&request.management, &caller, request.id("backtest")?).await?;
    let there = format!("/backtests/{}?done=backtest-cancelled", cancelled.id);
    Ok(page::see_other(page_header::path(
        &request,
        cancelled.group,
        &there,
    )?))
}
