//! The shadow of a group: start, end, and what it says.

use std::sync::Arc;

use askama::Template;
use domain::id::GroupVersionId;
use management::{
    Conflict, Refused,
    rule_groups::{
        Group,
        shadow::{self, ShadowReport},
        versions::{self, ListedVersion},
    },
};
use poem::http::StatusCode;

use super::{
    page_header::{self, Head, Tab},
    draft_form::{OVERTAKEN, note, revision},
    trial::tone,
    versions::choices,
};
use crate::{
    page::{self, Frame, pager},
    problems::Problems,
    router::Answer,
    time::Moment,
    request::PageRequest,
};

#[derive(Template)]
#[template(path = "rules/shadow.html")]
struct Shadow<'a> {
    frame: Frame,
    head: Head,
    report: Option<ShadowReport>,
    /// The versions that could judge in the shadow.
    versions: Vec<ListedVersion>,
    note: &'a str,
    problems: Problems,
}

#[derive(Template)]
#[template(path = "rules/shadowed.html")]
struct Shadowed {
    frame: Frame,
    head: Head,
    version: ListedVersion,
    report: ShadowReport,
    items: Vec<Item>,
    next: Option<String>,
}

/// An item about which the shadow differed.
struct Item {
    id: String,
    live: (String, &'static str),
    shadow: (String, &'static str),
    judged: Moment,
}

pub(crate) async fn show(visit: Arc<PageRequest>) -> Answer {
    page(&visit, StatusCode::OK, Problems::default()).await
}

pub(crate) async fn start(visit: Arc<PageRequest>) -> Answer {
    let group = visit.id("group")?;
    match started(&visit).await {
        Ok(_) => {
            let path = page_header::path(&visit, group, "/shadow?done=shadow-started")?;
            Ok(page::see_other(path))
        }
        Err(Refused::Conflict(Conflict::DraftChanged, _)) => {
            let problems = Problems::of(Refused::Invalid(OVERTAKEN.into()))?;
            page(&visit, StatusCode::CONFLICT, problems).await
        }
        Err(refused) => {
            let problems = Problems::of(refused)?;
            page(&visit, StatusCode::UNPROCESSABLE_ENTITY, problems).await
        }
    }
}

async fn started(visit: &PageRequest) -> Result<Group, Refused> {
    let unknown = |_| Refused::field("version", "must be one of the versions");
    let no_group = |_| Refused::NotFound(management::Noun::RuleGroup);
    let caller = visit.caller(visit.team().ok())?;
    let group = visit.id("group").map_err(no_group)?;
    match visit.form.get("version") {
        "" => {
            let note = note(visit)?;
            shadow::set_draft(&visit.management, &caller, group, revision(visit), note).await
        }
        version => {
            let version: GroupVersionId = version.parse().map_err(unknown)?;
            shadow::set(&visit.management, &caller, group, version).await
        }
    }
}

pub(crate) async fn end(visit: Arc<PageRequest>) -> Answer {
    let caller = visit.caller(Some(visit.team()?))?;
    let group = visit.id("group")?;
    shadow::end(&visit.management, &caller, group).await?;
    let path = page_header::path(&visit, group, "/shadow?done=shadow-ended")?;
    Ok(page::see_other(path))
}

async fn page(visit: &PageRequest, status: StatusCode, problems: Problems) -> Answer {
    let caller = visit.caller(Some(visit.team()?))?;
    let (frame, head) = page_header::open(visit, &caller, Tab::Shadow).await?;
    let group = head.group();
    let report = match group.shadow {
        Some(version) => Some(shadow::report(&visit.management, &caller, group.id, version).await?),
        None => None,
    };
    let versions = choices(visit, &caller).await?.into_iter();
    let others =
        versions.filter(|version| version.id != group.live && Some(version.id) != group.shadow);
    let page = Shadow {
        versions: others.collect(),
        report,
        frame,
        head,
        note: visit.form.get("note"),
        problems,
    };
    Ok(page::html(status, &page))
}

/// What a version said in the shadow, with the items about which it differed.
pub(crate) async fn version(visit: Arc<PageRequest>) -> Answer {
    let caller = visit.caller(Some(visit.team()?))?;
    let (group, version) = (visit.id("group")?, visit.id("version")?);
    let management = &visit.management;
    let report = shadow::report(management, &caller, group, version).await?;
    let asked = pager::asked(&visit);
    let items = shadow::differences(management, &caller, group, version, asked).await?;
    let version = versions::get(management, &caller, group, version).await?;
    let (frame, head) = page_header::open(&visit, &caller, Tab::Shadow).await?;
    let next = pager::next(&visit, &items, |item| item.media);
    let items = items.into_iter().map(|item| Item {
        id: item.media.to_string(),
        live: (item.live.to_string(), tone(item.live)),
        shadow: (item.shadow.to_string(), tone(item.shadow)),
        judged: item.judged_at.into(),
    });
    Ok(page::shown(&Shadowed {
        frame,
        head,
        version: version.listed,
        report,
        items: items.collect(),
        next,
    }))
}
