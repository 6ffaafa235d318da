//! Recoveries: send again what an endpoint has missed or lost, watch, stop.

use api_common::{
    Accepted, Code, Field, Json, JsonBody, Path, Query, Refusal, Schema, Time, given,
};
use domain::{
    chain::State,
    event::EventKind,
    id::{ActorId, EndpointId, RecoveryId},
    recovery::RecoveryKind,
    scope::Scope,
};
use management::recoveries;
use poem_openapi::OpenApi;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::recovery;
use uuid::Uuid;

use super::{After, Caller, Limit, List, Operation, PREFIX, Part, Tag, example_values};

#[derive(Default)]
pub(crate) struct Recoveries;

#[OpenApi(tag = "Tag::Webhooks")]
impl Recoveries {
    /// List recoveries of a webhook endpoint
    ///
    /// Newest first. Recoveries are kept for 90 days.
    #[oai(
        path = "/webhook-endpoints/:endpoint_id/recoveries",
        method = "get",
        operation_id = "listRecoveries"
    )]
    async fn list_recoveries(
        &self,
        caller: Caller,
        /// The endpoint.
        endpoint_id: Path<EndpointId>,
        /// The most items to return.
        limit: Query<Limit>,
        /// `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<Recovery>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let found = recoveries::list(&caller, endpoint_id.0, part.page()).await?;
        Ok(Json(part.list(found, |recovery| recovery.id.as_uuid())))
    }

    /// Send events to a webhook endpoint again
    ///
    /// Puts the events that the endpoint has missed or lost on their way in the background, oldest first, and slowly enough
    /// not to flood the endpoint. Each delivery keeps its id and gets a whole schedule of attempts. An endpoint has at most
    /// one running recovery.
    #[oai(
        path = "/webhook-endpoints/:endpoint_id/recoveries",
        method = "post",
        operation_id = "createRecovery"
    )]
    async fn create_recovery(
        &self,
        caller: Caller,
        /// The endpoint.
        endpoint_id: Path<EndpointId>,
        request: JsonBody<NewRecovery>,
    ) -> Result<Accepted<Recovery>, Refusal> {
        let new = request.value.into();
        let recovery = recoveries::create(&caller, endpoint_id.0, new).await?;
        let location = format!("{PREFIX}/webhook-recoveries/{}", recovery.id);
        Ok(Accepted::at(location, recovery))
    }

    /// Read a recovery
    ///
    /// Shows how far it has got.
    #[oai(
        path = "/webhook-recoveries/:recovery_id",
        method = "get",
        operation_id = "getRecovery"
    )]
    async fn get_recovery(
        &self,
        caller: Caller,
        /// The recovery.
        recovery_id: Path<RecoveryId>,
    ) -> Result<Json<Recovery>, Refusal> {
        let recovery = recoveries::get(&caller, recovery_id.0).await?;
        Ok(Json(recovery.into()))
    }

    /// Cancel a recovery
    ///
    /// Deliveries that are on their way continue. A recovery that has ended stays as it is.
    #[oai(
        path = "/webhook-recoveries/:recovery_id/cancel",
        method = "post",
        operation_id = "cancelRecovery"
    )]
    async fn cancel_recovery(
        &self,
        caller: Caller,
        /// The recovery.
        recovery_id: Path<RecoveryId>,
    ) -> Result<Json<Recovery>, Refusal> {
        let recovery = recoveries::cancel(&caller, recovery_id.0).await?;
        Ok(Json(recovery.into()))
    }
}

/// A background task that sends a webhook endpoint events that it has missed or lost.
#[derive(Serialize, Schema)]
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
    #[schema(nullable)]
    event: Option<Field<EventKind>>,
    /// It sends events that happened at this time or later, oldest first.
    since: Field<Time>,
    /// It sends events that happened before this time.
    until: Field<Time>,
    /// All events before this time are done. `null` if none is done yet.
    #[schema(nullable)]
    reached: Option<Field<Time>>,
    /// Its state.
    state: Field<State>,
    /// How many deliveries it has looked at, or how many events if its kind is `missing`.
    looked_at: i64,
    /// How many of them it has put on their way.
    resent: i64,
    /// Why it failed. `null` if it did not.
    #[schema(nullable)]
    error: Option<String>,
    /// The token that started it. `null` for the command line.
    #[schema(nullable)]
    created_by: Option<Uuid>,
    /// When it was started.
    created_at: Field<Time>,
    /// When it ended. `null` while it runs.
    #[schema(nullable)]
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
#[derive(Deserialize, Schema)]
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

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let recovery = json!({
        "id": example_values::RECOVERY,
        "endpoint_id": example_values::ENDPOINT,
        "site_id": example_values::SITE,
        "kind": "failed",
        "event": null,
        "since": "2026-01-30T22:00:00.000000Z",
        "until": example_values::CREATED_AT,
        "reached": "2026-01-31T04:31:07.512000Z",
        "state": "running",
        "looked_at": 12_500,
        "resent": 12_431,
        "error": null,
        "created_by": example_values::TOKEN,
        "created_at": example_values::CREATED_AT,
        "ended_at": null,
    });
    vec![
        Operation::new("listRecoveries", Scope::WebhooksRead)
            .answer(example_values::list(&recovery)),
        Operation::new("createRecovery", Scope::WebhooksWrite)
            .problems(&[Code::RecoveryRunning, Code::EndpointDisabled])
            .request(json!({ "kind": "failed", "since": "2026-01-30T22:00:00Z" }))
            .answer(recovery.clone()),
        Operation::new("getRecovery", Scope::WebhooksRead).answer(recovery.clone()),
        Operation::new("cancelRecovery", Scope::WebhooksWrite).answer(recovery),
    ]
}
