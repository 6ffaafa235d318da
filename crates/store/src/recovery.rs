//! Recoveries: an endpoint gets what it has missed or lost, slice by slice ([`slice`]), by jobs of
//! a queue of its own. The deliveries of a slice become pending in the transaction that finishes
//! its job, so a recovery omits nothing and sends nothing twice. A delivery that still arrives
//! twice has the same id both times.

pub mod slice;

use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::{
    actor::Actor,
    chain::State,
    event::{EventKind, iso8601, iso8601_or_null},
    id::{ActorId, EndpointId, RecoveryId, SiteId, TeamId},
    reach::Reach,
    recovery::RecoveryKind,
    webhook::WebhookRetentionDays,
};
use queue::{NewJobs, QueueName};
use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{
    Error,
    chain::{self, Chain},
    id_time::made_at,
    jobs::{self, RecoveryJob},
    page::Page,
};

/// A recovery, and how far it has got. The audit log shows it as the management interface does.
#[derive(Clone, Debug, Serialize)]
pub struct Recovery {
    /// The recovery.
    pub id: RecoveryId,
    /// The endpoint.
    #[serde(rename = "endpoint_id")]
    pub endpoint: EndpointId,
    /// Its site.
    #[serde(rename = "site_id")]
    pub site: SiteId,
    /// Its team.
    #[serde(skip)]
    pub team: TeamId,
    /// Which events.
    pub kind: RecoveryKind,
    /// Only events of this kind.
    pub event: Option<EventKind>,
    /// Only events that happened at this time or later, the oldest first,
    #[serde(serialize_with = "iso8601")]
    pub since: DateTime<Utc>,
    /// and before this time.
    #[serde(serialize_with = "iso8601")]
    pub until: DateTime<Utc>,
    /// All events before this time are done; none: no event yet.
    #[serde(serialize_with = "iso8601_or_null")]
    pub reached: Option<DateTime<Utc>>,
    /// Its status.
    pub state: State,
    /// How many deliveries, or events where deliveries are missing, it has looked at.
    pub looked_at: i64,
    /// How many of them it has sent again.
    pub resent: i64,
    /// Why it failed.
    pub error: Option<String>,
    /// Who started it; none for the command line.
    pub created_by: Option<ActorId>,
    /// When it was started.
    #[serde(serialize_with = "iso8601")]
    pub created_at: DateTime<Utc>,
    /// When it ended; none while it runs.
    #[serde(serialize_with = "iso8601_or_null")]
    pub ended_at: Option<DateTime<Utc>>,
}

impl Chain for Recovery {
    const TABLE: &'static str = "webhook_recoveries";
    const QUEUE: QueueName = jobs::RECOVERIES;
    type Place = Option<Uuid>;
    type Job = RecoveryJob;

    fn row(job: &RecoveryJob) -> Uuid {
        job.recovery.as_uuid()
    }
}

/// Stops a recovery. False: it has ended already. Deliveries that it has sent go on. A running
/// slice is dropped.
pub async fn cancel(conn: &mut PgConnection, recovery: RecoveryId) -> Result<bool, Error> {
    Ok(chain::cancel::<Recovery>(conn, recovery.as_uuid()).await?)
}

/// The wait before the first slice: by then, everything that was being written at the creation is
/// visible or known to be missing.
const SETTLED: Duration = Duration::from_secs(1);

/// What a recovery needs to know of an endpoint.
#[derive(Clone, Debug)]
pub struct Target {
    /// The endpoint.
    pub endpoint: EndpointId,
    /// Its site.
    pub site: SiteId,
    /// Its team.
    pub team: TeamId,
    /// Whether it is disabled.
    pub is_disabled: bool,
    /// How long its site keeps events.
    pub retention: WebhookRetentionDays,
    /// When all of this was read, by Postgres's clock.
    pub at: DateTime<Utc>,
}

/// A recovery to run.
#[derive(Clone, Copy, Debug)]
pub struct NewRecovery<'a> {
    /// Of what goes to this endpoint.
    pub target: &'a Target,
    /// Which events.
    pub kind: RecoveryKind,
    /// Only events of this kind.
    pub event: Option<EventKind>,
    /// Only events that happened at this time or later,
    pub since: DateTime<Utc>,
    /// and before this time, which is later.
    pub until: DateTime<Utc>,
    /// Who starts it.
    pub by: Actor,
}

