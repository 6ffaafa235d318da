//! Scans: compare a list with stored images, watch, see what is on the list, cancel.

use std::sync::Arc;

use askama::Template;
use chrono::{DateTime, Utc};
use domain::{chain::State, id::HashScanId};
use management::{
    Refused,
    hash_lists::scans::{self, Match, NewScan, Scan},
};
use poem::http::StatusCode;

use super::head::{self, Head};
use crate::{
    page::{self, At, Frame, pager},
    problems::Problems,
    router::Answer,
    time::Moment,
    trouble::Trouble,
    visit::Visit,
};

#[derive(Template)]
#[template(path = "hash_lists/scans.html")]
struct Scans<'a> {
    frame: Frame,
    team: At,
    tab: &'static str,
    head: Head,
    rows: Vec<Row>,
    /// The address of the next page.
    next: Option<String>,
    since: &'a str,
    problems: Problems,
}

#[derive(Template)]
#[template(path = "hash_lists/scan.html")]
struct Shown {
    frame: Frame,
    team: At,
    head: Head,
    row: Row,
    matches: Vec<Match>,
    /// The address of the next page of matches.
    next: Option<String>,
}

/// A scan, and how far it has got.
struct Row {
    scan: Scan,
    started: Moment,
    ended: Option<Moment>,
    reached: Option<Moment>,
}

impl From<Scan> for Row {
    fn from(scan: Scan) -> Self {
        Self {
            started: scan.created_at.into(),
            ended: scan.ended_at.map(Moment::from),
            reached: scan.reached.map(Moment::from),
            scan,
        }
    }
}

impl Row {
    fn is_running(&self) -> bool {
        self.scan.state == State::Running
    }

    fn percent(&self) -> i64 {
        match self.scan.state {
            State::Finished => 100,
            State::Running | State::Cancelled | State::Failed => {
                percent(self.scan.until, self.scan.oldest, self.scan.reached)
            }
        }
    }
}

/// How much of the time from the newest to the oldest item was looked at.
fn percent(
    until: DateTime<Utc>,
    oldest: Option<DateTime<Utc>>,
    reached: Option<DateTime<Utc>>,
) -> i64 {
    let (Some(oldest), Some(reached)) = (oldest, reached) else {
        return 0;
    };
    let whole = (until - oldest).num_milliseconds().max(1);
    let done = (until - reached).num_milliseconds();
    (done.clamp(0, whole)).saturating_mul(100) / whole
}

pub(crate) async fn list(visit: Arc<Visit>) -> Answer {
    page(&visit, StatusCode::OK, Problems::default()).await
}

pub(crate) async fn create(visit: Arc<Visit>) -> Answer {
    match start(&visit).await {
        Ok(scan) => Ok(page::see_other(format!("{}/{}", visit.path(), scan.id))),
        Err(refused) => {
            let problems = Problems::of(refused)?;
            page(&visit, StatusCode::UNPROCESSABLE_ENTITY, problems).await
        }
    }
}

async fn start(visit: &Visit) -> Result<Scan, Refused> {
    let (caller, list) = head::named(visit)?;
    let since = Some(visit.form.get("since_revision").trim()).filter(|text| !text.is_empty());
    let since = since.map(str::parse).transpose();
    let new = NewScan {
        team: None,
        since_revision: since.map_err(|wrong: domain::bounded_integer::OutOfBounds| {
            Refused::field("since_revision", wrong.to_string())
        })?,
    };
    scans::create(&visit.management, &caller, list, new).await
}

async fn page(visit: &Visit, status: StatusCode, problems: Problems) -> Answer {
    let (frame, head, caller) = head::of(visit).await?;
    let asked = pager::asked(visit);
    let found = scans::list(&visit.management, &caller, head.list.id, asked).await?;
    let page = Scans {
        frame,
        team: visit.at()?,
        tab: "scans",
        head,
        next: pager::next(visit, &found, |scan| scan.id),
        rows: found.into_iter().map(Row::from).collect(),
        since: visit.form.get("since_revision"),
        problems,
    };
    Ok(page::html(status, &page))
}

pub(crate) async fn show(visit: Arc<Visit>) -> Answer {
    let (frame, head, caller) = head::of(&visit).await?;
    let scan: HashScanId = visit.id("scan")?;
    let scan = scans::get(&visit.management, &caller, scan).await?;
    if scan.list != head.list.id {
        return Err(Trouble::NoSuchPage);
    }
    let asked = pager::asked(&visit);
    let matches = scans::matches(&visit.management, &caller, scan.id, asked).await?;
    Ok(page::shown(&Shown {
        frame,
        team: visit.at()?,
        head,
        row: scan.into(),
        next: pager::next(&visit, &matches, |found| found.media),
        matches,
    }))
}

pub(crate) async fn cancel(visit: Arc<Visit>) -> Answer {
    let (caller, list) = head::named(&visit)?;
    let scan: HashScanId = visit.id("scan")?;
    let found = scans::get(&visit.management, &caller, scan).await?;
    if found.list != list {
        return Err(Trouble::NoSuchPage);
    }
    scans::cancel(&visit.management, &caller, scan).await?;
    let path = visit.path().trim_end_matches("/cancel").to_owned();
    Ok(page::see_other(path))
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    #[test]
    fn progress_is_the_part_of_the_time_that_was_looked_at() {
        let until = Utc::now();
        let ago = |days| Some(until - TimeDelta::days(days));
        for (oldest, reached, expected) in [
            (None, None, 0),
            (ago(10), None, 0),
            (ago(10), ago(0), 0),
            (ago(10), ago(4), 40),
            (ago(10), ago(11), 100),
            (ago(0), ago(0), 0),
        ] {
            assert_eq!(percent(until, oldest, reached), expected);
        }
    }
}
