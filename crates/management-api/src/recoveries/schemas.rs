//! Recoveries in requests and responses.

use api_common::field::{Field, Time, given};
use domain::{chain::State, event::EventKind, id::ActorId, recovery::RecoveryKind};
use management::recoveries;
use poem_openapi::Object;
use serde::{Deserialize, Serialize};
use store::recovery;
use uuid::Uuid;

/// A background task that sends a webhook endpoint events that it has missed or lost.
#[derive(Serialize, Object)]
pub(crate) struct Recovery {
    /// The recovery.
    id: Uuid,
    /// The endpoint.
    endpoint_id: Uuid,
    /// The endpoint's site.
    site_id: Uuid,
    /// Which events it sends: those whose deliveries failed for good (`failed`), those that were delivered (`delivered`),
    /// or those that have no delivery to the endpoint (`missing`).
    kind: Field<RecoveryKind>,
    /// Only events of this kind. `null` means all kinds.
    #[oai(nullable)]
    event: Option<Field<EventKind>>,
    /// It sends events that happened at this time or later, oldest first.
    since: Field<Time>,
    /// It sends events that happened before this time.
    until: Field<Time>,
    /// All events before this time are done. `null` if none is done yet.
    #[oai(nullable)]
    reached: Option<Field<Time>>,
    /// Its state.
    state: Field<State>,
    /// How many deliveries it has looked at, or how many events if its kind is `missing`.
    looked_at: i64,
    /// How many of them it has put on their way.
    resent: i64,
    /// Why it failed. `null` if it did not.
    #[oai(nullable)]
    error: Option<String>,
    /// The token that started it. `null` for the command line.
    #[oai(nullable)]
    created_by: Option<Uuid>,
    /// When it was started.
    created_at: Field<Time>,
    /// When it ended. `null` while it runs.
    #[oai(nullable)]
    ended_at: Option<Field<Time>>,
}

impl From<recovery::Recovery> for Recovery {
    fn from(recovery: recovery::Recovery) -> Self {
        Self {
            id: recovery.id.as_uuid(),
            endpoint_id: recovery.endpoint.as_uuid(),
            site_id: recovery.site.as_uuid(),
            kind: Field(recovery.kind),
            event: recovery.event.map(Field),
            since: recovery.since.into(),
            until: recovery.until.into(),
            reached: recovery.reached.map(Field::from),
            state: Field(recovery.state),
            looked_at: recovery.looked_at,
            resent: recovery.resent,
            error: recovery.error,
            created_by: recovery.created_by.map(ActorId::as_uuid),
            created_at: recovery.created_at.into(),
            ended_at: recovery.ended_at.map(Field::from),
        }
    }
}

/// Which events to send to an endpoint again.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewRecovery {
    /// Which events: those whose deliveries failed for good (`failed`), those that were delivered, for a receiver that has
    /// lost them (`delivered`), or those that have no delivery because the endpoint did not exist or was disabled, of the
    /// kinds that it gets now (`missing`).
    kind: Field<RecoveryKind>,
    /// Only events of this kind. If omitted, all kinds.
    #[serde(default, deserialize_with = "given")]
    event: Option<Field<EventKind>>,
    /// Only events that happened at this time or later. Events are kept for the site's `webhook_retention_days`.
    since: Field<Time>,
    /// Only events that happened before this time. If omitted or in the future, before now.
    #[serde(default, deserialize_with = "given")]
    until: Option<Field<Time>>,
}

impl From<NewRecovery> for recoveries::NewRecovery {
    fn from(new: NewRecovery) -> Self {
        Self {
            kind: new.kind.0,
            event: new.event.map(|event| event.0),
            since: new.since.0.0,
            until: new.until.map(|until| until.0.0),
        }
    }
}
