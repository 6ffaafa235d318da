//! Scans: compare a list with stored images, watch, see what is on the list, cancel.

use askama::Template;
use chrono::{DateTime, Utc};
use domain::{chain::State, id::HashScanId};
use management::{
    Refused,
    hash_lists::scans::{self, Match, NewScan, Scan},
};

use super::page_header::{self, Head};
use crate::page::{self, Answer, Frame, PageError, PageRequest, Problems, pager};

#[derive(Template)]
#[template(path = "hash_lists/scans.html")]
struct Scans {
    frame: Frame,
    tab: &'static str,
    head: Head,
    rows: Vec<Scan>,
    next: Option<String>,
    problems: Problems,
}

#[derive(Template)]
#[template(path = "hash_lists/scan.html")]
struct Shown {
    frame: Frame,
    head: Head,
    row: Scan,
    matches: Vec<Match>,
    /// The address of the next page of matches.
    next: Option<String>,
}

/// How far a scan has got.
fn progress(scan: &Scan) -> i64 {
    match scan.state {
        State::Finished => 100,
        State::Running | State::Cancelled | State::Failed => {
            percent(scan.until, scan.oldest, scan.reached)
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

pub(crate) async fn list(request: PageRequest) -> Answer {
    page(&request, Problems::default()).await
}

pub(crate) async fn create(request: PageRequest) -> Answer {
    match start(&request).await {
        Ok(scan) => Ok(page::see_other(format!("{}/{}", request.path(), scan.id))),
        Err(refused) => page(&request, Problems::of(refused)?).await,
    }
}

async fn start(request: &PageRequest) -> Result<Scan, Refused> {
    let (caller, list) = page_header::named(request)?;
    let new = NewScan {
        team: None,
        since_revision: request.form.read_optional("since_revision")?,
    };
    scans::create(&caller, list, new).await
}

async fn page(request: &PageRequest, problems: Problems) -> Answer {
    let (frame, head, caller) = page_header::of(request).await?;
    let asked = pager::asked(request);
    let found = scans::list(&caller, head.list.id, asked).await?;
    let page = Scans {
        frame,
        tab: "scans",
        head,
        next: pager::next(request, &found, |scan| scan.id),
        rows: found,
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    let (frame, head, caller) = page_header::of(&request).await?;
    let scan: HashScanId = request.id("scan")?;
    let scan = scans::get(&caller, scan).await?;
    if scan.list != head.list.id {
        return Err(PageError::NoSuchPage);
    }
    let asked = pager::asked(&request);
    let matches = scans::matches(&caller, scan.id, asked).await?;
    Ok(page::shown(&Shown {
        frame,
        head,
        row: scan,
        next: pager::next(&request, &matches, |found| found.media),
        matches,
    }))
}

pub(crate) async fn cancel(request: PageRequest) -> Answer {
    let (caller, list) = page_header::named(&request)?;
    let scan: HashScanId = request.id("scan")?;
    let found = scans::get(&caller, scan).await?;
    if found.list != list {
        return Err(PageError::NoSuchPage);
    }
    scans::cancel(&caller, scan).await?;
    let path = request.path().trim_end_matches("/cancel").to_owned();
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
