//! The name, the description and the distance of a hash list, and how it is deleted.

use std::sync::Arc;

use askama::Template;
use management::{
    Refused,
    hash_lists::{self, HashListChange},
};
use poem::http::StatusCode;

use super::{
    page_header::{self, Head},
    new::{description, distance, name},
};
use crate::{
    page::{self, Area, Frame},
    problems::Problems,
    router::Answer,
    request::PageRequest,
};

#[derive(Template)]
#[template(path = "hash_lists/settings.html")]
struct Settings {
    frame: Frame,
    team: Area,
    tab: &'static str,
    head: Head,
    name: String,
    description: String,
    distance: String,
    problems: Problems,
}

pub(crate) async fn show(visit: Arc<PageRequest>) -> Answer {
    form(&visit, StatusCode::OK, Problems::default()).await
}

pub(crate) async fn change(visit: Arc<PageRequest>) -> Answer {
    match update(&visit).await {
        Ok(()) => Ok(page::see_other(format!("{}?done=saved", visit.path()))),
        Err(refused) => {
            let problems = Problems::of(refused)?;
            form(&visit, StatusCode::UNPROCESSABLE_ENTITY, problems).await
        }
    }
}

async fn update(visit: &PageRequest) -> Result<(), Refused> {
    let (caller, list) = page_header::named(visit)?;
    let change = HashListChange {
        name: Some(name(visit)?),
        description: Some(description(visit)?),
        max_distance: Some(distance(visit)?),
    };
    hash_lists::update(&visit.management, &caller, list, change).await?;
    Ok(())
}

pub(crate) async fn delete(visit: Arc<PageRequest>) -> Answer {
    let (caller, id) = page_header::named(&visit)?;
    let list = hash_lists::get(&visit.management, &caller, id).await?;
    let mut problems = Problems::default();
    if visit.form.get("typed") == list.name {
        match hash_lists::delete(&visit.management, &caller, id).await {
            Ok(()) => {
                let lists = visit.at()?.path("hash-lists?done=hash-list-deleted");
                return Ok(page::see_other(lists));
            }
            Err(refused) => problems = Problems::of(refused)?,
        }
    } else {
        problems.add("typed", "must be the name of the list");
    }
    form(&visit, StatusCode::UNPROCESSABLE_ENTITY, problems).await
}

async fn form(visit: &PageRequest, status: StatusCode, problems: Problems) -> Answer {
    let (frame, head, _) = page_header::of(visit).await?;
    page_header::require_change(&frame, &head)?;
    let list = &head.list;
    let typed = |name, stored: String| {
        if visit.form.has("max_distance") {
            visit.form.get(name).to_owned()
        } else {
            stored
        }
    };
    let page = Settings {
        team: visit.at()?,
        tab: "settings",
        name: typed("name", list.name.clone()),
        description: typed("description", list.description.clone().unwrap_or_default()),
        distance: typed("max_distance", list.max_distance.to_string()),
        frame,
        head,
        problems,
    };
    Ok(page::html(status, &page))
}
