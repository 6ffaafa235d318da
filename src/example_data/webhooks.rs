//! How the events were told: most at once, some at the second or third attempt, and some not at all.

use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::{
    event::EventKind,
    id::{DeliveryId, EndpointId},
    webhook::next_delay,
};
use store::example_data::{Attempt, Batch, Delivery, Event};

use super::random::Chance;

/// An endpoint of the example.
pub(super) struct Endpoint {
    pub(super) id: EndpointId,
    pub(super) url: String,
    pub(super) events: Vec<EventKind>,
    /// Since when nothing arrives.
    pub(super) failing_since: Option<DateTime<Utc>>,
}

/// Adds an event, and its delivery if the endpoint wants it. The delivery has ended before `now`.
pub(super) fn tell(
    event: Event,
    kind: EventKind,
    endpoint: &Endpoint,
    now: DateTime<Utc>,
    (batch, chance): (&mut Batch, &mut Chance),
) {
    if endpoint.events.contains(&kind) {
        let delivery = DeliveryId::of(event.id, endpoint.id);
        let fails = endpoint
            .failing_since
            .is_some_and(|since| event.occurred_at >= since);
        // How many attempts fail before one succeeds.
        let failures = match chance.below(1_000) {
            _ if fails => u16::MAX,
            0..=24 => 1,
            25..=34 => 2,
            _ => 0,
        };
        let mut at = event.occurred_at + Duration::from_millis(20 + u64::from(chance.below(80)));
        let mut number: u16 = 1;
        let mut ended_at;
        loop {
            let attempt = attempt(delivery, number, at, endpoint, failures, chance);
            ended_at = at + millis(attempt.duration_ms);
            batch.attempts.push(attempt);
            if number > failures {
                break;
            }
            let wait = next_delay(number, f64::from(chance.below(100)) / 100.0, None);
            // What would be tried again later has been given up here, so that nothing is ever sent.
            match wait.map(|wait| ended_at + wait) {
                Some(next) if next + LONGEST < now => at = next,
                _ => break,
            }
            number += 1;
        }
        batch.deliveries.push(Delivery {
            id: delivery,
            event_id: event.id,
            endpoint_id: endpoint.id,
            delivered: number > failures,
            attempts: small(number),
            created_at: event.occurred_at,
            ended_at,
        });
    }
    batch.events.push(event);
}

/// No attempt takes longer.
const LONGEST: Duration = Duration::from_secs(2);

fn attempt(
    delivery: DeliveryId,
    number: u16,
    started_at: DateTime<Utc>,
    endpoint: &Endpoint,
    failures: u16,
    chance: &mut Chance,
) -> Attempt {
    let arrives = number > failures;
    let refuses = endpoint.failing_since.is_none() || failures < u16::MAX;
    let (outcome, status_code, response_body, error) = match (arrives, refuses) {
        (true, _) => ("delivered", Some(200), None, None),
        (false, true) => ("status", Some(503), Some("Please try again later."), None),
        (false, false) => (
            "connect",
            None,
            None,
            Some("the connection could not be established"),
        ),
    };
    Attempt {
        delivery_id: delivery,
        number: small(number),
        started_at,
        duration_ms: i32::try_from(30 + chance.below(400)).unwrap_or(0),
        outcome,
        status_code,
        response_body,
        url: endpoint.url.clone(),
        error,
    }
}

fn millis(duration: i32) -> Duration {
    Duration::from_millis(u64::try_from(duration).unwrap_or(0))
}

fn small(number: u16) -> i16 {
    i16::try_from(number).unwrap_or(i16::MAX)
}
