//! Deliver: sign an event, send it through the egress guard, and log the attempt. A failed attempt is scheduled again in
//! Postgres; nothing sleeps here.

pub mod ping;
mod turn;

use std::time::{Duration, Instant};

use apalis::prelude::{BoxDynError, Data};
use bytes::Bytes;
use chrono::Utc;
use database::Clock;
use domain::{
    breaker::Right,
    id::{DeliveryId, EndpointId, EventId},
    signature::{SignatureHeaders, SigningSecrets},
    webhook::{ATTEMPT_DEADLINE, CustomHeader, Outcome, kept_answer, next_delay, retry_after},
};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use metrics::{Counter, counter, histogram};
use queue::{Finish, Run};
use store::{
    PgPool,
    delivery::{self, Attempt, Attempted, DeliveryState, HandedOn, Loaded, Progress, ToDeliver},
    gather::Loader,
    jobs::DeliveryJob,
    seal::MasterKey,
};
use tracing::debug;

use self::turn::{Turn, turn};
use crate::outbound::{Answer, Outbound, OutboundError, Post, Socket};

/// What the delivering step works with.
#[derive(Clone)]
pub struct Courier {
    deliveries: Loader<DeliveryId, Loaded>,
    pool: PgPool,
    outbound: Outbound,
    clock: Clock,
}

impl Courier {
    /// A courier who sends through `outbound`, and signs with the time of `clock`.
    pub fn new(pool: PgPool, key: MasterKey, outbound: Outbound, clock: Clock) -> Self {
        // Shown as 0 from the start: a counter that first appears with its first attempt has no increase then.
        for outcome in OUTCOMES {
            attempts(outcome).increment(0);
        }
        Self {
            deliveries: delivery::loader(pool.clone(), key),
            pool,
            outbound,
            clock,
        }
    }
}

/// Runs one job. A page is divided into its deliveries.
pub(crate) async fn deliver(
    job: DeliveryJob,
    run: Run,
    courier: Data<Courier>,
) -> Result<Finish<Option<Progress>>, BoxDynError> {
    let endpoint = run.lane.0.into();
    let (Some(team), None) = (job.team, job.single()) else {
        return match job.single() {
            Some(delivery) => deliver_one(delivery, endpoint, &courier).await,
            None => Ok(Finish::Done(None)),
        };
    };
    let deliveries = job.turns.into_iter().flatten();
    Ok(Finish::Done(Some(Progress {
        endpoint,
        team,
        attempted: Vec::new(),
        handed_on: deliveries
            .map(|delivery| HandedOn {
                turns: vec![vec![delivery]],
                delay: Duration::ZERO,
            })
            .collect(),
    })))
}

/// One attempt, unless the delivery has ended, its endpoint is disabled, or it is not its turn.
async fn deliver_one(
    delivery: DeliveryId,
    endpoint: EndpointId,
    courier: &Courier,
) -> Result<Finish<Option<Progress>>, BoxDynError> {
    let delivery = match courier.deliveries.load(delivery).await? {
        Some(Loaded::Ready(delivery)) => delivery,
        Some(Loaded::Unreadable) => return Err("the delivery cannot be read".into()),
        None => return Ok(Finish::Done(None)),
    };
    let progress = |attempted| {
        Some(Progress {
            endpoint,
            team: delivery.team,
            attempted: vec![attempted],
            handed_on: Vec::new(),
        })
    };
    if delivery.disabled {
        return Ok(Finish::Done(progress(Attempted {
            delivery: delivery.delivery,
            attempt: None,
            state: DeliveryState::Discarded,
            disable: None,
        })));
    }
    let (right, socket) = match turn(&courier.pool, &courier.outbound, &delivery).await? {
        Turn::Now(right, socket) => (right, socket),
        Turn::Later(delay) => return Ok(later(delay)),
    };
    let started = Instant::now();
    let answer = send(courier, socket, &delivery).await;
    let elapsed = started.elapsed();
    if matches!(answer, Err(OutboundError::Busy(_))) {
        // Not an attempt: nothing was sent, and the endpoint has nothing to do with it.
        return Ok(later(turn::soon()));
    }
    let attempted = record(&delivery, answer, elapsed, right);
    count(&delivery, &attempted);
    Ok(match attempted.state {
        DeliveryState::Pending(delay) => Finish::Again {
            effect: progress(attempted),
            delay,
            charged: true,
        },
        DeliveryState::Delivered | DeliveryState::Exhausted | DeliveryState::Discarded => {
            Finish::Done(progress(attempted))
        }
    })
}

/// The same job again, charged no attempt.
fn later(delay: Duration) -> Finish<Option<Progress>> {
    Finish::Again {
        effect: None,
        delay,
        charged: false,
    }
}

async fn send(
    courier: &Courier,
    socket: Socket,
    delivery: &ToDeliver,
) -> Result<Answer, OutboundError> {
    let message = Message {
        event: delivery.kind.as_str(),
        id: delivery.event,
        delivery: delivery.delivery,
        secrets: &delivery.secrets,
        custom: &delivery.headers,
        body: &delivery.body,
        clock: &courier.clock,
    };
    message.send(&courier.outbound, socket, &delivery.url).await
}

/// An event on its way to an endpoint.
struct Message<'a> {
    /// The event's name.
    event: &'a str,
    id: EventId,
    delivery: DeliveryId,
    secrets: &'a SigningSecrets,
    /// What the endpoint's owner wants on every request.
    custom: &'a [CustomHeader],
    body: &'a [u8],
    /// Says when it is signed.
    clock: &'a Clock,
}

impl Message<'_> {
    async fn send(
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
        // Ours last: whatever the owner wants, nobody else signs in our name.
        for header in self.custom {
            set(header.name(), header.expose());
        }
        for (name, value) in signatures.iter().chain(event) {
            set(name, value);
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(USER_AGENT, HeaderValue::from_static("Service-Webhook/1.0"));
        headers
    }
}

/// What an attempt means for its delivery.
fn record(
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
            debug!(delivery.id = %delivery.delivery, %error, "an attempt failed");
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

const fn failure(error: &OutboundError) -> &'static str {
    match error {
        OutboundError::Refused(_) => "refused",
        OutboundError::Busy(_) => "busy",
        OutboundError::Timeout => "timeout",
        OutboundError::Connect(_) => "connect",
        OutboundError::Tls(_) => "tls",
        OutboundError::Protocol(_) => "protocol",
    }
}

/// How attempts end; `busy` is none.
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

fn attempts(outcome: &'static str) -> Counter {
    counter!("gatehouse_webhook_attempts_total", "outcome" => outcome)
}

fn count(delivery: &ToDeliver, attempted: &Attempted) {
    let Some(attempt) = &attempted.attempt else {
        return;
    };
    attempts(attempt.outcome).increment(1);
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
