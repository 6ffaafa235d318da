//! A slice of a recovery: what a job looks at, and the effect of having looked at it.

use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::{
    event::EventKind,
    id::{DeliveryId, EndpointId, EventId, RecoveryId, SiteId, TeamId},
    recovery::RecoveryKind,
};
use queue::{Effect, FinishTx, Group, Lane, Survivor, lanes};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use crate::{
    Error,
    chain::{self, End, Next, Step},
    delivery::MOST_ATTEMPTS,
    id_time::ids_within,
    jobs::{self, Pages},
    recovery::Recovery,
};

/// Deliveries or events of a slice: some milliseconds' work in all.
pub const SLICE: i64 = 500;

/// While an endpoint has so many due jobs, nothing is added to them: about 5,000 deliveries in
/// pages.
pub const ENOUGH: i64 = 160;

/// The pause before looking again.
const PAUSE: Duration = Duration::from_secs(1);

/// The next slice, and with it the effect of having sent what is in it.
#[derive(Debug)]
pub struct Slice {
    recovery: RecoveryId,
    endpoint: EndpointId,
    team: TeamId,
    kind: RecoveryKind,
    /// It begins after one delivery or event, and ends with another.
    step: Step<Option<Uuid>>,
    looked_at: i64,
    /// What to send, in the order of ids.
    wanted: Vec<Wanted>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wanted {
    delivery: DeliveryId,
    event: EventId,
}

/// Loads the next slice. It waits while enough jobs wait for the endpoint, and while events of before
/// the creation may still be being written.
pub async fn next(pool: &PgPool, recovery: RecoveryId) -> Result<Next<Slice>, Error> {
    let Some(standing) = standing(pool, recovery).await? else {
        return Ok(Next::Nothing);
    };
    let slice = |walked: &[Walked], end| Slice {
        recovery,
        endpoint: standing.endpoint,
        team: standing.team,
        kind: standing.kind,
        step: Step {
            from: standing.walked_to,
            to: walked.last().map(|last| last.id).or(standing.walked_to),
            end,
        },
        looked_at: i64::try_from(walked.len()).unwrap_or(i64::MAX),
        wanted: walked
            .iter()
            .filter(|walked| walked.is_wanted)
            .map(|walked| walked.wanted(&standing))
            .collect(),
    };
    if let Some(reason) = standing.obstacle {
        return Ok(Next::Slice(slice(&[], End::Failed(reason))));
    }
    let group = Group(standing.team.as_uuid());
    let lane = Lane(standing.endpoint.as_uuid());
    let mut conn = pool.acquire().await?;
    if !standing.is_settled
        || lanes::due(&mut conn, jobs::WEBHOOKS, group, lane, ENOUGH).await? >= ENOUGH
    {
        return Ok(Next::Later(PAUSE));
    }
    let walked = match standing.kind {
        RecoveryKind::Failed => walk_failed(&mut conn, &standing).await?,
        RecoveryKind::Delivered => walk_delivered(&mut conn, &standing).await?,
        RecoveryKind::Missing => walk_events(&mut conn, &standing).await?,
    };
    let is_last = i64::try_from(walked.len()).unwrap_or(i64::MAX) < SLICE;
    Ok(Next::Slice(slice(&walked, End::of(is_last))))
}

struct Standing {
    endpoint: EndpointId,
    site: SiteId,
    team: TeamId,
    kind: RecoveryKind,
    /// The kinds of event that are wanted.
    events: Vec<String>,
    since: DateTime<Utc>,
    until: DateTime<Utc>,
    walked_to: Option<Uuid>,
    /// Whether everything is visible that was being written when the recovery was created.
    is_settled: bool,
    /// Why it cannot go on.
    obstacle: Option<&'static str>,
}

impl Standing {
    /// The range of ids to look at: after the first and before the second.
    fn bounds(&self) -> (Uuid, Uuid) {
        let (from, before) = ids_within(Some(self.since), Some(self.until));
        (self.walked_to.unwrap_or(from), before)
    }
}

async fn standing(pool: &PgPool, recovery: RecoveryId) -> Result<Option<Standing>, Error> {
    let row = sqlx::query!(
        r#"
        select
            r.endpoint_id, r.site_id, r.team_id, r.kind, r.event, r.since, r.until, r.walked_to,
            pg_snapshot_xmin(pg_current_snapshot()) > r.begins_after as "is_settled!",
            p.events as "events?",
            p.disabled_at is not null as "is_disabled!"
        from webhook_recoveries r
        left join webhook_endpoints p on p.id = r.endpoint_id and p.deleted_at is null
        where r.id = $1 and r.state = 'running'
        "#,
        recovery.as_uuid(),
    )
    .fetch_optional(pool)
    .await?;
    row.map(|row| {
        let kind: RecoveryKind = row.kind.parse()?;
        let obstacle = match &row.events {
            None => Some("the endpoint was deleted"),
            Some(_) if row.is_disabled => {
                Some("the endpoint is disabled: enable it, and start another")
            }
            Some(_) => None,
        };
        // An event that was sent once may be sent again, whatever the endpoint subscribes to now.
        let mut events = match kind {
            RecoveryKind::Failed | RecoveryKind::Delivered => {
                let all = EventKind::ALL.iter();
                all.map(ToString::to_string).collect()
            }
            RecoveryKind::Missing => row.events.unwrap_or_default(),
        };
        if let Some(only) = row.event {
            events.retain(|event| *event == only);
        }
        Ok(Standing {
            endpoint: row.endpoint_id.into(),
            site: row.site_id.into(),
            team: row.team_id.into(),
            kind,
            events,
            since: row.since,
            until: row.until,
            walked_to: row.walked_to,
            is_settled: row.is_settled,
            obstacle,
        })
    })
    .transpose()
}

impl Effect for Slice {
    async fn apply(batch: &[Survivor<'_, Self>], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        for Survivor { effect: slice, .. } in batch {
            if !chain::advance::<Recovery>(tx.conn, slice.recovery.as_uuid(), slice.step).await? {
                continue;
            }
            let mut sent = slice.send(tx.conn).await?;
            // Ids begin with the time of their event: what an endpoint should get first comes
            // first.
            sent.sort_unstable();
            slice.count(tx.conn, sent.len()).await?;
            let mut pages = Pages::default();
            for delivery in sent {
                pages.push(slice.team, slice.endpoint, vec![delivery.into()]);
            }
            pages.add_to(&mut tx.jobs);
            if slice.step.end == End::Open {
                tx.jobs.push(jobs::recover(slice.recovery, slice.team));
            }
        }
        Ok(())
    }
}

impl Slice {
    /// Makes deliveries pending that have not changed in the meantime, and returns them.
    async fn send(&self, conn: &mut PgConnection) -> Result<Vec<Uuid>, sqlx::Error> {
        let deliveries: Vec<Uuid> = self.wanted.iter().map(|w| w.delivery.as_uuid()).collect();
        let states: &[&str] = match self.kind {
            RecoveryKind::Failed => &["exhausted", "discarded"],
            RecoveryKind::Delivered => &["delivered"],
            RecoveryKind::Missing => return self.create(conn, &deliveries).await,
        };
        sqlx::query_scalar!(
            "
            with ended as materialized (
                select id
                from deliveries
                where id = any($1) and state = any($2) and attempts < $3
                order by id
                for no key update
            )
            update deliveries d
            set state = 'pending', earlier_attempts = d.attempts, next_attempt_at = now(), ended_at = null
            from ended
            where d.id = ended.id
            returning d.id
            ",
            &deliveries,
            states as &[&str],
            MOST_ATTEMPTS,
        )
        .fetch_all(conn)
        .await
    }

