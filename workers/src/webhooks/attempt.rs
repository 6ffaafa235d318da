//! One attempt: a request, and what its answer means for the delivery.

use std::time::{Duration, Instant};

use bytes::Bytes;
use chrono::Utc;
use database::Clock;
use domain::{
    breaker::Right,
    id::{DeliveryId, EventId},
    signature::{SignatureHeaders, SigningSecrets},
    webhook::{ATTEMPT_DEADLINE, CustomHeader, Outcome, kept_answer, next_delay, retry_after},
};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use metrics::{Counter, Histogram, counter, histogram};
use store::delivery::{Attempt, Attempted, DeliveryState, ToDeliver};
use telemetry::trace::{Context, Current, Kind, Span, Step};
use tracing::debug;

use super::Courier;
use crate::outbound::{Answer, Outbound, OutboundError, Post, Socket};

/// Sets all counters to 0 at the start. Otherwise Prometheus would not see the first increase.
pub(super) fn expect_none() {
    for outcome in OUTCOMES {
        attempts(outcome).increment(0);
    }
    for class in [FIRST, RETRY] {
        let _shown = deliveries(class);
    }
}

/// Sends a delivery. `None`: no connection was free, so nothing was sent. This is not the endpoint's fault.
///
/// Each attempt is a step of its own in the item's trace.
pub(super) async fn attempt(
    courier: &Courier,
    delivery: &ToDeliver,
    right: Right,
    socket: Socket,
) -> Option<Attempted> {
    let step = Step::after(delivery.trace, delivery.team.as_uuid().into_bytes());
    let sending = send(courier, delivery, right, socket, step);
    Current::of(step).scope(sending).await
}

async fn send(
    courier: &Courier,
    delivery: &ToDeliver,
    right: Right,
    socket: Socket,
    step: Step,
) -> Option<Attempted> {
    let mut span = Span::begin(step, "webhook", Kind::Client);
    span.set_with("media.id", || delivery.media.to_string());
    span.set_with("delivery.id", || delivery.delivery.to_string());
    span.set_with("endpoint.id", || delivery.endpoint.to_string());
    span.set("event", delivery.kind.as_str());
    span.set("attempt", delivery.attempts + 1);
    let message = Message {
        event: delivery.kind.as_str(),
        id: delivery.event,
        delivery: delivery.delivery,
        secrets: &delivery.secrets,
        custom: &delivery.headers,
        body: &delivery.body,
        trace: Some(step.context),
        clock: &courier.clock,
    };
    let started = Instant::now();
    let answer = message.send(&courier.outbound, socket, &delivery.url).await;
    let elapsed = started.elapsed();
    if matches!(answer, Err(OutboundError::Busy(_))) {
        span.forget();
        return None;
    }
    let attempted = judge(delivery, answer, elapsed, right);
    tell(&mut span, &attempted);
    log(delivery, &attempted);
    count(delivery, &attempted);
    Some(attempted)
}

/// What the collector is told of an attempt. Never its URL, which may have a secret, or the answer.
fn tell(span: &mut Span, attempted: &Attempted) {
    let Some(attempt) = &attempted.attempt else {
        return;
    };
    span.set("outcome", attempt.outcome);
    if let Some(code) = attempt.status_code {
        span.set("http.response.status_code", code);
    }
    if attempted.state != DeliveryState::Delivered {
        span.fail(attempt.outcome);
    }
}

/// The line with which a person finds an attempt in the log. Never its URL, or the answer.
fn log(delivery: &ToDeliver, attempted: &Attempted) {
    let Some(attempt) = &attempted.attempt else {
        return;
    };
    debug!(
        media.id = %delivery.media,
        delivery.id = %delivery.delivery,
        endpoint.id = %delivery.endpoint,
        event = delivery.kind.as_str(),
        attempt = attempt.number,
        outcome = attempt.outcome,
        code = attempt.status_code,
        error = attempt.error,
        elapsed_ms = attempt.elapsed.as_secs_f64() * 1_000.0,
        "an attempt of a delivery ended"
    );
}

