//! The quota of submissions.

use sqlx::PgPool;
use store::accept::Acceptance;

use crate::accept::submitter::Submitter;

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
    // Like separate processes: each gathers and writes by itself.
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
