//! Deliveries: list, read, send again.

use domain::{
    audit::Action,
    id::{DeliveryId, SiteId, TeamId},
    scope::Scope,
    signature::{SERVICE_SIGNATURE, STANDARD_ID, STANDARD_SIGNATURE, STANDARD_TIMESTAMP},
};
use serde_json::json;
use store::{
    delivery::{self, NotResent},
    endpoint::labels,
    site,
};
pub use store::{
    delivery::{Delivery, Filter, Latest, Listed, LoggedAttempt, Page},
    endpoint::Label,
};

use crate::{Caller, Conflict, Management, Noun, Refused, Session, boxed, record};

/// At most `limit` deliveries of a site that are older than `after`. Deliveries of the newest
/// events come first.
///
/// # Errors
/// The caller may not do it; there is no such site within reach.
#[boxed]
pub async fn list(
    caller: &Caller,
    site: SiteId,
    filter: &Filter,
    after: Option<DeliveryId>,
    limit: usize,
) -> Result<Page, Refused> {
    let mut session = caller.read(Scope::WebhooksRead).await?;
    session.require_site(site).await?;
    Ok(delivery::list(session.conn(), &[site], filter, after, limit).await?)
}

/// At most `limit` deliveries of a team, or of one of its sites, that are older than `after`, and
/// the endpoints of these sites. Deliveries of the newest events come first.
///
/// # Errors
/// The caller may not do it; the team or the site is not within reach.
#[boxed]
pub async fn of_team(
    caller: &Caller,
    (team, site): (TeamId, Option<SiteId>),
    filter: &Filter,
    after: Option<DeliveryId>,
    limit: usize,
) -> Result<(Page, Vec<Label>), Refused> {
    let mut session = caller.read(Scope::WebhooksRead).await?;
    let sites = sites_of(&mut session, team, site).await?;
    let conn = session.conn();
    let page = delivery::list(conn, &sites, filter, after, limit).await?;
    let labels = labels(conn, &sites).await?;
    Ok((page, labels))
}

/// The sites of a team within the caller's reach, or one of them.
pub(crate) async fn sites_of(
    session: &mut Session,
    team: TeamId,
    only: Option<SiteId>,
) -> Result<Vec<SiteId>, Refused> {
    session.require_team(team)?;
    let sites = site::of_team(session.conn(), team, only).await?;
    if only.is_some() && sites.is_empty() {
        return Err(Refused::NotFound(Noun::Site));
    }
    Ok(sites)
}

/// A delivery: what is sent, and every attempt to send it.
///
/// # Errors
/// The caller may not do it; there is no such delivery within reach.
#[boxed]
pub async fn get(caller: &Caller, delivery: DeliveryId) -> Result<Delivery, Refused> {
    let mut session = caller.read(Scope::WebhooksRead).await?;
    find(&caller.management, &mut session, delivery).await
}

/// Sends a delivery that has ended again, at once. If that fails, a whole new schedule of attempts
/// follows. Its id and its body stay the same.
///
/// # Errors
/// The caller may not do it; there is no such delivery within reach; it has not ended; its endpoint is disabled or deleted;
/// it was attempted too often.
#[boxed]
pub async fn resend(caller: &Caller, delivery: DeliveryId) -> Result<Delivery, Refused> {
    let mut session = caller.change(Scope::WebhooksWrite).await?;
    let reach = session.reach();
    let resent = delivery::resend(session.conn(), reach, delivery).await??;
    let after = find(&caller.management, &mut session, delivery).await?;
    let details = json!({
        "site_id": resent.site,
        "endpoint_id": resent.endpoint,
        "event_id": resent.event,
        "changed": { "state": { "from": resent.from, "to": after.listed.status } },
    });
    let action = Action::DeliveryResend;
    record(session, action, resent.team, delivery, details).await?;
    caller.management.queue.enqueued(&resent.jobs);
    Ok(after)
}

async fn find(
    management: &Management,
    session: &mut Session,
    delivery: DeliveryId,
) -> Result<Delivery, Refused> {
    let (reach, key) = (session.reach(), management.master_key()?);
    let delivery = delivery::find(session.conn(), key, reach, delivery).await?;
    delivery.ok_or(Refused::NotFound(Noun::Delivery))
}

impl From<NotResent> for Refused {
    fn from(why: NotResent) -> Self {
        match why {
            NotResent::Unknown => Self::NotFound(Noun::Delivery),
            NotResent::Pending => Self::conflict(
                Conflict::DeliveryPending,
                "The delivery has not ended: it is tried again by itself, at next_attempt_at.",
            ),
            NotResent::Disabled => Self::conflict(
                Conflict::EndpointDisabled,
                "The endpoint is disabled: see why in disabled_reason, enable it, and send the delivery again then.",
            ),
            NotResent::Deleted => Self::conflict(
                Conflict::EndpointDisabled,
                "The endpoint was deleted: nothing is sent to it any more.",
            ),
            NotResent::TooOften => Self::conflict(
                Conflict::LimitReached,
                "The delivery was attempted 10,000 times, after which it is not sent again.",
            ),
        }
    }
}

/// A header of a delivery's attempts.
#[derive(Clone, Debug)]
pub struct SentHeader {
    /// Its name, in lower case.
    pub name: String,
    /// Its value. `None` if each attempt has its own, and for the endpoint's own headers, whose
    /// values are never shown.
    pub value: Option<String>,
}

/// The headers of a request. Each attempt has its own signatures, and the values of the endpoint's
/// own headers are never shown.
pub fn headers(delivery: &Delivery) -> Vec<SentHeader> {
    let listed = &delivery.listed;
    let header = |name: &str, value: Option<String>| SentHeader {
        name: name.to_ascii_lowercase(),
        value,
    };
    let known = [
        ("content-type", Some("application/json".to_owned())),
        ("user-agent", Some("Service-Webhook/1.0".to_owned())),
        ("x-service-event", Some(listed.kind.to_string())),
        ("x-service-delivery-id", Some(listed.id.to_string())),
        (STANDARD_ID, Some(listed.event.to_string())),
        (STANDARD_TIMESTAMP, None),
        (STANDARD_SIGNATURE, None),
        (SERVICE_SIGNATURE, None),
    ];
    let known = known.into_iter().map(|(name, value)| header(name, value));
    let custom = delivery.headers.iter();
    known
        .chain(custom.map(|custom| header(custom.name(), None)))
        .collect()
}
