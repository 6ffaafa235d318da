//! A delivery: what was sent, every attempt with its answer, and sending it again.

use askama::Template;
use chrono::{DateTime, Utc};
use domain::{
    id::{DeliveryId, EndpointId, SiteId},
    webhook::DeliveryStatus,
};
use management::{
    Refused,
    deliveries::{self, SentHeader},
    endpoints,
};

use super::{attempt::Shown, endpoint_name};
use crate::page::{self, Answer, Frame, PageRequest, Problems};

/// Bytes of a body that are shown.
const BODY_BYTES: usize = 100 * 1024;

#[derive(Template)]
#[template(path = "webhooks/delivery.html")]
struct Page {
    frame: Frame,
    path: String,
    id: DeliveryId,
    event: String,
    kind: &'static str,
    media: String,
    site: SiteId,
    happened: DateTime<Utc>,
    state: &'static str,
    tone: &'static str,
    is_pending: bool,
    tried: i16,
    next: Option<DateTime<Utc>>,
    ended: Option<DateTime<Utc>>,
    endpoint: EndpointId,
    /// What the endpoint is called; none if it was deleted.
    endpoint_name: Option<String>,
    is_disabled: bool,
    headers: Vec<SentHeader>,
    body: String,
    /// Bytes of the whole body, if not all of it is shown.
    cut_of: Option<usize>,
    attempts: Vec<Shown>,
    problems: Problems,
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    page(&request, Problems::default()).await
}

pub(crate) async fn resend(request: PageRequest) -> Answer {
    let (id, caller) = (request.id::<DeliveryId>("delivery")?, request.caller()?);
    match deliveries::resend(&caller, id).await {
        Ok(_) => request.lead_to(format!("deliveries/{id}?done=resent")),
        Err(refused) => page(&request, Problems::of(refused)?).await,
    }
}

/// Makes all that waits for the delivery's endpoint due now, this delivery with it.
pub(crate) async fn retry(request: PageRequest) -> Answer {
    let (id, caller) = (request.id::<DeliveryId>("delivery")?, request.caller()?);
    let delivery = deliveries::get(&caller, id).await?;
    endpoints::retry_now(&caller, delivery.listed.endpoint).await?;
    request.lead_to(format!("deliveries/{id}?done=retried"))
}

async fn page(request: &PageRequest, problems: Problems) -> Answer {
    let (id, caller) = (request.id::<DeliveryId>("delivery")?, request.caller()?);
    let delivery = deliveries::get(&caller, id).await?;
    let listed = delivery.listed.clone();
    let endpoint = match endpoints::get(&caller, listed.endpoint).await {
        Ok(endpoint) => Some(endpoint),
        Err(Refused::NotFound(_)) => None,
        Err(other) => return Err(other.into()),
    };
    let shown = &delivery.body[..delivery.body.len().min(BODY_BYTES)];
    let frame = Frame::of(request, "webhooks").await?;
    let page = Page {
        path: frame.path(&format!("deliveries/{id}")),
        frame,
        id,
        event: listed.event.to_string(),
        kind: listed.kind.as_str(),
        media: listed.media.to_string(),
        site: delivery.site,
        happened: listed.occurred_at,
        state: listed.status.as_str(),
        tone: tone(listed.status),
        is_pending: listed.status == DeliveryStatus::Pending,
        tried: listed.attempts,
        next: listed.next_attempt_at,
        ended: listed.ended_at,
        endpoint: listed.endpoint,
        is_disabled: endpoint
            .as_ref()
            .is_some_and(|endpoint| endpoint.disabled_at.is_some()),
        endpoint_name: endpoint.map(|endpoint| {
            let settings = endpoint.settings;
            endpoint_name::name(settings.description.as_deref(), &settings.url)
        }),
        headers: deliveries::headers(&delivery),
        body: String::from_utf8_lossy(shown).into_owned(),
        cut_of: (delivery.body.len() > BODY_BYTES).then_some(delivery.body.len()),
        attempts: delivery.attempts.into_iter().map(Shown::from).collect(),
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}

pub(super) fn tone(state: DeliveryStatus) -> &'static str {
    match state {
        DeliveryStatus::Pending => "warn",
        DeliveryStatus::Delivered => "ok",
        DeliveryStatus::Exhausted => "no",
        DeliveryStatus::Discarded => "",
    }
}
