//! Webhooks as their owners see them: where events go, what signs them, and what became of them.

mod deliveries;
mod endpoints;
mod events;
mod secret;

use domain::{audit::Action, id::TeamId};
use serde_json::Value;
use uuid::Uuid;

use super::{
    document::Operation,
    session::{Change, Session},
};
use crate::problem::Refusal;

/// The operations, noun by noun.
pub(super) type Nouns = (
    endpoints::WebhookEndpoints,
    secret::WebhookSecrets,
    deliveries::Deliveries,
    events::WebhookEvents,
);

pub(super) fn nouns() -> Nouns {
    (
        endpoints::WebhookEndpoints,
        secret::WebhookSecrets,
        deliveries::Deliveries,
        events::WebhookEvents,
    )
}

/// Records what was done, and commits.
async fn record(
    session: Session,
    action: Action,
    team: TeamId,
    target: Uuid,
    details: Value,
) -> Result<(), Refusal> {
    let change = Change {
        action,
        team: Some(team),
        target,
        details,
    };
    Ok(session.commit(change).await?)
}

/// What the document says beyond the signatures.
pub(super) fn described() -> Vec<Operation> {
    [
        endpoints::described(),
        secret::described(),
        deliveries::described(),
        events::described(),
    ]
    .concat()
}
