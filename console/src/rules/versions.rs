//! The versions of a group: the list, one of them, and making one live again.

pub(crate) mod compare;

use std::sync::Arc;

use askama::Template;
use domain::id::GroupVersionId;
use management::{
    Caller, Refused,
    rule_groups::{
        Page,
        versions::{self, ListedVersion, Publication},
    },
};
use poem::http::StatusCode;

use super::{
    group::lists_of,
    page_header::{self, Head, Tab},
    author_names::People,
    row::Row,
    pagination::Slice,
};
use crate::{
    page::{self, Frame, pager},
    problems::Problems,
    router::Answer,
    time::Moment,
    error_page::PageError,
    request::PageRequest,
};

/// Versions that can be chosen in a form, and publications that are shown.
const CHOICES: i64 = 100;

/// A version in a list.
pub(super) struct Listed {
    pub(super) version: ListedVersion,
    pub(super) made: Moment,
    pub(super) by: String,
    pub(super) is_live: bool,
    pub(super) is_shadow: bool,
}

impl Listed {
    fn new(version: ListedVersion, head: &Head, people: &People) -> Self {
        Self {
            made: version.created_at.into(),
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
    at: Moment,
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

pub(crate) async fn list(visit: Arc<PageRequest>) -> Answer {
    let caller = visit.caller(Some(visit.team()?))?;
    let (group, page) = (visit.id("group")?, pager::asked(&visit));
    let is_first = page.after.is_none();
    let versions = versions::list(&visit.management, &caller, group, page).await?;
    let (frame, head) = page_header::open(&visit, &caller, Tab::Versions).await?;
    let people = People::of(&visit, &caller).await?;
    let publications = if is_first {
        let page = Page {
            after: None,
            limit: CHOICES,
        };
        versions::publications(&visit.management, &caller, group, page).await?
    } else {
        Vec::new()
    };
    let published = publications
        .into_iter()
        .map(|entry: Publication| Published {
            number: entry.number,
            version: entry.version,
            at: entry.published_at.into(),
            by: people.name(entry.published_by),
        });
    let published = published.collect();
    let next = pager::next(&visit, &versions, |version| version.id);
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

pub(crate) async fn show(visit: Arc<PageRequest>) -> Answer {
    one(&visit, StatusCode::OK, Problems::default()).await
}

async fn one(visit: &PageRequest, status: StatusCode, problems: Problems) -> Answer {
    let caller = visit.caller(Some(visit.team()?))?;
    let (group, version) = (visit.id("group")?, visit.id("version")?);
    let version = versions::get(&visit.management, &caller, group, version).await?;
    let lists = lists_of(visit, &caller, version.rules.iter()).await?;
    let (frame, head) = page_header::open(visit, &caller, Tab::Versions).await?;
    let people = People::of(visit, &caller).await?;
    let rules = version.rules.iter().enumerate();
    let page = One {
        rows: Slice::of(visit, rules).map(|(place, rule)| Row::of(place, rule, &lists)),
        version: Listed::new(version.listed, &head, &people),
        frame,
        head,
        problems,
    };
    Ok(page::html(status, &page))
}

pub(crate) async fn set_live(visit: Arc<PageRequest>) -> Answer {
    let caller = visit.caller(Some(visit.team()?))?;
    let (group, version) = (visit.id("group")?, visit.id("version")?);
    match versions::set_live(&visit.management, &caller, group, version).await {
        Ok(_) => Ok(page::see_other(page_header::path(
            &visit,
            group,
            "/versions?done=version-live",
        )?)),
        Err(refused @ (Refused::Fields(_) | Refused::Conflict(..))) => {
            let problems = Problems::of(refused)?;
            one(&visit, StatusCode::UNPROCESSABLE_ENTITY, problems).await
        }
        Err(refused) => Err(refused.into()),
    }
}

/// The newest versions, to choose from.
pub(super) async fn choices(visit: &PageRequest, caller: &Caller) -> Result<Vec<ListedVersion>, PageError> {
    let page = Page {
        after: None,
        limit: CHOICES,
    };
    Ok(versions::list(&visit.management, caller, visit.id("group")?, page).await?)
}
