//! A new hash list.

use std::sync::Arc;

use askama::Template;
use domain::{image_hash::ListKind, name::Name, reason::Reason};
use management::{
    Refused,
    hash_lists::{self, Distance, NewHashList, VisibleHashList},
};
use poem::http::StatusCode;

use super::page_header;
use crate::{
    page::{self, Area, Frame},
    problems::Problems,
    request::PageRequest,
    router::Answer,
};

#[derive(Template)]
#[template(path = "hash_lists/new.html")]
struct New<'a> {
    frame: Frame,
    team: Area,
    name: &'a str,
    description: &'a str,
    kind: &'a str,
    distance: &'a str,
    problems: Problems,
}

pub(crate) async fn show(request: Arc<PageRequest>) -> Answer {
    form(&request, StatusCode::OK, Problems::default()).await
}

pub(crate) async fn create(request: Arc<PageRequest>) -> Answer {
    let team = request.at()?;
    match list(&request).await {
        Ok(list) => Ok(page::see_other(
            team.path(&format!("hash-lists/{}?done=hash-list-created", list.id)),
        )),
        Err(refused) => {
            let problems = Problems::of(refused)?;
            form(&request, StatusCode::UNPROCESSABLE_ENTITY, problems).await
        }
    }
}

async fn list(request: &PageRequest) -> Result<VisibleHashList, Refused> {
    let missing = |_| Refused::NotFound(management::Noun::Team);
    let team = request.at().map_err(missing)?.team();
    let caller = request.caller(team)?;
    let kind = request.form.get("kind").parse::<ListKind>();
    let new = NewHashList {
        name: name(request)?,
        description: description(request)?,
        kind: kind.map_err(|_| Refused::field("kind", "must be `deny` or `allow`"))?,
        max_distance: Some(distance(request)?),
        team,
    };
    hash_lists::create(&request.management, &caller, new).await
}

pub(super) fn name(request: &PageRequest) -> Result<Name, Refused> {
    let name = request.form.get("name").trim().parse::<Name>();
    name.map_err(|wrong| Refused::field("name", wrong.to_string()))
}

/// A description that may be empty.
pub(super) fn description(request: &PageRequest) -> Result<Option<Reason>, Refused> {
    let text = request.form.get("description").trim();
    if text.is_empty() {
        return Ok(None);
    }
    let text = Reason::try_from(text.to_owned()).map(Some);
    text.map_err(|wrong| Refused::field("description", wrong.to_string()))
}

pub(super) fn distance(request: &PageRequest) -> Result<Distance, Refused> {
    let bits = request.form.get("max_distance").trim().parse::<Distance>();
    bits.map_err(|wrong| Refused::field("max_distance", wrong.to_string()))
}

async fn form(request: &PageRequest, status: StatusCode, problems: Problems) -> Answer {
    let team = request.at()?;
    let typed = |name, usual| {
        if status == StatusCode::OK {
            usual
        } else {
            request.form.get(name)
        }
    };
    let frame = Frame::of(request, team, "hash-lists").await?;
    page_header::require_write(&frame)?;
    let page = New {
        frame,
        team,
        name: request.form.get("name"),
        description: request.form.get("description"),
        kind: typed("kind", "deny"),
        distance: typed("max_distance", "31"),
        problems,
    };
    Ok(page::html(status, &page))
}
