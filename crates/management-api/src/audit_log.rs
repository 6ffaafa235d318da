//! The audit log: list.

use std::collections::HashMap;

use api_common::{Field, Json, Query, RawJson, Refusal, Schema, Time};
use domain::{
    audit::Action,
    id::{ActorId, TeamId},
    scope::Scope,
};
use management::audit_log;
use poem_openapi::OpenApi;
use serde::Serialize;
use serde_json::{Value, json};
use store::audit::{self, Filter};
use uuid::Uuid;

use super::{After, Caller, Limit, List, Operation, Part, Tag, example_values};

/// A recorded change.
#[derive(Serialize, Schema)]
pub(super) struct AuditEntry {
    /// The ID of the entry.
    id: Uuid,
    /// When the change was made.
    occurred_at: Field<Time>,
    /// Who made the change: `token`, `member` (a person), or `command_line` (somebody with access
    /// to the database).
    actor: String,
    /// The ID of the token or the person. `null` for the command line.
    #[schema(nullable)]
    actor_id: Option<Uuid>,
    /// The action, as noun and verb, such as `plan.update`. More actions may be added.
    action: String,
    /// The team that the change is about. `null` if it is about all teams.
    #[schema(nullable)]
    team_id: Option<Uuid>,
    /// The ID of the thing that was changed.
    #[schema(nullable)]
    target_id: Option<Uuid>,
    /// What exactly was done. A change of a thing has the old and the new value of each changed
    /// field: `{"changed": {"name": {"from": ..., "to": ...}}}`. Details never contain secrets or
    /// content.
    details: RawJson<HashMap<String, Value>>,
    /// The `X-Request-Id` of the request. `null` for the command line.
    #[schema(nullable)]
    request_id: Option<String>,
    /// The trace of the request, as `trace.id` in the log: 32 hexadecimal digits. `null` for the command line.
    #[schema(nullable)]
    trace_id: Option<String>,
}

impl From<audit::Recorded> for AuditEntry {
    fn from(entry: audit::Recorded) -> Self {
        Self {
            id: entry.id.as_uuid(),
            occurred_at: entry.occurred_at.into(),
            actor: entry.actor,
            actor_id: entry.actor_id.map(ActorId::as_uuid),
            action: entry.action,
            team_id: entry.team.map(TeamId::as_uuid),
            target_id: entry.target,
            details: entry.details.into(),
            request_id: entry.request_id,
            trace_id: entry.trace.map(|trace| trace.to_string()),
        }
    }
}

#[derive(Default)]
pub(crate) struct AuditLog;

#[OpenApi(tag = "Tag::AuditLog")]
impl AuditLog {
    /// List what was changed
    ///
    /// Returns the latest changes first. A team's token sees the changes that are about its team.
    #[oai(path = "/audit-log", method = "get", operation_id = "listAuditLog")]
    #[expect(clippy::too_many_arguments, reason = "one for each parameter")]
    async fn list_audit_log(
        &self,
        caller: Caller,
        /// Only changes made at this time or later.
        since: Query<Time>,
        /// Only changes made before this time.
        until: Query<Time>,
        /// Only changes with this action.
        action: Query<Action>,
        /// Only changes of the thing with this ID.
        target_id: Query<Uuid>,
        /// The most items in one page.
        limit: Query<Limit>,
        /// Where to continue: the `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<AuditEntry>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let filter = Filter {
            since: since.0.map(|time| time.0),
            until: until.0.map(|time| time.0),
            action: action.0,
            target: target_id.0,
            actor: None,
        };
        let entries = audit_log::list(&caller, filter, part.page()).await?;
        Ok(Json(part.list(entries, |entry| entry.id.as_uuid())))
    }
}

/// What the document says beyond the signatures.
pub(super) fn descriptions() -> Vec<Operation> {
    let entry = json!({
        "id": "01980f6d-03aa-7bbb-8ccc-0123456789ab",
        "occurred_at": example_values::CREATED_AT,
        "actor": "token",
        "actor_id": example_values::TOKEN,
        "action": "plan.update",
        "team_id": null,
        "target_id": example_values::PLAN,
        "details": { "changed": { "submissions_per_period": { "from": 50_000, "to": 100_000 } } },
        "request_id": "0199f0a2-4c11-7d61-8a7e-1f6f0b7f5c55",
        "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736",
    });
    vec![Operation::new("listAuditLog", Scope::AuditRead).answer(example_values::list(&entry))]
}
