//! Dead jobs, for operators: by cause, one by one, and how they run again.

mod cursor;
mod filter;
pub(crate) mod replay;

use askama::Template;
use chrono::{DateTime, Utc};
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
    groups: Vec<Alike>,
    /// How many jobs have other causes.
    more: i64,
    rows: Vec<Row>,
    next: Option<String>,
}

/// Jobs that died alike.
struct Alike {
    queue: String,
    cause: &'static str,
    error: Text,
    jobs: String,
    lanes: String,
    first: DateTime<Utc>,
    last: DateTime<Utc>,
    /// The list of them.
    path: String,
}

struct Row {
    id: i64,
    queue: String,
    cause: &'static str,
    error: Text,
    /// What it is about, if this version can read it.
    subject: Option<String>,
    group: String,
    lane: String,
    attempts: String,
    created: DateTime<Utc>,
    died: DateTime<Utc>,
}

/// An error, cut if it is long.
struct Text {
    start: String,
    /// All of it, if that is more.
    all: Option<String>,
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        match text.char_indices().nth(SHORT) {
            Some((end, _)) => Self {
                start: format!("{}…", &text[..end]),
                all: Some(text),
            },
            None => Self {
                start: text,
                all: None,
            },
        }
    }
}

impl From<Group> for Alike {
    fn from(group: Group) -> Self {
        let error: String = group.error.chars().take(LONGEST_ERROR).collect();
        let mut query = Serializer::new(String::new());
        query
            .append_pair("queue", &group.queue)
            .append_pair("cause", group.cause.as_str());
        if !error.trim().is_empty() {
            query.append_pair("error", error.trim());
        }
        Self {
            path: format!("/instance/dead-jobs?{}", query.finish()),
            queue: group.queue,
            cause: cause_in_words(group.cause),
            error: group.error.into(),
            jobs: grouped(group.jobs),
            lanes: grouped(group.lanes),
            first: group.first_died_at,
            last: group.last_died_at,
        }
    }
}

impl From<DeadJobRecord> for Row {
    fn from(job: DeadJobRecord) -> Self {
        Self {
            id: job.id.0,
            cause: cause_in_words(job.cause),
            subject: dead_jobs::subject(&job.payload).map(|id| id.to_string()),
            group: job.group.0.to_string(),
            lane: job.lane.0.to_string(),
            attempts: format!("{} of {}", job.attempt, job.max_attempts),
            created: job.created_at,
            died: job.died_at,
            queue: job.queue,
            error: job.error.into(),
        }
    }
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
    let management = &request.management;
    let (mut matching, mut more, mut groups, mut rows) = (0, 0, Vec::new(), Vec::new());
    if let Some(conditions) = conditions {
        let filter = conditions.filter();
        let summary = dead_jobs::summary(management, &caller, filter, GROUPS).await?;
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
        rows = dead_jobs::list(management, &caller, filter, limit).await?;
    }
    let mut names: Vec<String> = queues::names().map(str::to_owned).collect();
    let queue = wanted.get("queue");
    if !queue.is_empty() && !names.iter().any(|name| name == queue) {
        names.push(queue.to_owned());
    }
    let page = List {
        frame: Frame::of(request, "dead-jobs").await?,
        has_any: wanted.given().next().is_some(),
        wanted,
        problems,
        queues: names,
        causes: CAUSES.map(|cause: DeathCause| (cause.as_str(), cause_in_words(cause))),
        matching: grouped(matching),
        groups: groups.into_iter().map(Alike::from).collect(),
        more,
        next: pager::next(request, &rows, |job| Cursor(job.place())),
        rows: rows.into_iter().map(Row::from).collect(),
    };
    Ok(page::html(page.problems.status(), &page))
}
