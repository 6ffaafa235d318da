//! The history of a media item: verdicts, events, and deliveries.

use std::collections::HashMap;

use api_common::{Field, RawJson, Schema, Time, public_schemas::ModerationDetails};
use domain::{
    event::EventKind,
    media::{ModerationType, Status},
};
use serde::Serialize;
use serde_json::{Value, value::RawValue};
use store::media;
use uuid::Uuid;

/// One verdict about an item.
#[derive(Serialize, Schema)]
pub(super) struct MediaVerdict {
    /// Its number. An item's verdicts count from 1.
    number: i16,
    /// The item's status after it.
    status: Field<Status>,
    /// The item's status before it.
    previous_status: Field<Status>,
    /// Who or what decided.
    moderation_type: Field<ModerationType>,
    /// `moderation_details` as in the event.
    details: RawJson<ModerationDetails>,
    /// Why it was decided so: the evidence for each violation and what could not be checked, or who decided. It is meant
    /// for people: its members may change.
    trace: RawJson<HashMap<String, Value>>,
    /// When it was decided.
    moderated_at: Field<Time>,
}

/// An event about an item.
#[derive(Serialize, Schema)]
pub(super) struct MediaEvent {
    /// The event's id: the `webhook-id` of its deliveries.
    id: Uuid,
    /// Its kind.
    kind: Field<EventKind>,
    /// The number of the verdict it reports. `null` for `media.created`.
    #[schema(nullable)]
    verdict: Option<i16>,
    /// When it happened.
    occurred_at: Field<Time>,
    /// Its delivery to each subscribed endpoint.
    deliveries: Vec<MediaDelivery>,
}

/// An event's delivery to an endpoint.
#[derive(Serialize, Schema)]
struct MediaDelivery {
    /// The delivery's id: the `X-Service-Delivery-ID` of its attempts.
    id: Uuid,
    /// The endpoint.
    endpoint_id: Uuid,
    /// `pending`, `delivered`, `exhausted` (all attempts failed) or `discarded` (its endpoint was disabled or deleted).
    /// More states may be added.
    state: String,
    /// Attempts made so far.
    attempts: i16,
    /// When the next attempt is due. `null` when the delivery has ended.
    #[schema(nullable)]
    next_attempt_at: Option<Field<Time>>,
    /// When it ended. `null` while it is pending.
    #[schema(nullable)]
    ended_at: Option<Field<Time>>,
}

impl TryFrom<media::Verdict> for MediaVerdict {
    type Error = store::Error;

    fn try_from(verdict: media::Verdict) -> Result<Self, store::Error> {
        Ok(Self {
            number: verdict.number,
            status: Field(verdict.status),
            previous_status: Field(verdict.previous_status),
            moderation_type: Field(verdict.moderation_type),
            details: verdict.details.into(),
            trace: without_internals(&verdict.trace)?.into(),
            moderated_at: verdict.moderated_at.into(),
        })
    }
}

/// A trace without details of provider failures, which can reveal addresses in our network.
pub(crate) fn without_internals(trace: &RawValue) -> Result<Box<RawValue>, serde_json::Error> {
    let mut trace: Value = serde_json::from_str(trace.get())?;
    let unchecked = trace.get_mut("unchecked").and_then(Value::as_array_mut);
    for part in unchecked.into_iter().flatten() {
        if let Some(members) = part.as_object_mut() {
            members.shift_remove("detail");
        }
    }
    serde_json::value::to_raw_value(&trace)
}

impl From<media::Event> for MediaEvent {
    fn from(event: media::Event) -> Self {
        Self {
            id: event.id.as_uuid(),
            kind: Field(event.kind),
            verdict: event.verdict,
            occurred_at: event.occurred_at.into(),
            deliveries: event
                .deliveries
                .into_iter()
                .map(MediaDelivery::from)
                .collect(),
        }
    }
}

impl From<media::Delivery> for MediaDelivery {
    fn from(delivery: media::Delivery) -> Self {
        Self {
            id: delivery.id.as_uuid(),
            endpoint_id: delivery.endpoint.as_uuid(),
            state: delivery.state,
            attempts: delivery.attempts,
            next_attempt_at: delivery.next_attempt_at.map(Field::from),
            ended_at: delivery.ended_at.map(Field::from),
        }
    }
}
