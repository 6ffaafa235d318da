//! Recoveries: what is wanted is put on its way, once, and nothing else.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use domain::{
    actor::Actor,
    chain::State,
    event::EventKind,
    id::{DeliveryId, EndpointId, EventId, MediaId, RecoveryId, SiteId},
    reach::Reach,
    recovery::RecoveryKind,
};
use sqlx::PgPool;
use store::{
    endpoint, jobs,
    recovery::{
        self, NewRecovery, Recovery,
        slice::{self, ENOUGH, Next, SLICE, Slice},
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

    /// An event's delivery to an endpoint, which had three attempts; it ended now unless it is pending.
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

    /// Of all that happened within the last day.
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

    /// The next slice, once what other tests write on the same server at the moment is there.
    async fn slice(&self, recovery: RecoveryId) -> Option<Slice> {
        loop {
            match slice::next(&self.pool, recovery).await.unwrap() {
                Next::Nothing => return None,
                Next::Later(_) => tokio::time::sleep(Duration::from_millis(20)).await,
                Next::Slice(slice) => return Some(slice),
            }
        }
    }

    /// Runs a recovery of a few slices to its end, and says how many deliveries it put on their way.
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

    /// What has a whole schedule before it, in the order of ids.
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

#[sqlx::test(migrations = false)]
async fn slices_send_each_failed_delivery_once_whoever_looks_at_them_twice(pool: PgPool) {
    let team = Tenant::new(pool).await;
    let endpoint = team.endpoint(team.site, EventKind::ALL).await;
    let count = usize::try_from(SLICE).unwrap() + 10;
    for number in 0..count {
        let state = ["exhausted", "discarded"][number % 2];
        team.told(endpoint, CREATED, state).await;
    }
    let recovery = team
        .start(endpoint, RecoveryKind::Failed, None)
        .await
        .unwrap();
    let running = team.start(endpoint, RecoveryKind::Delivered, None).await;
    assert_eq!(running, None);
    let first = team.slice(recovery).await.unwrap();
    let again = team.slice(recovery).await.unwrap();
    let jobs = team.finish(&[first, again]).await;
    let pages = usize::try_from(SLICE).unwrap().div_ceil(jobs::TURNS);
    assert_eq!(jobs.len(), pages + 1, "and the next slice");
    let found = team.recovery(recovery).await;
    assert_eq!(
        (found.state, found.looked_at, found.resent),
        (State::Running, SLICE, SLICE)
    );
    assert!(found.reached.is_some_and(|reached| reached < found.until));
    let last = team.slice(recovery).await.unwrap();
    assert_eq!(team.finish(&[last]).await.len(), 1, "a page of 10");
    let found = team.recovery(recovery).await;
    let all = i64::try_from(count).unwrap();
    assert_eq!(
        (found.state, found.looked_at, found.resent),
        (State::Finished, all, all)
    );
    assert_eq!(team.pending().await.len(), count);
    assert!(team.slice(recovery).await.is_none());
    // The next one may run now, and finds nothing.
    let next = team
        .start(endpoint, RecoveryKind::Failed, None)
        .await
        .unwrap();
    assert_eq!(team.run(next).await, 0);
}

#[sqlx::test(migrations = false)]
async fn only_what_failed_within_the_time_and_of_the_kind_is_sent(pool: PgPool) {
    let team = Tenant::new(pool).await;
    let [endpoint, other] = [
        team.endpoint(team.site, EventKind::ALL).await,
        team.endpoint(team.site, EventKind::ALL).await,
    ];
    let (since, until) = (ago(60), ago(30));
    let second = TimeDelta::seconds(1);
    let mut within = Vec::new();
    for (kind, at, is_within) in [
        (CREATED, since - second, false),
        (CREATED, since, true),
        (MODERATED, since + second, false),
        (CREATED, until - second, true),
        (CREATED, until, false),
        (CREATED, until + second, false),
    ] {
        let event = team.event(team.site, kind, at).await;
        let delivery = team.delivery(event, endpoint, "exhausted").await;
        team.delivery(event, other, "exhausted").await;
        within.extend(is_within.then_some(delivery));
    }
    for state in ["pending", "delivered"] {
        let event = team.event(team.site, CREATED, ago(45)).await;
        let delivery = team.delivery(event, endpoint, state).await;
        assert!(!within.contains(&delivery));
    }
    let failed = RecoveryKind::Failed;
    let recovery = team
        .start_within(endpoint, failed, Some(CREATED), since, until)
        .await
        .unwrap();
    assert_eq!(team.run(recovery).await, 2);
    assert_eq!(team.pending().await, within);
}

#[sqlx::test(migrations = false)]
async fn what_was_delivered_is_sent_once_more_for_a_receiver_that_has_lost_it(pool: PgPool) {
    let team = Tenant::new(pool).await;
    let endpoint = team.endpoint(team.site, EventKind::ALL).await;
    for state in ["pending", "exhausted", "discarded"] {
        team.told(endpoint, CREATED, state).await;
    }
    let delivered = team.told(endpoint, CREATED, "delivered").await;
    // Whatever the endpoint wants to hear now.
    sqlx::query("update webhook_endpoints set events = '{media.moderated}'")
        .execute(&team.pool)
        .await
        .unwrap();
    let recovery = team
        .start(endpoint, RecoveryKind::Delivered, None)
        .await
        .unwrap();
    assert_eq!(team.run(recovery).await, 1);
    assert_eq!(team.pending().await, [delivered]);
}

#[sqlx::test(migrations = false)]
async fn what_an_endpoint_was_never_told_is_delivered_once_and_nothing_else_is(pool: PgPool) {
    let team = Tenant::new(pool).await;
    let elsewhere = team.create_site("elsewhere").await;
    let endpoint = team.endpoint(team.site, &[CREATED]).await;
    let other = team.endpoint(team.site, EventKind::ALL).await;
    for state in ["pending", "delivered", "exhausted", "discarded"] {
        team.told(endpoint, CREATED, state).await;
    }
    let event = team.event(team.site, CREATED, ago(60)).await;
    team.delivery(event, other, "delivered").await;
    team.event(team.site, MODERATED, ago(60)).await;
    team.event(team.site, CREATED, ago(25 * 60)).await;
    team.event(elsewhere, CREATED, ago(60)).await;
    let missing = RecoveryKind::Missing;
    let recovery = team.start(endpoint, missing, None).await.unwrap();
    let slice = team.slice(recovery).await.unwrap();
    assert_eq!(team.finish(&[slice]).await.len(), 1);
    let found = team.recovery(recovery).await;
    assert_eq!((found.state, found.resent), (State::Finished, 1));
    assert_eq!(found.looked_at, 6);
    assert_eq!(team.pending().await, [DeliveryId::of(event, endpoint)]);
    let again = team.start(endpoint, missing, None).await.unwrap();
    assert_eq!(team.run(again).await, 0);
    let of_moderated = team
        .start(endpoint, missing, Some(MODERATED))
        .await
        .unwrap();
    assert_eq!(team.run(of_moderated).await, 0);
}

#[sqlx::test(migrations = false)]
async fn a_recovery_waits_while_enough_is_due_at_its_endpoint(pool: PgPool) {
    let team = Tenant::new(pool).await;
    let endpoint = team.endpoint(team.site, EventKind::ALL).await;
    team.told(endpoint, CREATED, "exhausted").await;
    sqlx::query(
        "insert into queue.jobs (queue, grp, lane, payload, max_attempts, state)
         select 'webhooks', $3, case when n > $2 then $1 else gen_random_uuid() end, '{}', 1, 0
         from generate_series(1, 2 * $2) n",
    )
    .bind(endpoint.as_uuid())
    .bind(ENOUGH)
    .bind(team.team.as_uuid())
    .execute(&team.pool)
    .await
    .unwrap();
    let recovery = team
        .start(endpoint, RecoveryKind::Failed, None)
        .await
        .unwrap();
    let waiting = slice::next(&team.pool, recovery).await.unwrap();
    assert!(matches!(waiting, Next::Later(_)), "{waiting:?}");
    sqlx::query(
        "delete from queue.jobs where id = (select min(id) from queue.jobs where lane = $1)",
    )
    .bind(endpoint.as_uuid())
    .execute(&team.pool)
    .await
    .unwrap();
    assert_eq!(team.run(recovery).await, 1);
}

#[sqlx::test(migrations = false)]
async fn a_recovery_begins_when_all_is_there_that_was_being_written(pool: PgPool) {
    let team = Tenant::new(pool).await;
    let endpoint = team.endpoint(team.site, EventKind::ALL).await;
    let media = MediaId::from(Uuid::now_v7());
    let mut writing = team.pool.begin().await.unwrap();
    sqlx::query(
        "insert into events (id, media_id, site_id, kind) values ($1, $2, $3, 'media.created')",
    )
    .bind(EventId::of_acceptance(media).as_uuid())
    .bind(media.as_uuid())
    .bind(team.site.as_uuid())
    .execute(&mut *writing)
    .await
    .unwrap();
    let recovery = team
        .start(endpoint, RecoveryKind::Missing, None)
        .await
        .unwrap();
    let waiting = slice::next(&team.pool, recovery).await.unwrap();
    assert!(matches!(waiting, Next::Later(_)), "{waiting:?}");
    writing.commit().await.unwrap();
    assert_eq!(team.run(recovery).await, 1);
}

#[sqlx::test(migrations = false)]
async fn a_recovery_that_is_stopped_or_cannot_go_on_sends_nothing_more(pool: PgPool) {
    let team = Tenant::new(pool).await;
    let endpoint = team.endpoint(team.site, EventKind::ALL).await;
    team.told(endpoint, CREATED, "exhausted").await;
    let failed = RecoveryKind::Failed;
    let recovery = team.start(endpoint, failed, None).await.unwrap();
    let slice = team.slice(recovery).await.unwrap();
    let mut conn = team.pool.acquire().await.unwrap();
    assert!(recovery::cancel(&mut conn, recovery).await.unwrap());
    assert!(!recovery::cancel(&mut conn, recovery).await.unwrap());
    assert_eq!(team.finish(&[slice]).await.len(), 0);
    let found = team.recovery(recovery).await;
    assert_eq!((found.state, found.resent), (State::Cancelled, 0));

    let recovery = team.start(endpoint, failed, None).await.unwrap();
    sqlx::query("update webhook_endpoints set disabled_at = now()")
        .execute(&team.pool)
        .await
        .unwrap();
    let slice = team.slice(recovery).await.unwrap();
    assert_eq!(team.finish(&[slice]).await.len(), 0);
    let found = team.recovery(recovery).await;
    assert_eq!((found.state, found.resent), (State::Failed, 0));
    assert!(found.ended_at.is_some());
    assert!(found.error.unwrap().contains("disabled"));
    assert!(team.pending().await.is_empty());

    sqlx::query("update webhook_recoveries set ended_at = now() - interval '91 days' where state = 'failed'")
        .execute(&team.pool)
        .await
        .unwrap();
    assert_eq!(recovery::forget_old(&team.pool).await.unwrap(), 1);
}
