//! The settings of an endpoint: change them, replace its headers, delete it.

use std::sync::Arc;

use askama::Template;
use domain::{id::EndpointId, webhook::CustomHeader};
use management::{
    Outdated, Refused,
    endpoints::{self, EndpointChange, Settings},
};
use poem::http::StatusCode;

use super::{endpoint::path, header_lines, endpoint_name, form_values::Typed};
use crate::{
    page::{self, Area, Frame, see_other},
    problems::Problems,
    router::Answer,
    stale_form,
    request::PageRequest,
};

#[derive(Template)]
#[template(path = "webhooks/settings.html")]
struct Page<'a> {
    frame: Frame,
    team: Area,
    path: String,
    /// The target of the form that deletes.
    delete: String,
    name: String,
    host: String,
    typed: Typed,
    /// The settings that the person has seen.
    seen: String,
    /// The names of its headers.
    headers: Vec<String>,
    typed_headers: &'a str,
    problems: Problems,
}

pub(crate) async fn show(visit: Arc<PageRequest>) -> Answer {
    form(&visit, StatusCode::OK, None, Problems::default()).await
}

pub(crate) async fn change(visit: Arc<PageRequest>) -> Answer {
    let typed = Typed::sent(&visit.form);
    let change = typed.read().map(|read| EndpointChange {
        url: Some(read.url),
        events: Some(read.events),
        description: Some(read.description),
        max_per_second: Some(read.limit),
        headers: None,
    });
    match update(&visit, change).await {
        Ok(Ok(())) => done(&visit, "endpoint-changed"),
        Ok(Err(outdated)) => {
            let problems = stale_form::problems(&outdated);
            form(&visit, StatusCode::CONFLICT, Some(typed), problems).await
        }
        Err(refused) => wrong(&visit, Some(typed), refused).await,
    }
}

pub(crate) async fn replace_headers(visit: Arc<PageRequest>) -> Answer {
    let change = header_lines::read(visit.form.get("headers")).and_then(|headers| {
        // The other button removes all.
        if headers.is_empty() && !visit.form.has("remove") {
            let message = "must name at least one header, or press “Remove all”";
            return Err(Refused::field("headers", message));
        }
        Ok(EndpointChange {
            headers: Some(if visit.form.has("remove") {
                Vec::new()
            } else {
                headers
            }),
            ..EndpointChange::default()
        })
    });
    match update(&visit, change).await {
        Ok(Ok(())) => done(&visit, "headers-replaced"),
        Ok(Err(outdated)) => {
            let problems = stale_form::problems(&outdated);
            form(&visit, StatusCode::CONFLICT, None, problems).await
        }
        Err(refused) => wrong(&visit, None, refused).await,
    }
}

pub(crate) async fn delete(visit: Arc<PageRequest>) -> Answer {
    let (team, id) = (visit.team()?, visit.id::<EndpointId>("endpoint")?);
    let caller = visit.caller(Some(team))?;
    let endpoint = endpoints::get(&visit.management, &caller, id).await?;
    if visit.form.get("typed") != endpoint_name::host(&endpoint.settings.url) {
        let refused = Refused::field("typed", "is not the host of this endpoint");
        return wrong(&visit, None, refused).await;
    }
    endpoints::delete(&visit.management, &caller, id).await?;
    let list = Area::Team(team).path("webhooks");
    Ok(see_other(format!("{list}?done=endpoint-deleted")))
}

async fn update(
    visit: &PageRequest,
    change: Result<EndpointChange, Refused>,
) -> Result<Result<(), Outdated>, Refused> {
    let missing = || Refused::NotFound(management::Noun::Endpoint);
    let team = visit.team().map_err(|_| missing())?;
    let id = visit.id("endpoint").map_err(|_| missing())?;
    let caller = visit.caller(Some(team))?;
    // Somebody who may not change it learns that, and not what is wrong with the form.
    endpoints::get(&visit.management, &caller, id).await?;
    let is_seen = |settings: &Settings| stale_form::is_seen(visit, &Typed::of(settings).seen());
    let updated = endpoints::update_seen(&visit.management, &caller, id, is_seen, change?);
    Ok(updated.await?.map(|_| ()))
}

fn done(visit: &PageRequest, what: &str) -> Answer {
    Ok(see_other(format!("{}?done={what}", path(visit)?)))
}

async fn wrong(visit: &PageRequest, typed: Option<Typed>, refused: Refused) -> Answer {
    let problems = Problems::of(refused)?;
    form(visit, StatusCode::UNPROCESSABLE_ENTITY, typed, problems).await
}

async fn form(
    visit: &PageRequest,
    status: StatusCode,
    typed: Option<Typed>,
    problems: Problems,
) -> Answer {
    let (team, id) = (visit.team()?, visit.id::<EndpointId>("endpoint")?);
    let caller = visit.caller(Some(team))?;
    let endpoint = endpoints::get(&visit.management, &caller, id).await?;
    let settings = endpoint.settings;
    let names = settings.headers.iter().map(CustomHeader::name);
    let frame = Frame::of(visit, Area::Team(team), "webhooks").await?;
    super::require(&frame)?;
    let present = Typed::of(&settings);
    let page = Page {
        frame,
        team: Area::Team(team),
        delete: format!("{}/delete", path(visit)?),
        path: path(visit)?,
        name: endpoint_name::name(settings.description.as_deref(), &settings.url),
        host: endpoint_name::host(&settings.url),
        seen: stale_form::next(visit, status, present.seen()),
        typed: typed.unwrap_or(present),
        headers: names.map(str::to_owned).collect(),
        typed_headers: visit.form.get("headers"),
        problems,
    };
    Ok(page::html(status, &page))
}
