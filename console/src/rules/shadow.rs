//! The shadow of a group: start, end, and what it says.

use askama::Template;
use chrono::{DateTime, Utc};
use domain::id::{GroupVersionId, RuleGroupId};
use management::{
    Refused,
    rule_groups::{
        Group,
        shadow::{self, ShadowReport},
        versions::{self, ListedVersion},
    },
};

use super::{
    page_header::{self, Head, Tab, problems, revision},
    trial::tone,
    versions::choices,
};
use crate::page::{self, Answer, Frame, PageRequest, Problems, pager};

#[derive(Template)]
#[template(path = "rules/shadow.html")]
struct Shadow {
    frame: Frame,
    head: Head,
    report: Option<ShadowReport>,
    /// The versions that could judge in the shadow.
    versions: Vec<ListedVersion>,
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
    judged: DateTime<Utc>,
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    page(&request, Problems::default()).await
}

pub(crate) async fn start(request: PageRequest) -> Answer {
    let group = request.id::<RuleGroupId>("group")?;
    match started(&request).await {
        Ok(_) => request.lead_to(format!("rules/{group}/shadow?done=shadow-started")),
        Err(refused) => page(&request, problems(refused)?).await,
    }
}

async fn started(request: &PageRequest) -> Result<Group, Refused> {
    let unknown = |_| Refused::field("version", "must be one of the versions");
    let no_group = |_| Refused::NotFound(management::Noun::RuleGroup);
    let caller = request.caller()?;
    let group = request.id("group").map_err(no_group)?;
    match request.form.get("version") {
        "" => {
            let note = request.form.note("note")?;
            shadow::set_draft(&caller, group, revision(request), note).await
        }
        version => {
            let version: GroupVersionId = version.parse().map_err(unknown)?;
            shadow::set(&caller, group, version).await
        }
    }
}

pub(crate) async fn end(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let group = request.id("group")?;
    shadow::end(&caller, group).await?;
    request.lead_to(format!("rules/{group}/shadow?done=shadow-ended"))
}

async fn page(request: &PageRequest, problems: Problems) -> Answer {
    let caller = request.caller()?;
    let (frame, head) = page_header::open(request, &caller, Tab::Shadow).await?;
    let group = head.group();
    let report = match group.shadow {
        Some(version) => Some(shadow::report(&caller, group.id, version).await?),
        None => None,
    };
    let versions = choices(request, &caller).await?.into_iter();
    let others =
        versions.filter(|version| version.id != group.live && Some(version.id) != group.shadow);
    let page = Shadow {
        versions: others.collect(),
        report,
        frame,
        head,
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}

/// What a version said in the shadow, with the items about which it differed.
pub(crate) async fn version(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let (group, version) = (request.id("group")?, request.id("version")?);
    let report = shadow::report(&caller, group, version).await?;
    let asked = pager::asked(&request);
    let items = shadow::differences(&caller, group, version, asked).await?;
    let version = versions::get(&caller, group, version).await?;
    let (frame, head) = page_header::open(&request, &caller, Tab::Shadow).await?;
    let next = pager::next(&request, &items, |item| item.media);
    let items = items.into_iter().map(|item| Item {
        id: item.media.to_string(),
        live: (item.live.to_string(), tone(item.live)),
        shadow: (item.shadow.to_string(), tone(item.shadow)),
        judged: item.judged_at,
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
