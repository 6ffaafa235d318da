//! The settings of an endpoint: a new one, changing them, replacing its headers, deleting it.

use askama::Template;
use domain::{
    id::{EndpointId, SiteId},
    webhook::CustomHeader,
};
use management::{
    Outdated, Refused,
    endpoints::{self, EndpointChange, NewEndpoint, Settings},
};

use super::{
    endpoint::done,
    endpoint_name,
    filters::{self, sites},
    form_values::{Typed, both, read_headers},
};
use crate::page::{self, Answer, Choice, Frame, PageRequest, Problems, stale_form};

#[derive(Template)]
#[template(path = "webhooks/settings.html")]
struct Page {
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
    problems: Problems,
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    form(&request, None, Problems::default()).await
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
            form(&request, Some(typed), problems).await
        }
        Err(refused) => wrong(&request, Some(typed), refused).await,
    }
}

pub(crate) async fn replace_headers(request: PageRequest) -> Answer {
    let change = read_headers(request.form.get("headers")).and_then(|headers| {
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
            form(&request, None, problems).await
        }
        Err(refused) => wrong(&request, None, refused).await,
    }
}

pub(crate) async fn delete(request: PageRequest) -> Answer {
    let (id, caller) = (request.id::<EndpointId>("endpoint")?, request.caller()?);
    let endpoint = endpoints::get(&caller, id).await?;
    if request.form.get("typed") != endpoint_name::host(&endpoint.settings.url) {
        let refused = Refused::field("typed", "is not the host of this endpoint");
        return wrong(&request, None, refused).await;
    }
    endpoints::delete(&caller, id).await?;
    request.lead_to("webhooks?done=endpoint-deleted")
}

async fn update(
    request: &PageRequest,
    change: Result<EndpointChange, Refused>,
) -> Result<Result<(), Outdated>, Refused> {
    let missing = |_| Refused::NotFound(management::Noun::Endpoint);
    let id = request.id("endpoint").map_err(missing)?;
    let caller = request.caller()?;
    // Somebody who may not change it learns that, and not what is wrong with the form.
    endpoints::get(&caller, id).await?;
    let is_seen = |settings: &Settings| stale_form::is_seen(request, &Typed::of(settings).seen());
    let updated = endpoints::update_seen(&caller, id, is_seen, change?);
    Ok(updated.await?.map(|_| ()))
}

async fn wrong(request: &PageRequest, typed: Option<Typed>, refused: Refused) -> Answer {
    form(request, typed, Problems::of(refused)?).await
}

async fn form(request: &PageRequest, typed: Option<Typed>, problems: Problems) -> Answer {
    let (id, caller) = (request.id::<EndpointId>("endpoint")?, request.caller()?);
    let endpoint = endpoints::get(&caller, id).await?;
    let settings = endpoint.settings;
    let names = settings.headers.iter().map(CustomHeader::name);
    let frame = Frame::of(request, "webhooks").await?;
    let present = Typed::of(&settings);
    let path = frame.path(&format!("webhooks/{id}"));
    let page = Page {
        frame,
        delete: format!("{path}/delete"),
        path,
        name: endpoint_name::name(settings.description.as_deref(), &settings.url),
        host: endpoint_name::host(&settings.url),
        seen: stale_form::next(request, &problems, present.seen()),
        typed: typed.unwrap_or(present),
        headers: names.map(str::to_owned).collect(),
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}

#[derive(Template)]
#[template(path = "webhooks/new.html")]
struct New {
    frame: Frame,
    sites: Vec<Choice>,
    typed: Typed,
    problems: Problems,
}

pub(crate) async fn new(request: PageRequest) -> Answer {
    let site = filters::id(request.query.get("site"));
    new_form(&request, site, Typed::empty(), Problems::default()).await
}

pub(crate) async fn create(request: PageRequest) -> Answer {
    let typed = Typed::sent(&request.form);
    let site = filters::id(request.form.get("site"));
    match endpoint(&request, site, &typed).await {
        Ok(id) => request.lead_to(format!("webhooks/{id}?done=endpoint-created")),
        Err(refused) => new_form(&request, site, typed, Problems::of(refused)?).await,
    }
}

async fn endpoint(
    request: &PageRequest,
    site: Option<SiteId>,
    typed: &Typed,
) -> Result<EndpointId, Refused> {
    let caller = request.caller()?;
    let site = site.ok_or_else(|| Refused::field("site", "must be one of your sites"));
    let headers = read_headers(request.form.get("headers"));
    let (site, (read, headers)) = both(site, both(typed.read(), headers))?;
    let new = NewEndpoint {
        url: read.url,
        events: Some(read.events),
        description: read.description,
        max_per_second: read.limit,
        headers,
    };
    let created = endpoints::create(&caller, site, new).await?;
    Ok(created.id)
}

async fn new_form(
    request: &PageRequest,
    site: Option<SiteId>,
    typed: Typed,
    problems: Problems,
) -> Answer {
    let page = New {
        frame: Frame::of(request, "webhooks").await?,
        sites: sites(request, site).await?,
        typed,
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}
