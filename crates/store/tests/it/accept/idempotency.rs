//! Requests that come again under their idempotency key.

mod query_plan;

use std::collections::HashSet;

use domain::idempotency::Fingerprint;
use sqlx::PgPool;
use store::accept::{AcceptSettings, Acceptance, Acceptor, Idempotency, NewMedia};

use super::submitter::Submitter;

impl Submitter {
    async fn request(&self, key: &str, body: &str) -> NewMedia {
        let media = self.media(&self.site().await, body);
        NewMedia {
            idempotency: Some(Idempotency {
                key: key.parse().unwrap(),
                fingerprint: Fingerprint::of(&media.submission),
            }),
            ..media
        }
    }

    async fn repeat(&self, key: &str, body: &str) -> Acceptance {
        self.accept(self.request(key, body).await).await
    }
}

#[sqlx::test(migrations = false)]
async fn the_same_request_is_answered_alike_and_another_is_a_conflict(pool: PgPool) {
    let fixture = Submitter::new(pool).await;
    let first = fixture.request("a", "text").await;
    let id = first.id;
    assert_eq!(fixture.accept(first).await, Acceptance::Accepted);
    assert_eq!(fixture.repeat("a", "text").await, Acceptance::Repeated(id));
    assert_eq!(
        fixture.repeat("a", "other").await,
        Acceptance::IdempotencyConflict
    );
    assert_eq!(fixture.repeat("b", "text").await, Acceptance::Accepted);
    assert_eq!(fixture.repeat("a", "text").await, Acceptance::Repeated(id));
    for (table, rows) in [
        ("select count(*) from media", 2),
        ("select count(*) from queue.jobs", 4),
        ("select submissions from usage", 2),
    ] {
        assert_eq!(fixture.count(table).await, rows, "{table}");
    }
    fixture.close().await;
}

#[sqlx::test(migrations = false)]
async fn many_at_once_through_several_processes_make_one_item(pool: PgPool) {
    let fixture = Submitter::new(pool.clone()).await;
    let acceptors: Vec<_> = (0..4)
        .map(|_| {
            Acceptor::start(
                pool.clone(),
                fixture.queue.clone(),
                AcceptSettings::default(),
            )
        })
        .collect();
    for round in 0..10 {
        let key = format!("round {round}");
        let (mut waiting, mut bystanders) = (Vec::new(), Vec::new());
        for n in 0..40 {
            // Every fifth request asks for something else. In half of the rounds, requests without
            // a key share the batches.
            let body = if n % 5 == 4 { "other" } else { "text" };
            let request = fixture.request(&key, body).await;
            let acceptor = acceptors[n % 4].clone();
            if round % 2 == 0 {
                let bystander = fixture.media(&fixture.site().await, "bystander");
                let acceptor = acceptor.clone();
                bystanders.push(tokio::spawn(async move {
                    acceptor.accept(bystander).await.unwrap()
                }));
            }
            waiting.push(tokio::spawn(async move {
                (request.id, body, acceptor.accept(request).await.unwrap())
            }));
        }
        for answer in bystanders {
            assert_eq!(answer.await.unwrap(), Acceptance::Accepted);
        }
        let mut items = HashSet::new();
        let mut asked = HashSet::new();
        let mut conflicts = 0;
        for answer in waiting {
            let (id, body, acceptance) = answer.await.unwrap();
            match acceptance {
                Acceptance::Accepted => items.insert(id),
                Acceptance::Repeated(first) => items.insert(first),
                other => {
                    assert_eq!(other, Acceptance::IdempotencyConflict);
                    conflicts += 1;
                    continue;
                }
            };
            asked.insert(body);
        }
        assert_eq!((items.len(), asked.len()), (1, 1));
        assert!(conflicts == 8 || conflicts == 32, "{conflicts}");
    }
    assert_eq!(
        fixture
            .count("select count(*) from media where body <> 'bystander'")
            .await,
        10
    );
    assert_eq!(fixture.count("select submissions from usage").await, 210);
    fixture.close().await;
}

#[sqlx::test(migrations = false)]
async fn only_accepted_requests_are_kept(pool: PgPool) {
    let fixture = Submitter::new(pool).await;
    fixture
        .execute("update plans set submissions_per_period = 0")
        .await;
    assert_eq!(fixture.repeat("a", "text").await, Acceptance::QuotaExceeded);
    fixture
        .execute("update plans set submissions_per_period = 1")
        .await;
    assert_eq!(fixture.repeat("a", "other").await, Acceptance::Accepted);
    // The quota is used up. Repetitions are answered nevertheless.
    assert!(matches!(
        fixture.repeat("a", "other").await,
        Acceptance::Repeated(_)
    ));
    assert_eq!(fixture.repeat("b", "text").await, Acceptance::QuotaExceeded);
    fixture.close().await;
}

#[sqlx::test(migrations = false)]
async fn after_a_day_a_key_is_new_again(pool: PgPool) {
    let fixture = Submitter::new(pool).await;
    let first = fixture.request("a", "text").await;
    let id = first.id;
    assert_eq!(fixture.accept(first).await, Acceptance::Accepted);
    fixture
        .execute("update idempotency_keys set created_at = now() - interval '23 hours 59 minutes'")
        .await;
    assert_eq!(fixture.repeat("a", "text").await, Acceptance::Repeated(id));
    fixture
        .execute("update idempotency_keys set created_at = now() - interval '24 hours'")
        .await;
    assert_eq!(fixture.repeat("a", "other").await, Acceptance::Accepted);
    assert_eq!(
        fixture.repeat("a", "text").await,
        Acceptance::IdempotencyConflict
    );
    assert_eq!(fixture.count("select count(*) from media").await, 2);
    assert_eq!(
        fixture.count("select count(*) from idempotency_keys").await,
        1
    );
    fixture.close().await;
}
