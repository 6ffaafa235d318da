//! Backtests of a group: the list, a new one, one with its findings, and cancelling it.

mod findings;
mod new;

use std::sync::Arc;

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
    page_header::{self, Head, Tab},
    author_names::People,
    versions::choices,
};
use crate::{
    page::{self, Frame, pager},
    problems::Problems,
    router::Answer,
    time::Moment,
    request::PageRequest,
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

pub(crate) async fn list(visit: Arc<PageRequest>) -> Answer {
    page(&visit, StatusCode::OK, Problems::default()).await
}

pub(crate) async fn create(visit: Arc<PageRequest>) -> Answer {
    match new::start(&visit).await {
        Ok(backtest) => {
            let there = format!("/backtests/{}?done=backtest-started", backtest.id);
            Ok(page::see_other(page_header::path(&visit, backtest.group, &there)?))
        }
        Err(refused) => {
            let problems = Problems::of(refused)?;
            page(&visit, StatusCode::UNPROCESSABLE_ENTITY, problems).await
        }
    }
}

async fn page(visit: &PageRequest, status: StatusCode, problems: Problems) -> Answer {
    let caller = visit.caller(Some(visit.team()?))?;
    let (group, asked) = (visit.id("group")?, pager::asked(visit));
    let listed = backtests::list(&visit.management, &caller, group, asked).await?;
    let versions = choices(visit, &caller).await?;
    let offered = Page {
        after: None,
        limit: SITES,
    };
    let sites = sites::list(&visit.management, &caller, offered).await?;
    let people = People::of(visit, &caller).await?;
    let (frame, head) = page_header::open(visit, &caller, Tab::Backtests).await?;
    let next = pager::next(visit, &listed, |backtest| backtest.id);
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
            version: visit.form.get("version"),
            site: visit.form.get("site"),
            since: visit.form.get("since"),
            until: visit.form.get("until"),
            limit: visit.form.get("limit"),
        },
        problems,
    };
    Ok(page::html(status, &page))
}

pub(crate) async fn show(visit: Arc<PageRequest>) -> Answer {
    let caller = visit.caller(Some(visit.team()?))?;
    let (id, management) = (visit.id("backtest")?, &visit.management);
    let report = backtests::get(management, &caller, id).await?;
    let (frame, head) = page_header::open(&visit, &caller, Tab::Backtests).await?;
    // The address names another group than that of the backtest.
    if report.backtest.group != head.group().id {
        return Err(crate::error_page::PageError::NoSuchPage);
    }
    let changes = backtests::changes(management, &caller, id, pager::asked(&visit)).await?;
    let people = People::of(&visit, &caller).await?;
    Ok(page::shown(&One {
        frame,
        head,
        next: pager::next(&visit, &changes, |change| change.media),
        changes: changes.into_iter().map(Changed::from).collect(),
        findings: Findings::of(&report.counts),
        row: Row::new(report.backtest, &people),
    }))
}

pub(crate) async fn cancel(visit: Arc<PageRequest>) -> Answer {
    let caller = visit.caller(Some(visit.team()?))?;
    let cancelled = backtests::cancel(&visit.management, &caller, visit.id("backtest")?).await?;
    let there = format!("/backtests/{}?done=backtest-cancelled", cancelled.id);
    Ok(page::see_other(page_header::path(
        &visit,
        cancelled.group,
        &there,
    )?))
}
