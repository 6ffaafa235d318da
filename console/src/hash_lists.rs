//! Hash lists of a team, and those that all teams share: the list, a new one, its settings, and how it is deleted.

pub(crate) mod entries;
pub(crate) mod imports;
mod page_header;
pub(crate) mod scans;

use askama::Template;
use domain::{id::TeamId, reason::Reason};
use management::{
    Refused,
    hash_lists::{self, HashListChange, NewHashList, VisibleHashList},
};

use self::page_header::Head;
use crate::{
    page::{self, Answer, Area, Frame, PageRequest, Problems, pager},
    visible_text::VisibleText,
};

#[derive(Template)]
#[template(path = "hash_lists.html")]
struct List {
    frame: Frame,
    /// With their descriptions.
    lists: Vec<(VisibleHashList, Option<VisibleText>)>,
    next: Option<String>,
}

pub(crate) async fn list(request: PageRequest) -> Answer {
    let team = request.at()?;
    let caller = request.caller()?;
    let asked = pager::asked(&request);
    let lists = match team {
        Area::Instance => hash_lists::shared(&caller, asked).await?,
        Area::Team(_) | Area::Own => hash_lists::list(&caller, asked).await?,
    };
    Ok(page::shown(&List {
        frame: Frame::of(&request, "hash-lists").await?,
        next: pager::next(&request, &lists, |list| list.id),
        lists: lists.into_iter().map(described).collect(),
    }))
}

fn described(list: VisibleHashList) -> (VisibleHashList, Option<VisibleText>) {
    let description = list.description.as_deref();
    let description = description.map(|text| VisibleText::truncated(text, LONGEST));
    (list, description)
}

/// Characters of a description in the table.
const LONGEST: usize = 120;

#[derive(Template)]
#[template(path = "hash_lists/new.html")]
struct New<'a> {
    frame: Frame,
    kind: &'a str,
    distance: &'a str,
    problems: Problems,
}

pub(crate) async fn new(request: PageRequest) -> Answer {
    form(&request, Problems::default()).await
}

pub(crate) async fn create(request: PageRequest) -> Answer {
    match add(&request, request.at()?.team()).await {
        Ok(list) => request.lead_to(format!("hash-lists/{}?done=hash-list-created", list.id)),
        Err(refused) => form(&request, Problems::of(refused)?).await,
    }
}

async fn add(request: &PageRequest, team: Option<TeamId>) -> Result<VisibleHashList, Refused> {
    let caller = request.caller()?;
    let new = NewHashList {
        name: request.form.read("name")?,
        description: description(request)?,
        kind: request.form.choice("kind", "must be `deny` or `allow`")?,
        max_distance: Some(request.form.read("max_distance")?),
        team,
    };
    hash_lists::create(&caller, new).await
}

/// A description that may be empty.
fn description(request: &PageRequest) -> Result<Option<Reason>, Refused> {
    let text = request.form.get("description").trim();
    if text.is_empty() {
        return Ok(None);
    }
    let text = Reason::try_from(text.to_owned()).map(Some);
    text.map_err(|wrong| Refused::field("description", wrong.to_string()))
}

async fn form(request: &PageRequest, problems: Problems) -> Answer {
    let typed = |name, usual| {
        if problems.are_none() {
            usual
        } else {
            request.form.get(name)
        }
    };
    let page = New {
        frame: Frame::of(request, "hash-lists").await?,
        kind: typed("kind", "deny"),
        distance: typed("max_distance", "31"),
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}

#[derive(Template)]
#[template(path = "hash_lists/settings.html")]
struct Settings {
    frame: Frame,
    tab: &'static str,
    head: Head,
    name: String,
    description: String,
    distance: String,
    problems: Problems,
}

pub(crate) async fn show_settings(request: PageRequest) -> Answer {
    settings(&request, Problems::default()).await
}

pub(crate) async fn change(request: PageRequest) -> Answer {
    match update(&request).await {
        Ok(()) => Ok(request.lead_back("saved")),
        Err(refused) => settings(&request, Problems::of(refused)?).await,
    }
}

async fn update(request: &PageRequest) -> Result<(), Refused> {
    let (caller, list) = page_header::named(request)?;
    let change = HashListChange {
        name: Some(request.form.read("name")?),
        description: Some(description(request)?),
        max_distance: Some(request.form.read("max_distance")?),
    };
    hash_lists::update(&caller, list, change).await?;
    Ok(())
}

pub(crate) async fn delete(request: PageRequest) -> Answer {
    let (caller, id) = page_header::named(&request)?;
    let list = hash_lists::get(&caller, id).await?;
    let mut problems = Problems::default();
    if request.form.get("typed") == list.name {
        match hash_lists::delete(&caller, id).await {
            Ok(()) => return request.lead_to("hash-lists?done=hash-list-deleted"),
            Err(refused) => problems = Problems::of(refused)?,
        }
    } else {
        problems.add("typed", "must be the name of the list");
    }
    settings(&request, problems).await
}

async fn settings(request: &PageRequest, problems: Problems) -> Answer {
    let (frame, head, _) = page_header::of(request).await?;
    page_header::require_change(&head)?;
    let list = &head.list;
    let typed = |name, stored: String| {
        if request.form.has("max_distance") {
            request.form.get(name).to_owned()
        } else {
            stored
        }
    };
    let page = Settings {
        tab: "settings",
        name: typed("name", list.name.clone()),
        description: typed("description", list.description.clone().unwrap_or_default()),
        distance: typed("max_distance", list.max_distance.to_string()),
        frame,
        head,
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}
