//! The delivery step: what is sent to an endpoint, and what must be checked before.

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

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use domain::{
    breaker::Right,
    event::EventKind,
    id::{DeliveryId, EndpointId, EventId, MediaId, TeamId},
    signature::SigningSecrets,
    webhook::{CustomHeader, Health},
};

pub use self::{
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

/// How an attempt went.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// Which one, from 1.
    pub number: u16,
    /// How long it took.
    pub elapsed: Duration,
    /// How it ended, in one word: `delivered`, `status`, `timeout`, `refused`, ...
    pub outcome: &'static str,
    /// The answer's status.
    pub status_code: Option<u16>,
    /// What is kept of the answer ([`domain::webhook::kept_answer`]).
    pub response_body: Option<Vec<u8>>,
    /// Where it went.
    pub url: String,
    /// Why there was no answer, in words for the endpoint's owner; none if there was one.
    pub error: Option<String>,
    /// What it says about the endpoint; none if nothing new.
    pub sign: Option<(EndpointId, Right)>,
}

/// What becomes of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryState {
    /// There will be another attempt after this time.
    Pending(Duration),
    /// The endpoint has it.
    Delivered,
    /// Its attempts are spent.
    Exhausted,
    /// Its endpoint is disabled.
    Discarded,
}

impl DeliveryState {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Pending(_) => "pending",
            Self::Delivered => "delivered",
            Self::Exhausted => "exhausted",
            Self::Discarded => "discarded",
        }
    }
}

/// What a run did for a delivery: it made an attempt, or found that no attempt is needed.
#[derive(Debug)]
pub struct Attempted {
    /// The delivery.
    pub delivery: DeliveryId,
    /// The attempt that was made.
    pub attempt: Option<Attempt>,
    /// The delivery's state now.
    pub state: DeliveryState,
    /// Set when the endpoint asked for no more requests. The endpoint is then disabled for this
    /// reason.
    pub disable: Option<(EndpointId, &'static str)>,
}
