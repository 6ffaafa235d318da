//! Disabling and enabling an endpoint, and sending its waiting deliveries now.

use domain::{audit::Action, id::EndpointId, reason::Reason, scope::Scope};
use serde_json::json;
use store::{
    endpoint::crud::{self, Endpoint},
    jobs,
};

use super::{find, lock, record};
use crate::{Caller, Management, Refused};

/// Disables an endpoint: it gets no events that happen from now on. An endpoint that is already
/// disabled keeps its reason.
///
/// # Errors
/// The caller may not do it; there is no such endpoint within reach.
pub async fn disable(
    management: &Management,
    caller: &Caller,
    endpoint: EndpointId,
    reason: &Reason,
) -> Result<Endpoint, Refused> {
    let mut session = management.change(caller, Scope::WebhooksWrite).await?;
    let before = lock(management, &mut session, endpoint).await?;
    if !crud::disable(session.conn(), endpoint, reason.as_str()).await? {
        return Ok(before);
    }
    let after = find(management, &mut session, endpoint).await?;
    let details = json!({ "reason": reason });
    record(session, Action::EndpointDisable, &after, details).await?;
    Ok(after)
}

/// Enables an endpoint, whatever disabled it. It counts as new: its delivery health is reset, and
/// waiting deliveries are sent at once.
///
/// # Errors
/// The caller may not do it; there is no such endpoint within reach.
pub async fn enable(
    management: &Management,
    caller: &Caller,
    endpoint: EndpointId,
) -> Result<Endpoint, Refused> {
    let mut session = management.change(caller, Scope::WebhooksWrite).await?;
    let before = lock(management, &mut session, endpoint).await?;
    if !crud::enable(session.conn(), endpoint).await? {
        return Ok(before);
    }
    let after = find(management, &mut session, endpoint).await?;
    let reason = json!({ "from": before.disabled_reason, "to": null });
    let details = json!({ "changed": { "disabled_reason": reason } });
    record(session, Action::EndpointEnable, &after, details).await?;
    management.queue.wake([jobs::WEBHOOKS]);
    Ok(after)
}

/// Makes the deliveries that wait for their next attempt due now, and returns their number. The
/// endpoint's delivery health is reset.
///
/// # Errors
/// The caller may not do it; there is no such endpoint within reach.
pub async fn retry_now(
    management: &Management,
    caller: &Caller,
    endpoint: EndpointId,
) -> Result<u64, Refused> {
    let mut session = management.change(caller, Scope::WebhooksWrite).await?;
    let endpoint = lock(management, &mut session, endpoint).await?;
    let deliveries = crud::retry_now(session.conn(), endpoint.id).await?;
    let details = json!({ "deliveries": deliveries });
    record(session, Action::EndpointRetry, &endpoint, details).await?;
    management.queue.wake([jobs::WEBHOOKS]);
    Ok(deliveries)
}
