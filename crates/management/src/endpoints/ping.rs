//! A test of an endpoint: one request, now.

use std::sync::Arc;

use domain::{audit::Action, id::EndpointId, scope::Scope, webhook::Outcome};
use serde_json::json;
use store::{
    endpoint::{self, Pinged, Target, crud},
    jobs,
};

use crate::{Caller, Change, Doing, Management, Noun, Refused};

/// Sends `webhook.test.ping` to an endpoint, disabled or not, and waits for the end. If it
/// succeeds, deliveries that wait for their next attempt are due now. Otherwise it does not change
/// the endpoint's delivery health.
///
/// # Errors
/// The caller may not do it; there is no such endpoint within reach; too many tests run, or that endpoint was tested too
/// often.
pub async fn ping(
    management: &Arc<Management>,
    caller: &Caller,
    endpoint: EndpointId,
) -> Result<Pinged, Refused> {
    let mut session = management.read(caller, Scope::WebhooksWrite).await?;
    let (reach, key) = (session.reach(), management.master_key()?);
    let target = endpoint::target(session.conn(), key, reach, endpoint).await?;
    let target = target.ok_or(Refused::NotFound(Noun::Endpoint))?;
    // No transaction is open during a call to another machine.
    let (doing, management) = (session.leave(), Arc::clone(management));
    // What was sent is recorded even if the caller no longer waits for it.
    let pinging = tokio::spawn(async move { run(&management, doing, target).await });
    pinging.await.map_err(|_| Refused::Internal)?
}

async fn run(management: &Management, doing: Doing, target: Target) -> Result<Pinged, Refused> {
    let (endpoint, team) = (target.endpoint, target.team);
    let pinged = management.endpoint_checks.ping(target).await?;
    let change = Change {
        action: Action::EndpointPing,
        team: Some(team),
        target: endpoint.as_uuid(),
        details: json!({ "outcome": pinged.outcome, "status_code": pinged.status_code }),
    };
    let delivered = pinged.outcome == Outcome::Delivered.as_str();
    let mut tx = doing.begin(management).await?;
    if delivered {
        crud::retry_now(&mut tx, endpoint).await?;
    }
    doing.done(tx, change).await?;
    if delivered {
        management.queue.wake([jobs::WEBHOOKS]);
    }
    Ok(pinged)
}
