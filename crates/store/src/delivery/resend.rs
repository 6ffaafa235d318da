//! Sending again what has ended.

use domain::{
    id::{DeliveryId, EndpointId, EventId, SiteId, TeamId},
    reach::Reach,
    webhook::DeliveryStatus,
};
use queue::NewJobs;
use sqlx::PgConnection;

use crate::{Error, jobs};

/// The most attempts after which a delivery is still sent again: they are counted in 16 bits.
pub(crate) const MOST_ATTEMPTS: i16 = 10_000;

/// A delivery that is sent again.
#[derive(Debug)]
pub struct Resent {
    /// Its team.
    pub team: TeamId,
    /// Its site.
    pub site: SiteId,
    /// Its event.
    pub event: EventId,
    /// Where it goes.
    pub endpoint: EndpointId,
    /// Its state before.
    pub from: DeliveryStatus,
    /// The job that sends it. Tell the queue of it after the commit.
    pub jobs: NewJobs,
}

/// Why a delivery is not sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotResent {
    /// There is no such delivery within reach.
    Unknown,
    /// It has not ended.
    Pending,
    /// Its endpoint is disabled.
    Disabled,
    /// Its endpoint was deleted.
    Deleted,
    /// It has been sent too often.
    TooOften,
}

/// Sends a delivery that has ended again: at once, and then with a complete new schedule. Run it in
/// a transaction.
pub async fn resend(
    conn: &mut PgConnection,
    reach: Reach,
    delivery: DeliveryId,
) -> Result<Result<Resent, NotResent>, Error> {
    let row = sqlx::query!(
        r#"
        select
            d.event_id, d.endpoint_id, d.state, d.attempts, p.site_id, s.team_id,
            p.disabled_at is not null as "is_disabled!",
            p.deleted_at is not null as "is_deleted!"
        from deliveries d
        join webhook_endpoints p on p.id = d.endpoint_id
        join sites s on s.id = p.site_id
        where d.id = $1 and ($2::uuid is null or s.team_id = $2)
        for update of d
        "#,
        delivery.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(&mut *conn)
    .await?;
    let Some(row) = row else {
        return Ok(Err(NotResent::Unknown));
    };
    let from = row.state.parse()?;
    if from == DeliveryStatus::Pending {
        return Ok(Err(NotResent::Pending));
    }
    if row.is_deleted {
        return Ok(Err(NotResent::Deleted));
    }
    if row.is_disabled {
        return Ok(Err(NotResent::Disabled));
    }
    if row.attempts >= MOST_ATTEMPTS {
        return Ok(Err(NotResent::TooOften));
    }
    sqlx::query!(
        "
        update deliveries
        set state = 'pending', earlier_attempts = attempts, next_attempt_at = now(), ended_at = null
        where id = $1 and state <> 'pending'
        ",
        delivery.as_uuid(),
    )
    .execute(&mut *conn)
    .await?;
    let endpoint = row.endpoint_id.into();
    let team = row.team_id.into();
    let jobs = NewJobs::from(jobs::deliver(vec![vec![delivery]], endpoint, team));
    queue::enqueue(conn, &jobs).await?;
    Ok(Ok(Resent {
        team,
        site: row.site_id.into(),
        event: row.event_id.into(),
        endpoint,
        from,
        jobs,
    }))
}
