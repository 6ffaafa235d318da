//! Dead jobs, for operators: by cause, one by one, and how they run again.

mod cursor;
mod filter;
pub(crate) mod replay;

use askama::Template;
use management::{
    dead_jobs::{self, DeadJobRecord, DeathCause, Filter, Group},
    queues,
};
use url::form_urlencoded::Serializer;

use self::{
    cursor::Cursor,
    filter::{CAUSES, Conditions, LONGEST_ERROR, cause_in_words},
};
use crate::{
    number::grouped,
    page::{self, Answer, Frame, PageRequest, Problems, Texts, pager},
};

/// The most causes in the summary.
const GROUPS: u32 = 20;
/// Characters of an error that are shown at once.
const SHORT: usize = 160;

#[derive(Template)]
#[template(path = "dead_jobs.html")]
struct List {
    frame: Frame,
    wanted: Texts,
    problems: Problems,
    queues: Vec<String>,
    causes: [(&'static str, &'static str); 4],
    /// How many jobs match.
    matching: String,
    has_any: bool,
    groups: Vec<Group>,
    /// How many jobs have other causes.
    more: i64,
    rows: Vec<DeadJobRecord>,
    next: Option<String>,
}

/// The beginning of an error, if it is long.
fn beginning(error: &str) -> Option<String> {
    let (end, _) = error.char_indices().nth(SHORT)?;
    Some(format!("{}…", &error[..end]))
}

/// The list of jobs that died alike.
fn path(group: &Group) -> String {
    let error: String = group.error.chars().take(LONGEST_ERROR).collect();
    let mut query = Serializer::new(String::new());
    query
        .append_pair("queue", &group.queue)
        .append_pair("cause", group.cause.as_str());
    if !error.trim().is_empty() {
        query.append_pair("error", error.trim());
    }
    format!("/instance/dead-jobs?{}", query.finish())
}

pub(crate) async fn list(request: PageRequest) -> Answer {
    let wanted = filter::typed(&request.query);
    match filter::parsed(&wanted) {
        Ok(found) => page(&request, wanted, Some(&found), Problems::default()).await,
        Err(problems) => page(&request, wanted, None, problems).await,
    }
}

/// The list. Without conditions, because they are wrong, nothing is looked for.
async fn page(
    request: &PageRequest,
    wanted: Texts,
    conditions: Option<&Conditions>,
    problems: Problems,
) -> Answer {
    let caller = request.caller()?;
    let (mut matching, mut more, mut groups, mut rows) = (0, 0, Vec::new(), Vec::new());
    if let Some(conditions) = conditions {
        let filter = conditions.filter();
        let summary = dead_jobs::summary(&caller, filter, GROUPS).await?;
        matching = i64::try_from(summary.matching).unwrap_or(i64::MAX);
        let shown: i64 = summary.groups.iter().map(|group| group.jobs).sum();
        more = matching.saturating_sub(shown).max(0);
        groups = summary.groups;
        let last: Option<Cursor> = request.query.get("after").parse().ok();
        let before = filter.before.into_iter().chain(last.map(|last| last.0));
        let filter = Filter {
            before: before.min(),
            ..filter
        };
        let limit = u32::try_from(pager::asked(request).limit).unwrap_or(u32::MAX);
        rows = dead_jobs::list(&caller, filter, limit).await?;
    }
    let mut names: Vec<String> = queues::names().map(str::to_owned).collect();
    let queue = wanted.get("queue");
    if !queue.is_empty() && !names.iter().any(|name| name == queue) {
        names.push(queue.to_owned());
    }
    let has_any = wanted.given().next().is_some();
    let page = List {
        frame: Frame::of(request, "dead-jobs").await?,
        has_any,
        wanted,
        problems,
        queues: names,
        causes: CAUSES.map(|cause: DeathCause| (cause.as_str(), cause_in_words(cause))),
        matching: grouped(matching),
        groups,
        more,
        next: pager::next(request, &rows, |job| Cursor(job.place())),
        rows,
    };
    Ok(page::html(page.problems.status(), &page))
}
