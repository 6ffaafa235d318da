//! What others do to the items while they are erased.

use domain::id::{DeliveryId, EventId};
use store::delivery;

use super::*;

#[sqlx::test(migrations = false)]
async fn what_a_transaction_adds_that_had_begun_before_goes_as_well(pool: PgPool) {
    let team = Tenant::new(pool.clone()).await;
    let media = team
        .full_item(team.site, "anna", Some(Status::Approved))
        .await;
    let mut late = pool.begin().await.unwrap();
    sqlx::query("select pg_current_xact_id()")
        .execute(&mut *late)
        .await
        .unwrap();
    let id = team
        .erase(None, &subject(json!({ "author": "anna" })))
        .await;
    loop {
        match slice::next(&pool, &master_key(), id).await.unwrap() {
            Next::Slice(slice) => team.finish(&[slice]).await,
            Next::Later(_) => break,
            Next::Nothing => {
                panic!("it ended while a transaction was running that may add something")
            }
        };
    }
    for statement in [
        "insert into media_images (media_id, bytes) values ($1, 'anna')",
        "insert into analysis_parts (media_id, provider, report) values ($1, 'late', '{\"raw\":\"anna\"}')",
    ] {
        sqlx::query(statement)
            .bind(media.as_uuid())
            .execute(&mut *late)
            .await
            .unwrap();
    }
    late.commit().await.unwrap();
    team.run_erasure(id).await;
    assert_eq!(team.columns_with("anna").await, <[String; 0]>::default());
}

#[sqlx::test(migrations = false)]
async fn a_verdict_that_was_on_its_way_is_neither_stored_nor_told(pool: PgPool) {
    let team = Tenant::new(pool.clone()).await;
    let pending = team.full_item(team.site, "anna", None).await;
    let waits = team
        .full_item(team.site, "anna", Some(Status::PendingReview))
        .await;
    // What workers and a person know of the items, from before.
    let approval = team.standing(waits).await;
    let approval = approval.ruled(Ruling::Approve, Seen::default()).unwrap();
    let acceptance = Created {
        media: pending,
        endpoints: vec![team.team.as_uuid().into()],
    };
    let id = team
        .erase(None, &subject(json!({ "author": "anna" })))
        .await;
    let first = team.next_slice(id).await.unwrap();
    team.finish(&[first]).await;
    // In both phases.
    for _ in 0..2 {
        assert_eq!(team.judge(pending, Status::Approved).await.len(), 0);
        assert!(team.decide(waits, approval).await.is_none());
        sqlx::query("delete from events where media_id = $1")
            .bind(pending.as_uuid())
            .execute(&pool)
            .await
            .unwrap();
        let told = team.finish(std::slice::from_ref(&acceptance)).await;
        assert_eq!(told.len(), 0);
        team.run_erasure(id).await;
    }
    assert_eq!(team.count("select count(*) from verdicts").await, 1);
    assert_eq!(team.count("select count(*) from events").await, 0);
}

#[sqlx::test(migrations = false)]
async fn items_that_somebody_has_locked_are_waited_for(pool: PgPool) {
    let team = Tenant::new(pool.clone()).await;
    let mut items = Vec::new();
    for _ in 0..3 {
        items.push(
            team.full_item(team.site, "anna", Some(Status::Approved))
                .await,
        );
    }
    let mut busy = pool.begin().await.unwrap();
    sqlx::query("select from media where id = $1 for update")
        .bind(items[1].as_uuid())
        .execute(&mut *busy)
        .await
        .unwrap();
    let id = team
        .erase(None, &subject(json!({ "author": "anna" })))
        .await;
    for _ in 0..2 {
        let slice = team.next_slice(id).await.unwrap();
        assert_eq!(team.finish(&[slice]).await.len(), 1);
        assert_eq!(team.erasure(id).await.counts.items, 1);
    }
    busy.rollback().await.unwrap();
    let ended = team.run_erasure(id).await;
    assert_eq!(ended.counts.items, 3);
    let certificate = certificate::read(&ended.certificate.unwrap()).unwrap();
    let digest = items
        .iter()
        .fold(ItemsDigest::default(), |digest, id| digest.with(*id));
    assert_eq!(certificate.items_digest, hex::encode(digest.as_bytes()));
}

#[sqlx::test(migrations = false)]
async fn a_delivery_that_waits_is_not_sent_any_more(pool: PgPool) {
    let team = Tenant::new(pool.clone()).await;
    let mut deliveries = Vec::new();
    for mark in ["anna", "bert"] {
        let media = team
            .full_item(team.site, mark, Some(Status::Approved))
            .await;
        // The event's id is the item's, and the endpoint's the team's.
        let event = EventId::from(media.as_uuid());
        deliveries.push(DeliveryId::of(event, team.team.as_uuid().into()));
    }
    let loader = delivery::loader(pool.clone(), master_key());
    let is_sent = async || {
        let loaded = loader.load_all_for(Some(team.team), &deliveries).await;
        let loaded = loaded.into_iter().map(|loaded| loaded.unwrap().is_some());
        loaded.collect::<Vec<_>>()
    };
    assert_eq!(is_sent().await, [true, true]);
    let id = team
        .erase(None, &subject(json!({ "author": "anna" })))
        .await;
    let first = team.next_slice(id).await.unwrap();
    team.finish(&[first]).await;
    assert_eq!(is_sent().await, [false, true]);
}
