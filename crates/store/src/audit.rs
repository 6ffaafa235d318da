//! The audit log: who changed what. Rows are only added, in the transaction of the change that they
//! record. Soon afterwards they are sealed: they become links of a chain, which shows whether the
//! log was changed.

mod chains;
pub mod retention;
pub mod sealing;
pub mod verify;

use chrono::{DateTime, Utc};
use domain::{
    actor::Actor,
    audit::Action,
    id::{ActorId, AuditId, TeamId},
    reach::Reach,
};
use serde_json::value::{RawValue, Value};
use sqlx::{PgConnection, types::Json};
use telemetry::trace::TraceId;
use uuid::Uuid;

pub use self::chains::{Ends, after, before, ends, next, slice};
use crate::{Error, page::Page};

/// The index of the rows that are not sealed yet, by chain and time.
pub(crate) const UNSEALED_INDEX: &str = "audit_log_unsealed_idx";
/// The index of the sealed rows, by chain and number. It is unique.
pub(crate) const CHAIN_INDEX: &str = "audit_log_chain_key";

/// Something that was done.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Who did it.
    pub actor: Actor,
    /// What was done.
    pub action: Action,
    /// The team concerned; none where it concerns all.
    pub team: Option<TeamId>,
    /// The thing that it was done to.
    pub target: Option<Uuid>,
    /// What changed: a JSON object, never with a secret or content in it.
    pub details: &'a Value,
    /// The request that asked for it.
    pub request_id: Option<&'a str>,
}

/// A row of the log.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The row.
    pub id: AuditId,
    /// Who did it: `token`, `member` or `command_line`.
    pub actor: String,
    /// Its id, unless it is the command line.
    pub actor_id: Option<ActorId>,
    /// What was done; newer versions know more actions than this one.
    pub action: String,
    /// The team concerned; none where it concerns all.
    pub team: Option<TeamId>,
    /// The thing that it was done to.
    pub target: Option<Uuid>,
    /// What changed.
    pub details: Box<RawValue>,
    /// The request that asked for it.
    pub request_id: Option<String>,
    /// The trace of that request.
    pub trace: Option<TraceId>,
    /// When it was done.
    pub occurred_at: DateTime<Utc>,
}

/// Which rows are wanted. All given conditions must hold.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter {
    /// At this time or later.
    pub since: Option<DateTime<Utc>>,
    /// Before this time.
    pub until: Option<DateTime<Utc>>,
    /// This action.
    pub action: Option<Action>,
    /// Done to this thing.
    pub target: Option<Uuid>,
    /// Done by this actor.
    pub actor: Option<ActorId>,
}

/// Adds a row, with the trace of the running request.
pub async fn record(conn: &mut PgConnection, entry: Entry<'_>) -> Result<(), Error> {
    Ok(insert(conn, entry).await?)
}

/// The same in the effect of a job.
pub(crate) async fn insert(conn: &mut PgConnection, entry: Entry<'_>) -> Result<(), sqlx::Error> {
    let trace = telemetry::trace::current().map(|step| step.context.trace());
    sqlx::query!(
        "
        insert into audit_log (id, team_id, actor, actor_id, action, target_id, details, request_id, trace_id)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        ",
        Uuid::now_v7(),
        entry.team.map(TeamId::as_uuid),
        entry.actor.kind(),
        entry.actor.as_uuid(),
        entry.action.as_str(),
        entry.target,
        Json(entry.details) as _,
        entry.request_id,
        trace.as_ref().map(|trace| &trace.as_bytes()[..]),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Rows, the latest first. A team sees the rows that concern it.
pub async fn list(
    conn: &mut PgConnection,
    reach: Reach,
    filter: Filter,
    page: Page,
) -> Result<Vec<Recorded>, Error> {
    let rows = sqlx::query!(
        r#"
        select
            id, actor, actor_id, action, team_id, target_id, details as "details: Json<Box<RawValue>>", request_id,
            trace_id, occurred_at
        from audit_log
        where
            ($1::uuid is null or team_id = $1)
            and ($2::timestamptz is null or occurred_at >= $2)
            and ($3::timestamptz is null or occurred_at < $3)
            and ($4::text is null or action = $4)
            and ($5::uuid is null or target_id = $5)
            and ($6::uuid is null or id < $6)
            and ($8::uuid is null or actor_id = $8)
        order by id desc
        limit $7
        "#,
        reach.team().map(TeamId::as_uuid),
        filter.since,
        filter.until,
        filter.action.map(Action::as_str),
        filter.target,
        page.after,
        page.limit,
        filter.actor.map(ActorId::as_uuid),
    )
    .fetch_all(conn)
    .await?;
    let recorded = rows.into_iter().map(|row| Recorded {
        id: row.id.into(),
        actor: row.actor,
        actor_id: row.actor_id.map(ActorId::from),
        action: row.action,
        team: row.team_id.map(TeamId::from),
        target: row.target_id,
        details: row.details.0,
        request_id: row.request_id,
        trace: row.trace_id.as_deref().and_then(TraceId::of_bytes),
        occurred_at: row.occurred_at,
    });
    Ok(recorded.collect())
}
