//! Deliver: sign an event, send it through the egress guard, and log the attempt. A failed attempt is scheduled again in
//! Postgres; nothing sleeps here.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use apalis::prelude::{BoxDynError, Data};
use bytes::Bytes;
use chrono::Utc;
use domain::{
    id::DeliveryId,
    signature::{SignatureHeaders, SigningSecrets},
    webhook::{ATTEMPT_DEADLINE, Outcome, next_delay, retry_after},
};
use metrics::{counter, histogram};
use queue::Finish;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use store::{
    PgPool,
    delivery::{self, Attempt, Attempted, DeliveryState, ToDeliver},
    gather::Loader,
    jobs::DeliveryJob,
    seal::MasterKey,
};
use tracing::debug;

use crate::outbound::{Answer, Outbound, OutboundError, Post};

/// What the delivering step works with.
#[derive(Clone)]
pub struct Courier {
    deliveries: Loader<DeliveryId, Arc<ToDeliver>>,
    outbound: Outbound,
}

impl Courier {
    /// A courier who sends through `outbound`.
    pub fn new(pool: PgPool, key: MasterKey, outbound: Outbound) -> Self {
        Self {
            deliveries: delivery::loader(pool, key),
            outbound,
        }
    }
}

/// Runs one job: one attempt, unless the delivery has ended or its endpoint is disabled.
pub(crate) async fn deliver(
    job: DeliveryJob,
    courier: Data<Courier>,
) -> Result<Finish<Option<Attempted>>, BoxDynError> {
    let Some(delivery) = courier.deliveries.load(job.delivery).await? else {
        return Ok(Finish::Done(None));
    };
    if delivery.disabled {
        return Ok(Finish::Done(Some(Attempted {
            delivery: delivery.delivery,
            attempt: None,
            state: DeliveryState::Discarded,
            disable: None,
        })));
    }
    let started = Instant::now();
    let answer = send(&courier.outbound, &delivery).await;
    let elapsed = started.elapsed();
    let attempted = record(&delivery, answer, elapsed);
    count(&delivery, &attempted);
    Ok(match attempted.state {
        DeliveryState::Pending(delay) => Finish::Again {
            effect: Some(attempted),
            delay,
            charged: true,
        },
        DeliveryState::Delivered | DeliveryState::Exhausted | DeliveryState::Discarded => {
            Finish::Done(Some(attempted))
        }
    })
}

async fn send(outbound: &Outbound, delivery: &ToDeliver) -> Result<Answer, OutboundError> {
    let post = Post {
        url: &delivery.url,
        headers: headers(delivery, Utc::now().timestamp()),
        body: Bytes::from(delivery.body.clone()),
        deadline: ATTEMPT_DEADLINE,
    };
    outbound.post(post).await
}

fn headers(delivery: &ToDeliver, timestamp: i64) -> HeaderMap {
    let secrets = SigningSecrets {
        current: delivery.secret.clone(),
        previous: None,
    };
    let signatures = SignatureHeaders::sign(&secrets, delivery.event, timestamp, &delivery.body);
    let id = delivery.delivery.to_string();
    let event = [
        ("x-service-event", delivery.kind.as_str()),
        ("x-service-delivery-id", id.as_str()),
    ];
    let mut headers = HeaderMap::new();
    for (name, value) in signatures.iter().chain(event) {
        let name = HeaderName::from_bytes(name.as_bytes()).expect("our header names are valid");
        headers.insert(
            name,
            HeaderValue::from_str(value).expect("ids, names and digests are ASCII"),
        );
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(USER_AGENT, HeaderValue::from_static("Service-Webhook/1.0"));
    headers
}

/// What an attempt means for its delivery.
fn record(
    delivery: &ToDeliver,
    answer: Result<Answer, OutboundError>,
    elapsed: Duration,
) -> Attempted {
    let number = delivery.attempts + 1;
    let again = |wish: Option<Duration>| match next_delay(number, rand::random(), wish) {
        Some(delay) => DeliveryState::Pending(delay),
        None => DeliveryState::Exhausted,
    };
    let mut attempted = Attempted {
        delivery: delivery.delivery,
        attempt: None,
        state: DeliveryState::Delivered,
        disable: None,
    };
    let (outcome, status_code, response_body) = match answer {
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
            let word = match outcome {
                Outcome::Delivered => "delivered",
                Outcome::Gone => "gone",
                Outcome::Failed => "status",
            };
            (word, Some(answer.status), Some(answer.body))
        }
        Err(error) => {
            debug!(delivery.id = %delivery.delivery, %error, "an attempt failed");
            attempted.state = again(None);
            (failure(&error), None, None)
        }
    };
    attempted.attempt = Some(Attempt {
        number,
        elapsed,
        outcome,
        status_code,
        response_body,
    });
    attempted
}

const fn failure(error: &OutboundError) -> &'static str {
    match error {
        OutboundError::Refused(_) => "refused",
        OutboundError::Timeout => "timeout",
        OutboundError::Connect(_) => "connect",
        OutboundError::Tls(_) => "tls",
        OutboundError::Protocol(_) => "protocol",
    }
}

fn count(delivery: &ToDeliver, attempted: &Attempted) {
    let Some(attempt) = &attempted.attempt else {
        return;
    };
    counter!("gatehouse_webhook_attempts_total", "outcome" => attempt.outcome).increment(1);
    if attempted.state == DeliveryState::Delivered {
        let class = if attempt.number == 1 {
            "first"
        } else {
            "retry"
        };
        let since = (Utc::now() - delivery.occurred_at)
            .to_std()
            .unwrap_or_default();
        histogram!("gatehouse_webhook_delivery_seconds", "attempt_class" => class).record(since);
    }
}
