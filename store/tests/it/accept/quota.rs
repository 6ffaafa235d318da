//! Subscriptions and quotas: never one more than the plan allows.

use domain::{event::EventKind, key::SiteKey};
use sqlx::PgPool;
use store::{
    accept::{AcceptSettings, Acceptance, Acceptor, NewMedia},
    endpoint,
};

use super::submitter::Submitter;

impl Submitter {
    async fn limited_to(pool: PgPool, submissions: i64) -> Self {
        let fixture = Self::new(pool).await;
        sqlx::query("update plans set submissions_per_period = $1")
            .bind(submissions)
            .execute(&fixture.pool)
            .await
            .unwrap();
        fixture
    }

    async fn submit(&self) -> Acceptance {
        self.accept(self.media(&self.site().await, "text")).await
    }

    /// A key of another site of the team, which has an endpoint for these kinds of event, if there are any.
    async fn other_site(&self, name: &str, events: &[EventKind]) -> SiteKey {
        let site = self.create_site(name).await;
        let mut tx = self.pool.begin().await.unwrap();
        if !events.is_empty() {
            let url = "https://example.com/";
            endpoint::create(&mut tx, site, url, events).await.unwrap();
        }
        let (_, key) = store::site::keys::create(&mut tx, site).await.unwrap();
        tx.commit().await.unwrap();
        key
    }

    /// Something submitted with this key.
    async fn media_with(&self, key: &SiteKey) -> NewMedia {
        let site = self.sites.reload(key.hash()).await.unwrap();
        let site = site.expect("the key is valid");
        NewMedia {
            key: key.hash(),
            ..self.media(&site, "text")
        }
    }

    async fn submit_with(&self, key: &SiteKey) -> Acceptance {
        self.accept(self.media_with(key).await).await
    }

    async fn deliveries(&self) -> i64 {
        self.count("select deliveries from usage").await
    }

    async fn used(&self) -> Vec<i64> {
        sqlx::query_scalar("select submissions from usage order by period_start")
            .fetch_all(&self.pool)
            .await
            .unwrap()
    }
}

#[sqlx::test(migrations = false)]
async fn a_spent_quota_refuses_and_stores_nothing(pool: PgPool) {
    let fixture = Submitter::limited_to(pool, 2).await;
    assert_eq!(fixture.submit().await, Acceptance::Accepted);
    assert_eq!(fixture.submit().await, Acceptance::Accepted);
    for _ in 0..3 {
        assert_eq!(fixture.submit().await, Acceptance::QuotaExceeded);
    }
    for (table, rows) in [
        ("select count(*) from media", 2),
        ("select count(*) from events", 2),
        ("select count(*) from deliveries", 2),
        ("select count(*) from queue.jobs", 4),
    ] {
        assert_eq!(fixture.count(table).await, rows, "{table}");
    }
    assert_eq!(fixture.used().await, [2]);

    fixture
        .execute("update plans set submissions_per_period = 3")
        .await;
    assert_eq!(fixture.submit().await, Acceptance::Accepted);
    assert_eq!(fixture.submit().await, Acceptance::QuotaExceeded);
    fixture
        .execute("update plans set submissions_per_period = 1")
        .await;
    assert_eq!(fixture.submit().await, Acceptance::QuotaExceeded);
    fixture
        .execute("update plans set submissions_per_period = null")
        .await;
    assert_eq!(fixture.submit().await, Acceptance::Accepted);
    assert_eq!(fixture.used().await, [4]);
    fixture.close().await;
}

