//! A test of an endpoint: sent at once, once, and recorded nowhere.

use std::time::Instant;

use chrono::Utc;
use database::Clock;
use domain::{event, id::EventId, webhook::Outcome};
use store::endpoint::{Pinged, Target};
use uuid::Uuid;

use super::attempt::{Message, failure};
use crate::outbound::{Busy, Outbound, OutboundError};

/// Sends `webhook.test.ping`, with everything that real events have, and returns the outcome.
///
/// # Errors
/// Nothing was sent, because the team has no free connection now.
pub async fn ping(outbound: &Outbound, clock: &Clock, target: &Target) -> Result<Pinged, Busy> {
    let socket = outbound.socket(target.team).await?;
    let body = event::ping(target.site, Utc::now(), &target.secrets.current);
    let message = Message {
        event: event::PING,
        id: EventId::from(Uuid::now_v7()),
        delivery: Uuid::now_v7().into(),
        secrets: &target.secrets,
        custom: &target.headers,
        body: &body,
        trace: telemetry::trace::current().map(|step| step.context.child()),
        clock,
    };
    let started = Instant::now();
    let answer = message.send(outbound, socket, &target.url).await;
    let elapsed = started.elapsed();
    Ok(match answer {
        Ok(answer) => Pinged {
            outcome: Outcome::of_status(answer.status).as_str(),
            status_code: Some(answer.status),
            response_body: Some(answer.body),
            error: None,
            elapsed,
        },
        Err(OutboundError::Busy(busy)) => return Err(busy),
        Err(error) => Pinged {
            outcome: failure(&error),
            status_code: None,
            response_body: None,
            error: Some(error.to_string()),
            elapsed,
        },
    })
}
