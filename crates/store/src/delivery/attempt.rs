//! The result of a delivery that was sent or given up.

use std::time::Duration;

use domain::{
    breaker::Right,
    id::{DeliveryId, EndpointId},
};

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
    pub(super) const fn as_str(self) -> &'static str {
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
