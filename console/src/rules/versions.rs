//! The versions of a group: the list, one of them, what differs between two, and making one live again.

use askama::Template;
use chrono::{DateTime, Utc};
use domain::id::GroupVersionId;
use management::{
    Caller, Refused,
    rule_groups::{
        diff,
        versions::{self, ListedVersion, Publication},
    },
};

use super::{
    diff::Differences,
    group::lists_of,
    names::People,
    page_header::{self, Head, Tab},
    pagination::Slice,
    row::Row,
};
use crate::page::{self, Answer, Frame, PageError, PageRequest, Problems, pager};

/// Versions that can be chosen in a form, and publications that are shown.
const CHOICES: i64 = 100;

struct Listed {
    version: ListedVersion,
    made: DateTime<Utc>,
    by: String,
    is_live: bool,
    is_shadow: bool,
}

impl Listed {
    fn new(version: ListedVersion, head: &Head, people: &People) -> Self {
        Self {
            made: version.created_at,
            by: people.name(version.created_by),
            is_live: head.group().live == version.id,
            is_shadow: head.group().shadow == Some(version.id),
            version,
        }
    }
}

/// When a version became live.
struct Published {
    number: i32,
    version: GroupVersionId,
    at: DateTime<Utc>,
    by: String,
}

#[derive(Template)]
#[template(path = "rules/versions.html")]
struct List {
    frame: Frame,
    head: Head,
    versions: Vec<Listed>,
    next: Option<String>,
    /// Which were live from when. Only on the first page.
    published: Vec<Published>,
}

#[derive(Template)]
#[template(path = "rules/version.html")]
struct One {
    frame: Frame,
    head: Head,
    version: Listed,
    rows: Slice<Row>,
    problems: Problems,
}

pub(crate) async fn list(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let (group, page) = (request.id("group")?, pager::asked(&request));
    let is_first = page.after.is_none();
    let versions = versions::list(&caller, group, page).await?;
    let (frame, head) = page_header::open(&request, &caller, Tab::Versions).await?;
    let people = People::of(&caller).await?;
    let publications = if is_first {
        let first = pager::first(CHOICES);
        versions::publications(&caller, group, first).await?
    } else {
        Vec::new()
    };
    let published = publications
        .into_iter()
        .map(|entry: Publication| Published {
            number: entry.number,
            version: entry.version,
            at: entry.published_at,
            by: people.name(entry.published_by),
        });
    let published = published.collect();
    let next = pager::next(&request, &versions, |version| version.id);
    let versions = versions.into_iter();
    Ok(page::shown(&List {
        next,
        versions: versions
            .map(|version| Listed::new(version, &head, &people))
            .collect(),
        published,
        frame,
        head,
    }))
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    one(&request, Problems::default()).await
}

async fn one(request: &PageRequest, problems: Problems) -> Answer {
    let caller = request.caller()?;
    let (group, version) = (request.id("group")?, request.id("version")?);
    let version = versions::get(&caller, group, version).await?;
    let lists = lists_of(&caller, version.rules.iter()).await?;
    let (frame, head) = page_header::open(request, &caller, Tab::Versions).await?;
    let people = People::of(&caller).await?;
    let rules = version.rules.iter().enumerate();
    let page = One {
        rows: Slice::of(request, rules).map(|(place, rule)| Row::of(place, rule, &lists)),
        version: Listed::new(version.listed, &head, &people),
        frame,
        head,
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}

pub(crate) async fn set_live(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let (group, version) = (request.id("group")?, request.id("version")?);
    match versions::set_live(&caller, group, version).await {
        Ok(_) => request.lead_to(format!("rules/{group}/versions?done=version-live")),
        Err(refused @ (Refused::Fields(_) | Refused::Conflict(..))) => {
            one(&request, Problems::of(refused)?).await
        }
        Err(refused) => Err(refused.into()),
    }
}

/// The newest versions, to choose from.
pub(super) async fn choices(
    request: &PageRequest,
    caller: &Caller,
) -> Result<Vec<ListedVersion>, PageError> {
    let (group, first) = (request.id("group")?, pager::first(CHOICES));
    Ok(versions::list(caller, group, first).await?)
}

#[derive(Template)]
#[template(path = "rules/compare.html")]
struct Compare {
    frame: Frame,
    head: Head,
    versions: Vec<ListedVersion>,
    /// The earlier one.
    from: GroupVersionId,
    /// The later one. None: the draft.
    to: Option<GroupVersionId>,
    differences: Differences,
}

impl Compare {
    fn is_from(&self, version: &ListedVersion) -> bool {
        self.from == version.id
    }

    fn is_to(&self, version: &ListedVersion) -> bool {
        self.to == Some(version.id)
    }

    fn is_live(&self, version: &GroupVersionId) -> bool {
        self.head.group().live == *version
    }
}

pub(crate) async fn compare(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let asked = |name: &str| request.query.get(name).parse::<GroupVersionId>().ok();
    let (group, from, to) = (request.id("group")?, asked("from"), asked("to"));
    let difference = diff::between(&caller, group, from, to).await?;
    let changed = difference.changed.iter().map(|(_, to)| to);
    let named = difference.added.iter().chain(&difference.removed);
    let lists = lists_of(&caller, named.chain(changed)).await?;
    let versions = choices(&request, &caller).await?;
    let (frame, head) = page_header::open(&request, &caller, Tab::Versions).await?;
    Ok(page::shown(&Compare {
        from: from.unwrap_or(head.group().live),
        to,
        frame,
        head,
        versions,
        differences: Differences::of(&difference, &lists),
    }))
}
