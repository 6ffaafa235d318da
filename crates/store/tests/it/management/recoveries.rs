//! Recoveries: the wanted deliveries are sent once, and nothing else.

mod pauses;
mod sent;

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use domain::{
    actor::Actor,
    chain::State,
    event::EventKind,
    id::{DeliveryId, EndpointId, EventId, RecoveryId, SiteId},
    reach::Reach,
    recovery::RecoveryKind,
};
use store::{
    chain::Next,
    endpoint,
    recovery::{
        self, NewRecovery, Recovery,
        slice::{self, Slice},
    },
};
use uuid::Uuid;

use crate::tenant::Tenant;

const CREATED: EventKind = EventKind::MediaCreated;

const MODERATED: EventKind = EventKind::MediaModerated;

/// So many minutes ago.
fn ago(minutes: i64) -> DateTime<Utc> {
    Utc::now() - TimeDelta::minutes(minutes)
}

impl Tenant {
    async fn endpoint(&self, site: SiteId, events: &[EventKind]) -> EndpointId {
        let mut conn = self.pool.acquire().await.unwrap();
        endpoint::create(&mut conn, site, "https://example.com/hook", events)
            .await
            .unwrap()
    }

    async fn event(&self, site: SiteId, kind: EventKind, occurred_at: DateTime<Utc>) -> EventId {
        let seconds = occurred_at.timestamp().try_into().unwrap();
        let nanos = occurred_at.timestamp_subsec_nanos();
        let id = Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, seconds, nanos));
        sqlx::query(
            "insert into events (id, media_id, site_id, kind, verdict, occurred_at)
             values ($1, $1, $2, $3, case when $3 = 'media.moderated' then 1 end, $4)",
        )
        .bind(id)
        .bind(site.as_uuid())
        .bind(kind.as_str())
        .bind(occurred_at)
        .execute(&self.pool)
        .await
        .unwrap();
        id.into()
    }

    /// An event's delivery to an endpoint, which had three attempts; it ended now unless it is
    /// pending.
    async fn delivery(&self, event: EventId, endpoint: EndpointId, state: &str) -> DeliveryId {
        let id = DeliveryId::of(event, endpoint);
        sqlx::query(
            "insert into deliveries (id, event_id, endpoint_id, state, attempts, next_attempt_at, ended_at)
             values ($1, $2, $3, $4, 3, null, case when $4 <> 'pending' then now() end)",
        )
        .bind(id.as_uuid())
        .bind(event.as_uuid())
        .bind(endpoint.as_uuid())
        .bind(state)
        .execute(&self.pool)
        .await
        .unwrap();
        id
    }

    /// An event of the site an hour ago, with its delivery.
    async fn told(&self, endpoint: EndpointId, kind: EventKind, state: &str) -> DeliveryId {
        let event = self.event(self.site, kind, ago(60)).await;
        self.delivery(event, endpoint, state).await
    }

    /// A recovery of everything that happened within the last day.
    async fn start(
        &self,
        endpoint: EndpointId,
        kind: RecoveryKind,
        event: Option<EventKind>,
    ) -> Option<RecoveryId> {
        self.start_within(endpoint, kind, event, ago(24 * 60), Utc::now())
            .await
    }

    async fn start_within(
        &self,
        endpoint: EndpointId,
        kind: RecoveryKind,
        event: Option<EventKind>,
        since: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Option<RecoveryId> {
        let mut tx = self.pool.begin().await.unwrap();
        let target = recovery::target(&mut tx, Reach::Team(self.team), endpoint).await;
        let new = NewRecovery {
            target: &target.unwrap().unwrap(),
            kind,
            event,
            since,
            until,
            by: Actor::Token(self.token),
        };
        let (id, jobs) = recovery::create(&mut tx, new).await.unwrap()?;
        tx.commit().await.unwrap();
        assert_eq!(jobs.len(), 1);
        Some(id)
    }

    async fn recovery(&self, recovery: RecoveryId) -> Recovery {
        let mut conn = self.pool.acquire().await.unwrap();
        let found = recovery::find(&mut conn, Reach::Team(self.team), recovery).await;
        found.unwrap().unwrap()
    }

    /// The next slice, once everything is visible that other tests are writing on the same server.
    async fn slice(&self, recovery: RecoveryId) -> Option<Slice> {
        loop {
            match slice::next(&self.pool, recovery).await.unwrap() {
                Next::Nothing => return None,
                Next::Later(_) => tokio::time::sleep(Duration::from_millis(20)).await,
                Next::Slice(slice) => return Some(slice),
            }
        }
    }

    /// Runs a recovery of a few slices to its end, and returns how many deliveries it has sent.
    async fn run(&self, recovery: RecoveryId) -> i64 {
        for _ in 0..3 {
            if let Some(slice) = self.slice(recovery).await {
                self.finish(&[slice]).await;
            }
        }
        let ended = self.recovery(recovery).await;
        assert_eq!(ended.state, State::Finished, "{:?}", ended.error);
        ended.resent
    }

    /// The deliveries that begin a complete schedule, in the order of ids.
    async fn pending(&self) -> Vec<DeliveryId> {
        let pending: Vec<Uuid> = sqlx::query_scalar(
            "select id from deliveries
             where state = 'pending' and earlier_attempts = attempts and ended_at is null order by id",
        )
        .fetch_all(&self.pool)
        .await
        .unwrap();
        pending.into_iter().map(DeliveryId::from).collect()
    }
}
