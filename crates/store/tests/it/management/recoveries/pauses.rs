//! When a recovery begins, waits and ends.

use domain::{
    chain::State,
    event::EventKind,
    id::{EventId, MediaId},
    recovery::RecoveryKind,
};
use sqlx::PgPool;
use store::{
    chain::{self, Next},
    recovery::{
        self, Recovery,
        slice::{self, ENOUGH},
    },
};
use uuid::Uuid;

use super::CREATED;
use crate::tenant::Tenant;

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
    assert_eq!(chain::forget_old::<Recovery>(&team.pool).await.unwrap(), 1);
}
