//! What a recovery sends: what is wanted, once, and nothing else.

use chrono::TimeDelta;
use domain::{chain::State, event::EventKind, id::DeliveryId, recovery::RecoveryKind};
use sqlx::PgPool;
use store::{jobs, recovery::slice::SLICE};

use super::{CREATED, MODERATED, ago};
use crate::tenant::Tenant;

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
    // The endpoint's present subscriptions do not matter.
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
