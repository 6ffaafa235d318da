//! The name, the description and the distance of a hash list, and how it is deleted.

use std::sync::Arc;

use askama::Template;
use management::{
    Refused,
    hash_lists::{self, HashListChange},
};
use poem::http::StatusCode;

use super::{
    new::{description, distance, name},
    page_header::{self, Head},
};
use crate::{
    page::{self, Area, Frame},
    problems::Problems,
    request::PageRequest,
    router::Answer,
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

pub(crate) async fn show(request: Arc<PageRequest>) -> Answer {
    form(&request, StatusCode::OK, Problems::default()).await
}

pub(crate) async fn change(request: Arc<PageRequest>) -> Answer {
    match update(&request).await {
        Ok(()) => Ok(page::see_other(format!("{}?done=saved", request.path()))),
        Err(refused) => {
            let problems = Problems::of(refused)?;
            form(&request, StatusCode::UNPROCESSABLE_ENTITY, problems).await
        }
    }
}

async fn update(request: &PageRequest) -> Result<(), Refused> {
    let (caller, list) = page_header::named(request)?;
    let change = HashListChange {
        name: Some(name(request)?),
        description: Some(description(request)?),
        max_distance: Some(distance(request)?),
    };
    hash_lists::update(&request.management, &caller, list, change).await?;
    Ok(())
}

pub(crate) async fn delete(request: Arc<PageRequest>) -> Answer {
    let (caller, id) = page_header::named(&request)?;
    let list = hash_lists::get(&request.management, &caller, id).await?;
    let mut problems = Problems::default();
    if request.form.get("typed") == list.name {
        match hash_lists::delete(&request.management, &caller, id).await {
            Ok(()) => {
                let lists = request.at()?.path("hash-lists?done=hash-list-deleted");
                return Ok(page::see_other(lists));
            }
            Err(refused) => problems = Problems::of(refused)?,
        }
    } else {
        problems.add("typed", "must be the name of the list");
    }
    form(&request, StatusCode::UNPROCESSABLE_ENTITY, problems).await
}

async fn form(request: &PageRequest, status: StatusCode, problems: Problems) -> Answer {
    let (frame, head, _) = page_header::of(request).await?;
    page_header::require_change(&frame, &head)?;
    let list = &head.list;
    let typed = |name, stored: String| {
        if request.form.has("max_distance") {
            request.form.get(name).to_owned()
        } else {
            stored
        }
    };
    let page = Settings {
        team: request.at()?,
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