    /// Creates missing deliveries of events that still exist, and returns them.
    async fn create(
        &self,
        conn: &mut PgConnection,
        deliveries: &[Uuid],
    ) -> Result<Vec<Uuid>, sqlx::Error> {
        let events: Vec<Uuid> = self.wanted.iter().map(|w| w.event.as_uuid()).collect();
        sqlx::query_scalar!(
            "
            with kept as materialized (
                select id from events where id = any($2) order by id for key share
            )
            insert into deliveries (id, event_id, endpoint_id)
            select w.id, w.event_id, $3
            from unnest($1::uuid [], $2::uuid []) as w (id, event_id)
            join kept on kept.id = w.event_id
            on conflict (id) do nothing
            returning id
            ",
            deliveries,
            &events,
            self.endpoint.as_uuid(),
        )
        .fetch_all(conn)
        .await
    }

    async fn count(&self, conn: &mut PgConnection, sent: usize) -> Result<(), sqlx::Error> {
        sqlx::query!(
            "update webhook_recoveries set looked_at = looked_at + $2, resent = resent + $3 where id = $1",
            self.recovery.as_uuid(),
            self.looked_at,
            i64::try_from(sent).unwrap_or(i64::MAX),
        )
        .execute(conn)
        .await?;
        Ok(())
    }
}

/// Something that was looked at.
struct Walked {
    /// The delivery, or the event where deliveries are missing.
    id: Uuid,
    event: Uuid,
    is_wanted: bool,
}

impl Walked {
    fn wanted(&self, standing: &Standing) -> Wanted {
        let event = EventId::from(self.event);
        let delivery = match standing.kind {
            RecoveryKind::Failed | RecoveryKind::Delivered => self.id.into(),
            RecoveryKind::Missing => DeliveryId::of(event, standing.endpoint),
        };
        Wanted { delivery, event }
    }
}

/// What a walk looks at next. An endpoint's deliveries and a site's events are compared as rows and
/// looked up one by one. So Postgres walks the index that has them together, whatever it estimates.
macro_rules! walk {
    ($conn:expr, $standing:expr, $of:ident, $statement:literal) => {{
        let (after, before) = $standing.bounds();
        sqlx::query_as!(
            Walked,
            $statement,
            $standing.$of.as_uuid(),
            after,
            before,
            $standing.since,
            $standing.until,
            &$standing.events,
            SLICE,
        )
        .fetch_all($conn)
        .await
    }};
}

async fn walk_failed(
    conn: &mut PgConnection,
    standing: &Standing,
) -> Result<Vec<Walked>, sqlx::Error> {
    walk!(
        conn,
        standing,
        endpoint,
        r#"
        select
            w.id as "id!",
            w.event_id as "event!",
            coalesce(e.occurred_at >= $4 and e.occurred_at < $5 and e.kind = any($6), false) as "is_wanted!"
        from (
            select id, event_id
            from deliveries
            where
                (endpoint_id, id) > ($1, $2) and (endpoint_id, id) < ($1, $3)
                and state in ('exhausted', 'discarded')
            order by endpoint_id, id
            limit $7
        ) w
        left join lateral (select kind, occurred_at from events where id = w.event_id limit 1) e on true
        order by w.id
        "#
    )
}

async fn walk_delivered(
    conn: &mut PgConnection,
    standing: &Standing,
) -> Result<Vec<Walked>, sqlx::Error> {
    walk!(
        conn,
        standing,
        endpoint,
        r#"
        select
            w.id as "id!",
            w.event_id as "event!",
            coalesce(
                w.state = 'delivered' and e.occurred_at >= $4 and e.occurred_at < $5 and e.kind = any($6), false
            ) as "is_wanted!"
        from (
            select id, event_id, state
            from deliveries
            where (endpoint_id, id) > ($1, $2) and (endpoint_id, id) < ($1, $3)
            order by endpoint_id, id
            limit $7
        ) w
        left join lateral (select kind, occurred_at from events where id = w.event_id limit 1) e on true
        order by w.id
        "#
    )
}

/// The site's events, with or without a delivery to the endpoint. The effect tells them apart.
async fn walk_events(
    conn: &mut PgConnection,
    standing: &Standing,
) -> Result<Vec<Walked>, sqlx::Error> {
    walk!(
        conn,
        standing,
        site,
        r#"
        select
            id,
            id as "event!",
            occurred_at >= $4 and occurred_at < $5 and kind = any($6) as "is_wanted!"
        from events
        where (site_id, id) > ($1, $2) and site_id = $1 and id < $3
        order by site_id, id
        limit $7
        "#
    )
}