#[sqlx::test(migrations = false)]
async fn many_at_once_through_several_processes_get_exactly_what_is_left(pool: PgPool) {
    let fixture = Submitter::limited_to(pool.clone(), 10).await;
    let site = fixture.site().await;
    // As separate processes: each gathers and writes on its own.
    let acceptors: Vec<_> = (0..4)
        .map(|_| {
            store::accept::Acceptor::start(
                pool.clone(),
                fixture.queue.clone(),
                store::accept::AcceptSettings::default(),
            )
        })
        .collect();
    let waiting: Vec<_> = (0..200)
        .map(|n| {
            let (acceptor, media) = (acceptors[n % 4].clone(), fixture.media(&site, "text"));
            tokio::spawn(async move { acceptor.accept(media).await.unwrap() })
        })
        .collect();
    let mut accepted = 0;
    for answer in waiting {
        match answer.await.unwrap() {
            Acceptance::Accepted => accepted += 1,
            other => assert_eq!(other, Acceptance::QuotaExceeded),
        }
    }
    assert_eq!(accepted, 10);
    assert_eq!(fixture.count("select count(*) from media").await, 10);
    assert_eq!(fixture.used().await, [10]);
    fixture.close().await;
}

#[sqlx::test(migrations = false)]
async fn each_billing_period_has_its_own_count(pool: PgPool) {
    let fixture = Submitter::limited_to(pool, 1).await;
    assert_eq!(fixture.submit().await, Acceptance::Accepted);
    assert_eq!(fixture.submit().await, Acceptance::QuotaExceeded);
    // The same, seen a month later.
    fixture
        .execute("update usage set period_start = period_start - interval '1 month'")
        .await;
    assert_eq!(fixture.submit().await, Acceptance::Accepted);
    assert_eq!(fixture.submit().await, Acceptance::QuotaExceeded);
    assert_eq!(fixture.used().await, [1, 1]);
    fixture.close().await;
}

#[sqlx::test(migrations = false)]
async fn only_a_subscription_in_force_lets_submit(pool: PgPool) {
    let fixture = Submitter::new(pool).await;
    let cases = [
        ("state = 'cancelled'", Acceptance::NoSubscription),
        (
            "state = 'past_due', past_due_since = now() - interval '6 days 23 hours'",
            Acceptance::Accepted,
        ),
        (
            "state = 'past_due', past_due_since = now() - interval '7 days 1 second'",
            Acceptance::NoSubscription,
        ),
        (
            "state = 'active', past_due_since = null, started_at = now() + interval '1 hour'",
            Acceptance::NoSubscription,
        ),
        (
            "started_at = now() - interval '3 years'",
            Acceptance::Accepted,
        ),
    ];
    for (change, expected) in cases {
        sqlx::query(sqlx::AssertSqlSafe(format!(
            "update subscriptions set {change}"
        )))
        .execute(&fixture.pool)
        .await
        .unwrap();
        assert_eq!(fixture.submit().await, expected, "{change}");
    }
    fixture.execute("delete from subscriptions").await;
    assert_eq!(fixture.submit().await, Acceptance::NoSubscription);
    assert_eq!(fixture.count("select count(*) from media").await, 2);
    fixture.close().await;
}

#[sqlx::test(migrations = false)]
async fn case_38_spent_deliveries_refuse_what_causes_webhooks_and_store_nothing(pool: PgPool) {
    let fixture = Submitter::new(pool).await;
    let quiet = fixture.other_site("quiet", &[]).await;
    fixture
        .execute("update plans set deliveries_per_period = 5")
        .await;
    // Two webhooks each: of its acceptance, and of its verdict.
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
    // Both are spent: the first of the two is told.
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
    // More of those that cause one each are asked for than there is room for, so nothing is left over.
    assert_eq!(2 * accepted[0] + accepted[1], 31, "{accepted:?}");
    assert_eq!(accepted[2], 80, "they cause none");
    assert_eq!(fixture.deliveries().await, 31);
    let sum = accepted.iter().sum::<i64>();
    assert_eq!(fixture.used().await, [sum]);
    assert_eq!(fixture.count("select count(*) from media").await, sum);
    fixture.close().await;
}

/// A batch near the end of the quota: what causes the fewest webhooks goes first, so nothing is refused that has room.
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
