//! An endpoint: its delivery health and the cause, what was sent to it, a test, disabling and enabling it.

use askama::Template;
use domain::{event::EventKind, id::EndpointId, reason::Reason};
use management::{
    deliveries::{self, Filter, Listed},
    endpoints::{self, Endpoint},
    recoveries::{self, Recovery},
    sites,
};

use super::{attempt::Shown, endpoint_name, filters, health::Health, recoveries as recovery_pages};
use crate::page::{self, Answer, Choice, Frame, PageRequest, Problems, Texts, pager};

/// Attempts that are shown.
const ATTEMPTS: i64 = 5;
/// Deliveries that are shown.
const DELIVERIES: usize = 10;
/// Recoveries that are shown.
const RECOVERIES: i64 = 3;

#[derive(Template)]
#[template(path = "webhooks/endpoint.html")]
struct Page {
    frame: Frame,
    path: String,
    one: Endpoint,
    name: String,
    /// The kinds of event that it gets.
    kinds: String,
    site_name: String,
    health: Health,
    attempts: Vec<Shown>,
    deliveries: Vec<Listed>,
    recoveries: Vec<Recovery>,
    recover: Texts,
    events: Vec<Choice>,
    said: Said,
}

/// What the page says beyond the endpoint itself: the answer to what was just asked for.
#[derive(Default)]
struct Said {
    /// The result of a test.
    pinged: Option<Shown>,
    /// The recovery that was asked for and refused.
    wanted: Option<Texts>,
    problems: Problems,
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    page(&request, Said::default()).await
}

/// Leads to the page of the endpoint in the path, which says what was done.
pub(super) fn done(request: &PageRequest, what: &str) -> Answer {
    let endpoint: EndpointId = request.id("endpoint")?;
    request.lead_to(format!("webhooks/{endpoint}?done={what}"))
}

/// The page of the endpoint in the path.
async fn page(request: &PageRequest, mut said: Said) -> Answer {
    let (id, caller) = (request.id("endpoint")?, request.caller()?);

    let endpoint = endpoints::get(&caller, id).await?;
    let site = sites::get(&caller, endpoint.site).await?;
    let latest = endpoints::latest(&caller, id, ATTEMPTS).await?;
    let filter = Filter {
        endpoint: Some(id),
        ..Filter::default()
    };
    let site_id = endpoint.site;
    let listed = deliveries::list(&caller, site_id, &filter, None, DELIVERIES).await?;
    let latest_recoveries = pager::first(RECOVERIES);
    let recovered = recoveries::list(&caller, id, latest_recoveries).await?;
    let days = site.settings.webhook_retention_days.get();
    let suggested = || recovery_pages::suggested(&endpoint, days);
    let recover = said.wanted.take().unwrap_or_else(suggested);
    let frame = Frame::of(request, "webhooks").await?;
    let settings = &endpoint.settings;
    let kinds: Vec<&str> = settings.events.iter().map(|kind| kind.as_str()).collect();
    let page = Page {
        path: frame.path(&format!("webhooks/{id}")),
        frame,
        health: Health::of(&endpoint),
        attempts: latest.into_iter().map(Shown::from).collect(),
        deliveries: listed.deliveries,
        recoveries: recovered,
        events: filters::all(EventKind::ALL, recover.get("event")),
        recover,
        site_name: site.settings.name,
        said,
        name: endpoint_name::name(settings.description.as_deref(), &settings.url),
        kinds: kinds.join(", "),
        one: endpoint,
    };
    Ok(page::html(page.said.problems.status(), &page))
}

pub(crate) async fn disable(request: PageRequest) -> Answer {
    let (id, caller) = (request.id("endpoint")?, request.caller()?);
    let typed = request.form.get("reason");
    match Reason::try_from(typed.to_owned()) {
        Ok(reason) => {
            endpoints::disable(&caller, id, &reason).await?;
            done(&request, "endpoint-disabled")
        }
        Err(wrong) => {
            let said = Said {
                problems: Problems::field("reason", wrong.to_string()),
                ..Said::default()
            };
            page(&request, said).await
        }
    }
}

pub(crate) async fn enable(request: PageRequest) -> Answer {
    let (id, caller) = (request.id("endpoint")?, request.caller()?);
    endpoints::enable(&caller, id).await?;
    done(&request, "endpoint-enabled")
}

pub(crate) async fn retry(request: PageRequest) -> Answer {
    let (id, caller) = (request.id("endpoint")?, request.caller()?);
    let due = endpoints::retry_now(&caller, id).await?;
    done(&request, if due > 0 { "retried" } else { "nothing-waits" })
}

/// A test of the endpoint. The answer is shown in place.
pub(crate) async fn ping(request: PageRequest) -> Answer {
    let (id, caller) = (request.id("endpoint")?, request.caller()?);
    let said = match endpoints::ping(&caller, id).await {
        Ok(pinged) => Said {
            pinged: Some(Shown::from(pinged)),
            ..Said::default()
        },
        Err(refused) => Said {
            problems: Problems::of(refused)?,
            ..Said::default()
        },
    };
    page(&request, said).await
}

pub(crate) async fn recover(request: PageRequest) -> Answer {
    let (id, caller) = (request.id("endpoint")?, request.caller()?);
    let wanted = recovery_pages::sent(&request.form);
    let started = match recovery_pages::read(&wanted) {
        Ok(new) => recoveries::create(&caller, id, new).await,
        Err(refused) => Err(refused),
    };
    match started {
        Ok(_) => done(&request, "recovery-started"),
        Err(refused) => {
            let said = Said {
                wanted: Some(wanted),
                problems: Problems::of(refused)?,
                ..Said::default()
            };
            page(&request, said).await
        }
    }
}
