//! The settings of an endpoint: change them, replace its headers, delete it.

use askama::Template;
use domain::{id::EndpointId, webhook::CustomHeader};
use management::{
    Outdated, Refused,
    endpoints::{self, EndpointChange, Settings},
};
use poem::http::StatusCode;

use super::{endpoint::path, endpoint_name, form_values::Typed, header_lines};
use crate::page::{self, Answer, Area, Frame, PageRequest, Problems, see_other, stale_form};

#[derive(Template)]
#[template(path = "webhooks/settings.html")]
struct Page<'a> {
    frame: Frame,
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

pub(crate) async fn show(request: PageRequest) -> Answer {
    form(&request, StatusCode::OK, None, Problems::default()).await
}

pub(crate) async fn change(request: PageRequest) -> Answer {
    let typed = Typed::sent(&request.form);
    let change = typed.read().map(|read| EndpointChange {
        url: Some(read.url),
        events: Some(read.events),
        description: Some(read.description),
        max_per_second: Some(read.limit),
        headers: None,
    });
    match update(&request, change).await {
        Ok(Ok(())) => done(&request, "endpoint-changed"),
        Ok(Err(outdated)) => {
            let problems = stale_form::problems(&outdated);
            form(&request, StatusCode::CONFLICT, Some(typed), problems).await
        }
        Err(refused) => wrong(&request, Some(typed), refused).await,
    }
}

pub(crate) async fn replace_headers(request: PageRequest) -> Answer {
    let change = header_lines::read(request.form.get("headers")).and_then(|headers| {
        // The other button removes all.
        if headers.is_empty() && !request.form.has("remove") {
            let message = "must name at least one header, or press “Remove all”";
            return Err(Refused::field("headers", message));
        }
        Ok(EndpointChange {
            headers: Some(if request.form.has("remove") {
                Vec::new()
            } else {
                headers
            }),
            ..EndpointChange::default()
        })
    });
    match update(&request, change).await {
        Ok(Ok(())) => done(&request, "headers-replaced"),
        Ok(Err(outdated)) => {
            let problems = stale_form::problems(&outdated);
            form(&request, StatusCode::CONFLICT, None, problems).await
        }
        Err(refused) => wrong(&request, None, refused).await,
    }
}

pub(crate) async fn delete(request: PageRequest) -> Answer {
    let (team, id) = (request.team()?, request.id::<EndpointId>("endpoint")?);
    let caller = request.caller()?;
    let endpoint = endpoints::get(&request.management, &caller, id).await?;
    if request.form.get("typed") != endpoint_name::host(&endpoint.settings.url) {
        let refused = Refused::field("typed", "is not the host of this endpoint");
        return wrong(&request, None, refused).await;
    }
    endpoints::delete(&request.management, &caller, id).await?;
    let list = Area::Team(team).path("webhooks");
    Ok(see_other(format!("{list}?done=endpoint-deleted")))
}

async fn update(
    request: &PageRequest,
    change: Result<EndpointChange, Refused>,
) -> Result<Result<(), Outdated>, Refused> {
    let missing = || Refused::NotFound(management::Noun::Endpoint);
    let team = request.team().map_err(|_| missing())?;
    let id = request.id("endpoint").map_err(|_| missing())?;
    let caller = request.caller()?;
    // Somebody who may not change it learns that, and not what is wrong with the form.
    endpoints::get(&request.management, &caller, id).await?;
    let is_seen = |settings: &Settings| stale_form::is_seen(request, &Typed::of(settings).seen());
    let updated = endpoints::update_seen(&request.management, &caller, id, is_seen, change?);
    Ok(updated.await?.map(|_| ()))
}

fn done(request: &PageRequest, what: &str) -> Answer {
    Ok(see_other(format!("{}?done={what}", path(request)?)))
}

async fn wrong(request: &PageRequest, typed: Option<Typed>, refused: Refused) -> Answer {
    let problems = Problems::of(refused)?;
    form(request, StatusCode::UNPROCESSABLE_ENTITY, typed, problems).await
}

async fn form(request: &PageRequest, typed: Option<Typed>, problems: Problems) -> Answer {
    let (team, id) = (request.team()?, request.id::<EndpointId>("endpoint")?);
    let caller = request.caller()?;
    let endpoint = endpoints::get(&request.management, &caller, id).await?;
    let settings = endpoint.settings;
    let names = settings.headers.iter().map(CustomHeader::name);
    let frame = Frame::of(request, "webhooks").await?;
    let present = Typed::of(&settings);
    let page = Page {
        frame,
        delete: format!("{}/delete", path(request)?),
        path: path(request)?,
        name: endpoint_name::name(settings.description.as_deref(), &settings.url),
        host: endpoint_name::host(&settings.url),
        seen: stale_form::next(request, &problems, present.seen()),
        typed: typed.unwrap_or(present),
        headers: names.map(str::to_owned).collect(),
        typed_headers: request.form.get("headers"),
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}