/// An endpoint; none if there is none within reach.
pub async fn target(
    conn: &mut PgConnection,
    reach: Reach,
    endpoint: EndpointId,
) -> Result<Option<Target>, Error> {
    let row = sqlx::query!(
        r#"
        select
            p.site_id, s.team_id, p.disabled_at is not null as "is_disabled!", s.webhook_retention_days,
            now() as "at!"
        from webhook_endpoints p
        join sites s on s.id = p.site_id
        where p.id = $1 and ($2::uuid is null or s.team_id = $2) and p.deleted_at is null
        "#,
        endpoint.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(conn)
    .await?;
    row.map(|row| {
        let retention = i64::from(row.webhook_retention_days);
        Ok(Target {
            endpoint,
            site: row.site_id.into(),
            team: row.team_id.into(),
            is_disabled: row.is_disabled,
            retention: retention
                .try_into()
                .map_err(|error| Error::Unreadable(format!("a retention {error}")))?,
            at: row.at,
        })
    })
    .transpose()
}

/// Creates a recovery with its first job. Tell the queue of the job after the commit. None: the
/// endpoint has a running recovery already. Run it in a transaction, and roll the transaction back
/// if the answer is none.
pub async fn create(
    conn: &mut PgConnection,
    new: NewRecovery<'_>,
) -> Result<Option<(RecoveryId, NewJobs)>, Error> {
    let id = RecoveryId::from(Uuid::now_v7());
    let target = new.target;
    let inserted = sqlx::query!(
        "
        insert into webhook_recoveries (id, endpoint_id, site_id, team_id, kind, event, since, until, created_by)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        ",
        id.as_uuid(),
        target.endpoint.as_uuid(),
        target.site.as_uuid(),
        target.team.as_uuid(),
        new.kind.as_str(),
        new.event.map(EventKind::as_str),
        new.since,
        new.until,
        new.by.as_uuid(),
    )
    .execute(&mut *conn)
    .await;
    if !chain::is_inserted(inserted, "webhook_recoveries_running_key")? {
        return Ok(None);
    }
    let jobs = chain::begin(conn, jobs::recover(id, target.team).delay(SETTLED)).await?;
    Ok(Some((id, jobs)))
}

/// The recoveries that meet a condition.
macro_rules! select {
    ($conn:expr, $condition:literal, $($value:expr),+) => {
        sqlx::query!(
            "
        select
            id, endpoint_id, site_id, team_id, kind, event, since, until, walked_to, state, looked_at, resent, created_by,
            created_at, ended_at, error
        from webhook_recoveries
        where "
                + $condition
                + "
        ",
            $($value),+
        )
        .fetch_all($conn)
        .await?
        .into_iter()
        .map(|row| {
            let state: State = row.state.parse()?;
            let reached = match (state, row.walked_to.and_then(made_at)) {
                (State::Finished, _) => Some(row.until),
                // The walk begins a little before `since` and ends a little after `until`.
                (_, walked_to) => walked_to.map(|at| at.clamp(row.since, row.until)),
            };
            Ok(Recovery {
                id: row.id.into(),
                endpoint: row.endpoint_id.into(),
                site: row.site_id.into(),
                team: row.team_id.into(),
                kind: row.kind.parse()?,
                event: row.event.map(|kind| kind.parse()).transpose()?,
                since: row.since,
                until: row.until,
                reached,
                state,
                looked_at: row.looked_at,
                resent: row.resent,
                created_by: row.created_by.map(ActorId::from),
                created_at: row.created_at,
                ended_at: row.ended_at,
                error: row.error,
            })
        })
        .collect::<Result<Vec<_>, Error>>()
    };
}

/// A recovery; none if there is none within reach.
pub async fn find(
    conn: &mut PgConnection,
    reach: Reach,
    recovery: RecoveryId,
) -> Result<Option<Recovery>, Error> {
    let found = select!(
        conn,
        "id = $1 and ($2::uuid is null or team_id = $2)",
        recovery.as_uuid(),
        reach.team().map(TeamId::as_uuid)
    );
    Ok(found?.pop())
}

/// An endpoint's recoveries, the latest first.
pub async fn list(
    conn: &mut PgConnection,
    endpoint: EndpointId,
    page: Page,
) -> Result<Vec<Recovery>, Error> {
    select!(
        conn,
        "endpoint_id = $1 and ($2::uuid is null or id < $2)
        order by id desc
        limit $3",
        endpoint.as_uuid(),
        page.after,
        page.limit
    )
}