/// What the outcome of an attempt means for its delivery.
fn judge(
    delivery: &ToDeliver,
    answer: Result<Answer, OutboundError>,
    elapsed: Duration,
    right: Right,
) -> Attempted {
    let number = delivery.attempts + 1;
    let of_schedule = number.saturating_sub(delivery.earlier_attempts);
    let again = |wish: Option<Duration>| match next_delay(of_schedule, rand::random(), wish) {
        Some(delay) => DeliveryState::Pending(delay),
        None => DeliveryState::Exhausted,
    };
    let mut attempted = Attempted {
        delivery: delivery.delivery,
        attempt: None,
        state: DeliveryState::Delivered,
        disable: None,
    };
    let (outcome, status_code, response_body, error) = match answer {
        Ok(answer) => {
            let outcome = Outcome::of_status(answer.status);
            match outcome {
                Outcome::Delivered => {}
                Outcome::Gone => {
                    attempted.state = DeliveryState::Discarded;
                    attempted.disable = Some((delivery.endpoint, "the endpoint answered 410 Gone"));
                }
                Outcome::Failed => {
                    let asked = answer.retry_after.as_deref();
                    let now = Utc::now();
                    attempted.state =
                        again(asked.and_then(|value| retry_after(answer.status, value, now)));
                }
            }
            let word = outcome.as_str();
            let kept = kept_answer(outcome, &answer.body);
            (word, Some(answer.status), kept, None)
        }
        Err(error) => {
            attempted.state = again(None);
            (failure(&error), None, None, Some(error.to_string()))
        }
    };
    let is_as_ever = attempted.state == DeliveryState::Delivered && delivery.health.is_well();
    attempted.attempt = Some(Attempt {
        number,
        elapsed,
        outcome,
        status_code,
        response_body,
        url: delivery.url.clone(),
        error,
        sign: (!is_as_ever).then_some((delivery.endpoint, right)),
    });
    attempted
}

pub(super) const fn failure(error: &OutboundError) -> &'static str {
    match error {
        OutboundError::Refused(_) => "refused",
        OutboundError::Busy(_) => "busy",
        OutboundError::Timeout => "timeout",
        OutboundError::Connect(_) => "connect",
        OutboundError::Tls(_) => "tls",
        OutboundError::Protocol(_) => "protocol",
    }
}

/// The outcomes of attempts. `busy` is not an attempt.
const OUTCOMES: [&str; 8] = [
    "delivered",
    "gone",
    "status",
    "refused",
    "timeout",
    "connect",
    "tls",
    "protocol",
];

const FIRST: &str = "first";
const RETRY: &str = "retry";

fn deliveries(class: &'static str) -> Histogram {
    histogram!("gatehouse_webhook_delivery_seconds", "attempt_class" => class)
}

fn attempts(outcome: &'static str) -> Counter {
    counter!("gatehouse_webhook_attempts_total", "outcome" => outcome)
}

fn count(delivery: &ToDeliver, attempted: &Attempted) {
    let Some(attempt) = &attempted.attempt else {
        return;
    };
    attempts(attempt.outcome).increment(1);
    if attempted.state == DeliveryState::Delivered {
        let class = if attempt.number == 1 { FIRST } else { RETRY };
        let since = (Utc::now() - delivery.occurred_at)
            .to_std()
            .unwrap_or_default();
        deliveries(class).record(since);
    }
}

/// An event for an endpoint.
pub(super) struct Message<'a> {
    /// The event's name.
    pub(super) event: &'a str,
    pub(super) id: EventId,
    pub(super) delivery: DeliveryId,
    pub(super) secrets: &'a SigningSecrets,
    /// The headers that the endpoint's owner wants on every request.
    pub(super) custom: &'a [CustomHeader],
    pub(super) body: &'a [u8],
    /// This request's step of the trace.
    pub(super) trace: Option<Context>,
    /// Gives the time of the signature.
    pub(super) clock: &'a Clock,
}

impl Message<'_> {
    pub(super) async fn send(
        &self,
        outbound: &Outbound,
        socket: Socket,
        url: &str,
    ) -> Result<Answer, OutboundError> {
        let post = Post {
            url,
            headers: self.headers(self.clock.unix_seconds()),
            body: Bytes::copy_from_slice(self.body),
            deadline: ATTEMPT_DEADLINE,
        };
        outbound.post(socket, post).await
    }

    fn headers(&self, timestamp: i64) -> HeaderMap {
        let signatures = SignatureHeaders::sign(self.secrets, self.id, timestamp, self.body);
        let id = self.delivery.to_string();
        let event = [
            ("x-service-event", self.event),
            ("x-service-delivery-id", id.as_str()),
        ];
        let mut headers = HeaderMap::new();
        let mut set = |name: &str, value: &str| {
            headers.insert(
                HeaderName::from_bytes(name.as_bytes()).expect("names were checked"),
                HeaderValue::from_str(value).expect("values were checked"),
            );
        };
        // Our headers come last, so that no custom header replaces a signature.
        for header in self.custom {
            set(header.name(), header.expose());
        }
        for (name, value) in signatures.iter().chain(event) {
            set(name, value);
        }
        if let Some(trace) = self.trace {
            set("traceparent", &trace.to_string());
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(USER_AGENT, HeaderValue::from_static("Service-Webhook/1.0"));
        headers
    }
}
