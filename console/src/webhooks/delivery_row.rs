//! A delivery in a list.

use domain::{
    id::{DeliveryId, EndpointId},
    webhook::DeliveryStatus,
};
use management::deliveries::Listed;

use crate::time::Moment;

/// A delivery in a list.
pub(super) struct Delivery {
    pub(super) id: DeliveryId,
    pub(super) kind: &'static str,
    pub(super) happened: Moment,
    pub(super) state: &'static str,
    pub(super) tone: &'static str,
    pub(super) attempts: i16,
    pub(super) next: Option<Moment>,
    pub(super) media: String,
    pub(super) endpoint: EndpointId,
}

impl From<Listed> for Delivery {
    fn from(listed: Listed) -> Self {
        Self {
            id: listed.id,
            kind: listed.kind.as_str(),
            happened: listed.occurred_at.into(),
            state: listed.status.as_str(),
            tone: tone(listed.status),
            attempts: listed.attempts,
            next: listed.next_attempt_at.map(Moment::from),
            media: listed.media.to_string(),
            endpoint: listed.endpoint,
        }
    }
}

/// The colour of a state.
pub(super) fn tone(state: DeliveryStatus) -> &'static str {
    match state {
        DeliveryStatus::Pending => "warn",
        DeliveryStatus::Delivered => "ok",
        DeliveryStatus::Exhausted => "no",
        DeliveryStatus::Discarded => "",
    }
}
