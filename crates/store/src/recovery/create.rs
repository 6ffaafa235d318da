//! Starting a recovery: what must be known of its endpoint, its row, and the job of its first
//! slice.

use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::{
    actor::Actor,
    event::EventKind,
    id::{EndpointId, RecoveryId, SiteId, TeamId},
    reach::Reach,
    recovery::RecoveryKind,
    webhook::WebhookRetentionDays,
};
use queue::NewJobs;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{Error, chain, jobs};

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
