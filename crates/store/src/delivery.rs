//! The delivery step: what is sent to an endpoint, and what must be checked before.

mod attempt;
mod body;
mod details;
mod latest_attempts;
mod list;
mod load;
mod progress;
mod record;
mod resend;
pub(crate) mod retention;
mod row;

use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::{
    event::EventKind,
    id::{DeliveryId, EndpointId, EventId, MediaId, TeamId},
    signature::SigningSecrets,
    webhook::{CustomHeader, Health},
};

pub use self::{
    attempt::{Attempt, Attempted, DeliveryState},
    details::{Delivery, LoggedAttempt, find},
    latest_attempts::{Latest, latest},
    list::{Filter, Listed, Page, WALKED, list},
    load::loader,
    progress::{DeliveryDied, HandedOn, Progress},
    resend::{NotResent, Resent, resend},
};
pub(crate) use self::{
    list::{ENDPOINTS, endpoints},
    resend::MOST_ATTEMPTS,
};

/// A delivery that has not ended.
#[derive(Clone, Debug)]
pub struct ToDeliver {
    /// The delivery.
    pub delivery: DeliveryId,
    /// The item that it is about.
    pub media: MediaId,
    /// The item's trace.
    pub trace: telemetry::trace::Context,
    /// The team of the endpoint's site.
    pub team: TeamId,
    /// The event, the same for all endpoints.
    pub event: EventId,
    /// What kind of event it is.
    pub kind: EventKind,
    /// Where it goes.
    pub endpoint: EndpointId,
    /// The endpoint's URL.
    pub url: String,
    /// Whether the endpoint was disabled in the meantime.
    pub disabled: bool,
    /// Attempts made so far.
    pub attempts: u16,
    /// How many of them belong to an earlier schedule, before the delivery was sent again.
    pub earlier_attempts: u16,
    /// When the event happened.
    pub occurred_at: DateTime<Utc>,
    /// What signs it.
    pub secrets: SigningSecrets,
    /// The headers that the endpoint's owner wants on every request.
    pub headers: Vec<CustomHeader>,
    /// The endpoint's delivery health.
    pub health: Health,
    /// When all of this was read, by Postgres's clock.
    pub at: DateTime<Utc>,
    /// The endpoint's limit of requests per second. `None` means no limit.
    pub max_per_second: Option<u32>,
    /// The delivery that should reach the endpoint first and has not: the acceptance of the same
    /// item.
    pub held_by: Option<DeliveryId>,
    /// The raw body to sign and send; the same for every attempt.
    pub body: Vec<u8>,
}

/// Who asks: a team. Jobs of older binaries do not name their team; together they count as one.
pub type Asker = Option<TeamId>;

/// A delivery that has not ended, as it was found.
#[derive(Clone, Debug)]
pub enum Loaded {
    /// Ready to be sent.
    Ready(Arc<ToDeliver>),
    /// Its stored form cannot be read. The reason was logged.
    Unreadable,
}
