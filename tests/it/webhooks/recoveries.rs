//! A recovery sends what an endpoint missed or lost, whatever process dies in the meantime.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::{DeliveryId, EndpointId, EventId, MediaId};
use serde_json::{Value, json};
use sqlx::PgPool;
use uuid::{NoContext, Timestamp, Uuid};

use super::Service;
use crate::support::{Received, eventually};

const PATIENCE: Duration = Duration::from_mins(5);

/// Other processes get the jobs of a killed process after two seconds.
const SHORT_LEASE: [&str; 2] = ["--lease-seconds", "2"];

fn delivery(request: &Received) -> String {
    request.header("x-service-delivery-id").to_owned()
}

impl Service {
    async fn endpoint(&self) -> EndpointId {
        let id: Uuid = sqlx::query_scalar("select id from webhook_endpoints")
            .fetch_one(&self.pool)
            .await
            .unwrap();
        id.into()
    }

    /// Stores items, one per millisecond from this time on. For each, twelve attempts to deliver
    /// the event of its acceptance failed.
    async fn fail(&self, from: DateTime<Utc>, items: i64) -> BTreeSet<String> {
        let endpoint = self.endpoint().await;
        let media = (0..items).map(|number| {
            let at = from + TimeDelta::milliseconds(number);
            let seconds = at.timestamp().try_into().unwrap();
            let time = Timestamp::from_unix(NoContext, seconds, at.timestamp_subsec_nanos());
            MediaId::from(Uuid::new_v7(time))
        });
        let media: Vec<MediaId> = media.collect();
        let events = media.iter().map(|media| EventId::of_acceptance(*media));
        let events: Vec<EventId> = events.collect();
        let deliveries = events.iter().map(|event| DeliveryId::of(*event, endpoint));
        let deliveries: Vec<DeliveryId> = deliveries.collect();
        let media: Vec<Uuid> = media.into_iter().map(MediaId::as_uuid).collect();
        let events: Vec<Uuid> = events.into_iter().map(EventId::as_uuid).collect();
        let ids: Vec<Uuid> = deliveries.iter().map(|id| id.as_uuid()).collect();
        sqlx::query(
            "with items as (
                 select i.*, s.id as site_id, s.team_id, p.id as endpoint_id,
                        $4::timestamptz + interval '1 ms' * (i.place - 1) as at
                 from unnest($1::uuid [], $2::uuid [], $3::uuid [])
                     with ordinality as i (media, event, delivery, place)
                 cross join webhook_endpoints p
                 join sites s on s.id = p.site_id
             ),
             new_media as (
                 insert into media (id, team_id, site_id, content_type, body, group_versions, created_at)
                 select media, team_id, site_id, 'text', 'a text', '{}', at from items
             ),
             new_events as (
                 insert into events (id, media_id, site_id, kind, occurred_at)
                 select event, media, site_id, 'media.created', at from items
             )
             insert into deliveries (id, event_id, endpoint_id, state, attempts, next_attempt_at, ended_at)
             select delivery, event, endpoint_id, 'exhausted', 12, null, at from items",
        )
        .bind(&media)
        .bind(&events)
        .bind(&ids)
        .bind(from)
        .execute(&self.pool)
        .await
        .unwrap();
        deliveries.iter().map(DeliveryId::to_string).collect()
    }

    /// Starts a recovery, and returns its path.
    async fn recover(&self, kind: &str, since: DateTime<Utc>) -> String {
        let path = format!("/webhook-endpoints/{}/recoveries", self.endpoint().await);
        let body = json!({ "kind": kind, "since": since.to_rfc3339() });
        let (status, recovery) = self.up.manage(&path, &body).await;
        assert_eq!(status, 202, "{recovery}");
        format!("/webhook-recoveries/{}", recovery["id"].as_str().unwrap())
    }

    async fn ended(&self, recovery: &str) -> Value {
        eventually("the recovery ends", PATIENCE, async || {
            let (_, seen) = self.up.look(recovery).await;
            (seen["state"] != "running").then_some(seen)
        })
        .await
    }

    async fn delivered(&self) -> i64 {
        self.count("select count(*) from deliveries where state = 'delivered'")
            .await
    }
}

