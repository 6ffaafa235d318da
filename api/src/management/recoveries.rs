//! Recoveries: have what an endpoint has missed or lost sent to it, watch, stop.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use domain::{
    audit::Action,
    chain::State,
    event::EventKind,
    id::{ActorId, EndpointId, RecoveryId, TeamId},
    recovery::RecoveryKind,
    scope::Scope,
};
use poem::web::Data;
use poem_openapi::{Object, OpenApi};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::recovery::{self, NewRecovery as Wanted, Target};
use uuid::Uuid;

use super::{
    Management, PREFIX, Tag,
    document::{Operation, example},
    list::{After, Limit, List, Part},
    session::{Caller, Change, Session, created},
};
use crate::{
    answer::{Accepted, Json},
    member::{Member, Time, given},
    path::Path,
    payload::JsonBody,
    problem::{Code, Refusal},
    query::Query,
};

/// What a webhook endpoint has missed or lost, on its way to it.
#[derive(Serialize, Object)]
pub(super) struct Recovery {
    /// The recovery.
    id: Uuid,
    /// The endpoint.
    endpoint_id: Uuid,
    /// The endpoint's site.
    site_id: Uuid,
    /// Which events are sent: those whose deliveries failed for good (`failed`), those that were delivered (`delivered`), or
    /// those that were never to be delivered to the endpoint (`missing`).
    kind: Member<RecoveryKind>,
    /// Only events of this kind; null: of all.
    #[oai(nullable)]
    event: Option<Member<EventKind>>,
    /// It sends events that happened at this time or later, the oldest first,
    since: Member<Time>,
    /// and before this time.
    until: Member<Time>,
    /// It has dealt with all that happened before this time; null: with none yet.
    #[oai(nullable)]
    reached: Option<Member<Time>>,
    /// Where it stands.
    state: Member<State>,
    /// How many deliveries, or events if they are `missing`, it has looked at.
    looked_at: i64,
    /// How many of them are on their way by it.
    resent: i64,
    /// Why it failed; null if it has not.
    #[oai(nullable)]
    error: Option<String>,
    /// The token with which it was started.
    #[oai(nullable)]
    created_by: Option<Uuid>,
    /// When it was started.
    created_at: Member<Time>,
    /// When it ended; null while it runs.
    #[oai(nullable)]
    ended_at: Option<Member<Time>>,
}

impl From<recovery::Recovery> for Recovery {
    fn from(recovery: recovery::Recovery) -> Self {
        Self {
            id: recovery.id.as_uuid(),
            endpoint_id: recovery.endpoint.as_uuid(),
            site_id: recovery.site.as_uuid(),
            kind: Member(recovery.kind),
            event: recovery.event.map(Member),
            since: recovery.since.into(),
            until: recovery.until.into(),
            reached: recovery.reached.map(Member::from),
            state: Member(recovery.state),
            looked_at: recovery.looked_at,
            resent: recovery.resent,
            error: recovery.error,
            created_by: recovery.created_by.map(ActorId::as_uuid),
            created_at: recovery.created_at.into(),
            ended_at: recovery.ended_at.map(Member::from),
        }
    }
}

/// What is to be sent to an endpoint.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(super) struct NewRecovery {
    /// Which events: those whose deliveries failed for good (`failed`), those that were delivered, for a receiver that has lost
    /// them (`delivered`), or those that were never to be delivered to the endpoint because it was not there or disabled, of
    /// the kinds that it is told now (`missing`).
    kind: Member<RecoveryKind>,
    /// Only events of this kind. Without, of all.
    #[serde(default, deserialize_with = "given")]
    event: Option<Member<EventKind>>,
    /// Only events that happened at this time or later. They are kept for `webhook_retention_days` of the site.
    since: Member<Time>,
    /// Only events that happened before this time; before now if nothing, or a later time, is said.
    #[serde(default, deserialize_with = "given")]
    until: Option<Member<Time>>,
}

impl NewRecovery {
    /// Between which times, of what is kept.
    fn window(&self, target: &Target) -> Result<(DateTime<Utc>, DateTime<Utc>), Refusal> {
        const DAY: Duration = Duration::from_hours(24);
        let (since, now) = (self.since.0.0, target.at);
        let days = target.retention.get();
        if since < now - DAY * u32::try_from(days).unwrap_or(u32::MAX) {
            let message = format!("is more than {days} days ago: what is older is not kept");
            return Err(Refusal::invalid_field("since", message));
        }
        if since >= now {
            return Err(Refusal::invalid_field("since", "must be in the past"));
        }
        let until = self.until.as_ref().map_or(now, |until| until.0.0.min(now));
        if until <= since {
            return Err(Refusal::invalid_field("until", "must be after since"));
        }
        Ok((since, until))
    }
}

pub(crate) struct Recoveries;

