//! The quota of webhooks that submissions cause.

use domain::event::EventKind;
use sqlx::PgPool;
use store::accept::{AcceptSettings, Acceptance, Acceptor};

use crate::accept::submitter::Submitter;

#[sqlx::test(migrations = false)]
async fn case_38_spent_deliveries_refuse_what_causes_webhooks_and_store_nothing(pool: PgPool) {
    let fixture = Submitter::new(pool).await;
    let quiet = fixture.other_site("quiet", &[]).await;
    fixture
        .execute("update plans set deliveries_per_period = 5")
        .await;
    // Two webhooks each: for the acceptance and for the verdict.
    assert_eq!(fixture.submit().await, Acceptance::Accepted);
    assert_eq!(fixture.submit().await, Acceptance::Accepted);
    assert_eq!(fixture.submit().await, Acceptance::DeliveriesExceeded);
    assert_eq!(
        (fixture.used().await, fixture.deliveries().await),
        (vec![2], 4)
    );
    assert_eq!(fixture.count("select count(*) from media").await, 2);
    assert_eq!(fixture.submit_with(&quiet).await, Acceptance::Accepted);
    fixture
        .execute("update plans set deliveries_per_period = 6")
        .await;
    assert_eq!(fixture.submit().await, Acceptance::Accepted);
    fixture
        .execute("update plans set deliveries_per_period = 1")
        .await;
    assert_eq!(fixture.submit().await, Acceptance::DeliveriesExceeded);
    assert_eq!(fixture.submit_with(&quiet).await, Acceptance::Accepted);
    assert_eq!(
        (fixture.used().await, fixture.deliveries().await),
        (vec![5], 6)
    );
    // Both quotas are used up. The answer names the first.
    fixture
        .execute("update plans set submissions_per_period = 5")
        .await;
    assert_eq!(fixture.submit().await, Acceptance::QuotaExceeded);
    fixture
        .execute("update plans set submissions_per_period = null, deliveries_per_period = null")
        .await;
    assert_eq!(fixture.submit().await, Acceptance::Accepted);
    assert_eq!(fixture.deliveries().await, 8);
    fixture.close().await;
}

#[sqlx::test(migrations = false)]
async fn case_38_many_at_once_take_exactly_the_deliveries_that_are_left(pool: PgPool) {
    let fixture = Submitter::new(pool.clone()).await;
    let verdicts = [EventKind::MediaModerated];
    let keys = [
        fixture.tenant.key.clone(),
        fixture.other_site("quieter", &verdicts).await,
        fixture.other_site("quiet", &[]).await,
    ];
    fixture
        .execute("update plans set deliveries_per_period = 31")
        .await;
    let acceptors: Vec<_> = (0..4)
        .map(|_| {
            Acceptor::start(
                pool.clone(),
                fixture.queue.clone(),
                AcceptSettings::default(),
            )
        })
        .collect();
    let mut waiting = Vec::new();
    for n in 0..240 {
        let media = fixture.media_with(&keys[n % 3]).await;
        let acceptor = acceptors[n / 3 % 4].clone();
        let accepting = async move { acceptor.accept(media).await.unwrap() };
        waiting.push((n % 3, tokio::spawn(accepting)));
    }
    let mut accepted = [0; 3];
    for (site, answer) in waiting {
        match answer.await.unwrap() {
            Acceptance::Accepted => accepted[site] += 1,
            other => assert_eq!(other, Acceptance::DeliveriesExceeded),
        }
    }
    // There are more submissions with one webhook than the quota has room for, so nothing is left
    // over.
    assert_eq!(2 * accepted[0] + accepted[1], 31, "{accepted:?}");
    assert_eq!(accepted[2], 80, "they cause none");
    assert_eq!(fixture.deliveries().await, 31);
    let sum = accepted.iter().sum::<i64>();
    assert_eq!(fixture.used().await, [sum]);
    assert_eq!(fixture.count("select count(*) from media").await, sum);
    fixture.close().await;
}

/// A batch near the end of the quota: what causes the fewest webhooks goes first, so nothing is
/// refused that has room.
#[sqlx::test(migrations = false)]
async fn case_38_nothing_is_refused_that_would_have_fitted(pool: PgPool) {
    let fixture = Submitter::new(pool).await;
    let one = [EventKind::MediaCreated];
    let quieter = fixture.other_site("quieter", &one).await;
    for room in 0..12 {
        fixture.execute("delete from usage").await;
        sqlx::query("update plans set deliveries_per_period = $1")
            .bind(room)
            .execute(&fixture.pool)
            .await
            .unwrap();
        let mut media = Vec::new();
        for n in 0..6 {
            let key = if n % 2 == 0 {
                &fixture.tenant.key
            } else {
                &quieter
            };
            media.push(fixture.media_with(key).await);
        }
        let waiting: Vec<_> = media
            .into_iter()
            .map(|media| {
                let acceptor = fixture.acceptor.clone();
                tokio::spawn(async move { acceptor.accept(media).await.unwrap() })
            })
            .collect();
        let mut answers = Vec::new();
        for answer in waiting {
            answers.push(answer.await.unwrap());
        }
        let used = fixture
            .count("select coalesce(max(deliveries), 0) from usage")
            .await;
        // Three of one webhook, three of two.
        let refused_one = (0..3).any(|n| answers[2 * n + 1] != Acceptance::Accepted);
        let refused_two = (0..3).any(|n| answers[2 * n] != Acceptance::Accepted);
        assert!(used <= room);
        assert!(!refused_one || used == room, "{room}: {answers:?}");
        assert!(!refused_two || used + 2 > room, "{room}: {answers:?}");
        assert_eq!(
            room >= 9,
            !refused_one && !refused_two,
            "{room}: {answers:?}"
        );
    }
    fixture.close().await;
}