/// Kills the service within the first slice, and then this many times while deliveries are sent.
async fn recover_through_kills(pool: PgPool, items: i64, kills: i64) {
    let mut service = Service::with(pool, &SHORT_LEASE).await;
    let since = Utc::now() - TimeDelta::hours(1);
    service.fail(since - TimeDelta::minutes(10), 10).await;
    let lost = service.fail(since, items).await;
    let recovery = service.recover("failed", since).await;

    let mut held = service.pool.begin().await.unwrap();
    sqlx::query("select from webhook_recoveries for update")
        .execute(&mut *held)
        .await
        .unwrap();
    eventually("a slice is about to be finished", PATIENCE, async || {
        let waiting = "select count(*) from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'";
        (service.count(waiting).await > 0).then_some(())
    })
    .await;
    service = service.kill_and_start(&SHORT_LEASE).await;
    assert_eq!(service.delivered().await, 0);
    held.rollback().await.unwrap();
    for kill in 1..=kills {
        eventually("a part is delivered", PATIENCE, async || {
            (service.delivered().await >= items * kill / (kills + 1)).then_some(())
        })
        .await;
        service = service.kill_and_start(&SHORT_LEASE).await;
    }
    let ended = service.ended(&recovery).await;
    assert_eq!(ended["state"], "finished", "{ended}");
    assert_eq!(ended["resent"], items, "{ended}");
    eventually("all are delivered", PATIENCE, async || {
        (service.delivered().await == items).then_some(())
    })
    .await;

    let mut arrived = BTreeMap::new();
    for request in service.receiver.received() {
        let event = request.header("webhook-id").to_owned();
        let first = arrived.entry(event).or_insert_with(|| delivery(&request));
        assert_eq!(*first, delivery(&request));
    }
    let arrived: BTreeSet<String> = arrived.into_values().collect();
    assert_eq!(arrived.len(), lost.len());
    assert!(arrived == lost, "other deliveries arrived than were lost");
}

#[sqlx::test(migrations = false)]
async fn case_23_what_failed_arrives_once_it_is_recovered_whatever_is_killed(pool: PgPool) {
    recover_through_kills(pool, 2_000, 1).await;
}

#[ignore = "takes minutes"]
#[sqlx::test(migrations = false)]
async fn case_23_fifty_thousand_that_failed_arrive_once_they_are_recovered(pool: PgPool) {
    recover_through_kills(pool, 50_000, 4).await;
}

#[sqlx::test(migrations = false)]
async fn what_an_endpoint_was_not_told_while_it_was_disabled_arrives_and_once_more_if_it_is_lost(
    pool: PgPool,
) {
    let service = Service::start(pool).await;
    let since = Utc::now();
    service
        .run("update webhook_endpoints set disabled_at = now()")
        .await;
    let mut expected = BTreeSet::new();
    for _ in 0..3 {
        let media = service.submit().await;
        service.up.verdict(&media).await;
        expected.extend(["media.created", "media.moderated"].map(|kind| (media.clone(), kind)));
    }
    service
        .run("update webhook_endpoints set disabled_at = null")
        .await;
    let told = |requests: &[Received]| -> BTreeMap<String, usize> {
        let mut told = BTreeMap::new();
        for request in requests {
            *told.entry(delivery(request)).or_default() += 1;
        }
        told
    };
    let missing = service.recover("missing", since).await;
    assert_eq!(service.ended(&missing).await["resent"], 6);
    for (media, kind) in &expected {
        service.receiver.event(kind, media, PATIENCE).await;
    }
    let once = told(&service.receiver.received());
    assert_eq!(once.into_values().collect::<Vec<_>>(), [1; 6]);
    eventually("all are delivered", PATIENCE, async || {
        (service.delivered().await == 6).then_some(())
    })
    .await;

    let lost = service.recover("delivered", since).await;
    assert_eq!(service.ended(&lost).await["resent"], 6);
    let twice = eventually("all come again", PATIENCE, async || {
        let requests = service.receiver.received();
        (requests.len() == 12).then_some(requests)
    })
    .await;
    assert_eq!(told(&twice).into_values().collect::<Vec<_>>(), [2; 6]);
}