#[OpenApi(tag = "Tag::Webhooks")]
impl Recoveries {
    /// List recoveries of a webhook endpoint
    ///
    /// The latest first. They are kept for 90 days.
    #[oai(
        path = "/webhook-endpoints/:endpoint_id/recoveries",
        method = "get",
        operation_id = "listRecoveries"
    )]
    async fn list_recoveries(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The endpoint.
        endpoint_id: Path<EndpointId>,
        /// How many at most.
        limit: Query<Limit>,
        /// Where to go on: `next_cursor` of the part before.
        cursor: After,
    ) -> Result<Json<List<Recovery>>, Refusal> {
        let mut session = management.read(&caller, Scope::WebhooksRead).await?;
        let target = target(&mut session, endpoint_id.0).await?;
        let part = Part::new(&limit, &cursor);
        let recoveries = recovery::list(session.conn(), target.endpoint, part.page()).await?;
        Ok(Json(
            part.list(recoveries, |recovery| recovery.id.as_uuid()),
        ))
    }

    /// Send events to a webhook endpoint again
    ///
    /// What the endpoint has missed or lost is put on its way in the background, the oldest first, and never so much at once that
    /// it is flooded. Each delivery has a whole schedule of attempts before it, and the id that it had. One recovery of an
    /// endpoint runs at a time.
    #[oai(
        path = "/webhook-endpoints/:endpoint_id/recoveries",
        method = "post",
        operation_id = "createRecovery"
    )]
    async fn create_recovery(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The endpoint.
        endpoint_id: Path<EndpointId>,
        request: JsonBody<NewRecovery>,
    ) -> Result<Accepted<Recovery>, Refusal> {
        let new = request.value;
        let mut session = management.change(&caller, Scope::WebhooksWrite).await?;
        let target = target(&mut session, endpoint_id.0).await?;
        let (since, until) = new.window(&target)?;
        if target.is_disabled {
            return Err(Refusal::new(
                Code::EndpointDisabled,
                "The endpoint is disabled: nothing is sent to it before it is enabled.",
            ));
        }
        let wanted = Wanted {
            target: &target,
            kind: new.kind.0,
            event: new.event.map(|event| event.0),
            since,
            until,
            by: session.actor(),
        };
        let (id, jobs) = recovery::create(session.conn(), wanted).await?;
        let value = Recovery::from(of_caller(&mut session, id).await?);
        let details = created(&value);
        let action = Action::RecoveryCreate;
        record(session, action, target.team, target.endpoint, details).await?;
        management.queue.enqueued(&jobs);
        Ok(Accepted {
            location: format!("{PREFIX}/webhook-recoveries/{id}"),
            value,
        })
    }

    /// Read a recovery
    ///
    /// How far it has got.
    #[oai(
        path = "/webhook-recoveries/:recovery_id",
        method = "get",
        operation_id = "getRecovery"
    )]
    async fn get_recovery(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The recovery.
        recovery_id: Path<RecoveryId>,
    ) -> Result<Json<Recovery>, Refusal> {
        let mut session = management.read(&caller, Scope::WebhooksRead).await?;
        Ok(Json(of_caller(&mut session, recovery_id.0).await?.into()))
    }

    /// Cancel a recovery
    ///
    /// What is on its way by it goes on. One that has ended stays as it is.
    #[oai(
        path = "/webhook-recoveries/:recovery_id/cancel",
        method = "post",
        operation_id = "cancelRecovery"
    )]
    async fn cancel_recovery(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The recovery.
        recovery_id: Path<RecoveryId>,
    ) -> Result<Json<Recovery>, Refusal> {
        let mut session = management.change(&caller, Scope::WebhooksWrite).await?;
        let recovery = of_caller(&mut session, recovery_id.0).await?;
        let (team, endpoint) = (recovery.team, recovery.endpoint);
        if !recovery::cancel(session.conn(), recovery.id).await? {
            return Ok(Json(recovery.into()));
        }
        let value = Recovery::from(of_caller(&mut session, recovery.id).await?);
        let details = json!({ "cancelled": value });
        record(session, Action::RecoveryCancel, team, endpoint, details).await?;
        Ok(Json(value))
    }
}

/// An endpoint that the caller may know of: of his team.
async fn target(session: &mut Session, endpoint: EndpointId) -> Result<Target, Refusal> {
    let of = session.only_team();
    let target = recovery::target(session.conn(), of, endpoint).await?;
    target.ok_or_else(|| Refusal::not_found("webhook endpoint"))
}

/// A recovery that the caller may know of, likewise.
async fn of_caller(
    session: &mut Session,
    recovery: RecoveryId,
) -> Result<recovery::Recovery, Refusal> {
    let of = session.only_team();
    let recovery = recovery::find(session.conn(), of, recovery).await?;
    recovery.ok_or_else(|| Refusal::not_found("recovery"))
}

/// Records what was done to an endpoint, and commits.
async fn record(
    session: Session,
    action: Action,
    team: TeamId,
    endpoint: EndpointId,
    details: Value,
) -> Result<(), Refusal> {
    let change = Change {
        action,
        team: Some(team),
        target: endpoint.as_uuid(),
        details,
    };
    Ok(session.commit(change).await?)
}

/// What the document says beyond the signatures.
pub(super) fn described() -> Vec<Operation> {
    let recovery = json!({
        "id": example::RECOVERY,
        "endpoint_id": example::ENDPOINT,
        "site_id": example::SITE,
        "kind": "failed",
        "event": null,
        "since": "2026-01-30T22:00:00.000000Z",
        "until": example::CREATED_AT,
        "reached": "2026-01-31T04:31:07.512000Z",
        "state": "running",
        "looked_at": 12_500,
        "resent": 12_431,
        "error": null,
        "created_by": example::TOKEN,
        "created_at": example::CREATED_AT,
        "ended_at": null,
    });
    vec![
        Operation {
            answer: Some(example::list(&recovery)),
            ..Operation::new("listRecoveries", Scope::WebhooksRead)
        },
        Operation {
            problems: &[Code::RecoveryRunning, Code::EndpointDisabled],
            request: Some(json!({ "kind": "failed", "since": "2026-01-30T22:00:00Z" })),
            answer: Some(recovery.clone()),
            ..Operation::new("createRecovery", Scope::WebhooksWrite)
        },
        Operation {
            answer: Some(recovery.clone()),
            ..Operation::new("getRecovery", Scope::WebhooksRead)
        },
        Operation {
            answer: Some(recovery),
            ..Operation::new("cancelRecovery", Scope::WebhooksWrite)
        },
    ]
}
