//! An endpoint that keeps failing is paused, tested with one request, and disabled in the end.

use std::time::{Duration, Instant};

use sqlx::PgPool;

use super::Service;
use crate::support::{SOON, eventually};

const OPEN: &str = "select count(*) from webhook_endpoint_states where open_until is not null";
const RUNNING: &str = "select count(*) from queue.jobs where queue = 'webhooks' and state = 1";
const ATTEMPTS: &str = "select coalesce(sum(attempts), 0)::bigint from deliveries";
const DELIVERED: &str = "select count(*) from deliveries where state = 'delivered'";
const DISABLED: &str = "select count(*) from webhook_endpoints where disabled_at is not null";
/// Ends the time for which the breaker is open.
const HALF_OPEN: &str = "with half_open as (update webhook_endpoint_states set open_until = now())
    update queue.lanes set paused_until = null";

/// The breaker stays open until a test ends that.
const STAYS_OPEN: &str =
    "update webhook_endpoint_states set open_until = now() + interval '1 hour'";

/// Items, each with two deliveries.
const ITEMS: i64 = 60;
/// The failures in a row that open a breaker.
const OPENS: i64 = 10;

async fn with_open_breaker(pool: PgPool) -> Service {
    let service = Service::start(pool).await;
    service.receiver.answer(500, Duration::from_millis(100));
    for _ in 0..ITEMS {
        service.submit().await;
    }
    eventually("the breaker opens", SOON, async || {
        (service.count(OPEN).await == 1).then_some(())
    })
    .await;
    // Running deliveries end.
    eventually("no delivery runs", SOON, async || {
        (service.count(RUNNING).await == 0).then_some(())
    })
    .await;
    service
}

#[sqlx::test(migrations = false)]
async fn what_waits_for_an_endpoint_that_is_left_alone_is_charged_no_attempt(pool: PgPool) {
    let service = with_open_breaker(pool).await;
    // One process sends 32 deliveries while the breaker opens, and then one every few seconds, to find out.
    let spent = service.count(ATTEMPTS).await;
    assert!((OPENS..ITEMS).contains(&spent), "{spent} attempts");
    let (asked, begun) = (service.receiver.received().len(), Instant::now());
    tokio::time::sleep(Duration::from_secs(2)).await;
    let since = service.receiver.received().len() - asked;
    // A busy machine may let the test wait for longer than two seconds.
    let most = 1 + begun.elapsed().as_secs() / 3;
    assert!(
        u64::try_from(since).unwrap() <= most,
        "{since} requests in {:?}",
        begun.elapsed()
    );

    service.receiver.answer(200, Duration::ZERO);
    service.run(HALF_OPEN).await;
    eventually("all are delivered", SOON, async || {
        (service.count(DELIVERED).await == 2 * ITEMS).then_some(())
    })
    .await;
    assert_eq!(service.count(OPEN).await, 0);
    // Whatever waited was charged for its requests alone.
    let requests = service.receiver.received().len();
    assert_eq!(
        service.count(ATTEMPTS).await,
        i64::try_from(requests).unwrap()
    );
}

#[sqlx::test(migrations = false)]
async fn one_request_alone_finds_out_whether_an_endpoint_is_well_again(pool: PgPool) {
    let service = with_open_breaker(pool).await;
    // The endpoint fails until the end, so its deliveries wait.
    service.up.leaves_jobs();
    for _ in 0..2 {
        service.run(STAYS_OPEN).await;
        let before = service.receiver.received().len();
        service.receiver.answer(500, Duration::from_secs(1));
        service.run(HALF_OPEN).await;
        eventually("a probe fails", SOON, async || {
            let open = "select count(*) from webhook_endpoint_states where open_until > now()";
            (service.count(open).await == 1).then_some(())
        })
        .await;
        assert_eq!(service.receiver.received().len(), before + 1);
    }
}

#[sqlx::test(migrations = false)]
async fn an_endpoint_that_failed_for_five_days_is_disabled_and_one_that_succeeded_is_not(
    pool: PgPool,
) {
    const FIVE_DAYS: &str = "insert into webhook_endpoint_states (endpoint_id, failing_since)
        select id, now() - interval '5 days' from webhook_endpoints
        on conflict (endpoint_id) do update set failing_since = excluded.failing_since";
    const FAILING: &str =
        "select count(*) from webhook_endpoint_states where failing_since is not null";
    let service = Service::start(pool).await;
    service.run(FIVE_DAYS).await;
    let media = service.submit().await;
    service.up.verdict(&media).await;
    eventually("a success is noted", SOON, async || {
        (service.count(FAILING).await == 0).then_some(())
    })
    .await;
    service.receiver.answer(500, Duration::ZERO);
    service.submit().await;
    eventually("a failure is noted", SOON, async || {
        (service.count(FAILING).await == 1).then_some(())
    })
    .await;
    assert_eq!(service.count(DISABLED).await, 0);

    service.run(FIVE_DAYS).await;
    service.submit().await;
    eventually("it is disabled", SOON, async || {
        (service.count(DISABLED).await == 1).then_some(())
    })
    .await;
    let reason: String = sqlx::query_scalar("select disabled_reason from webhook_endpoints")
        .fetch_one(&service.pool)
        .await
        .unwrap();
    assert_eq!(reason, "no delivery succeeded for five days");
}
