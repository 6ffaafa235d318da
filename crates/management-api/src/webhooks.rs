//! Webhooks, for their owners: endpoints, secrets, events and deliveries.

mod deliveries;
mod endpoints;
mod events;
mod secret;

use super::Operation;

/// The operations, noun by noun.
pub(super) type Nouns = (
    endpoints::WebhookEndpoints,
    secret::WebhookSecrets,
    deliveries::Deliveries,
    events::WebhookEvents,
);

/// What the document says beyond the signatures.
pub(super) fn descriptions() -> Vec<Operation> {
    [
        endpoints::descriptions(),
        secret::descriptions(),
        deliveries::descriptions(),
        events::descriptions(),
    ]
    .concat()
}
