//! An endpoint with a limit gets no more requests per second than this limit, and all of them in
//! the end.

use std::time::{Duration, Instant};

use sqlx::PgPool;

use super::{Service, permits, record_permits};
use crate::support::{SOON, eventually};

const LIMIT: u32 = 3;

#[sqlx::test(migrations = false)]
async fn an_endpoint_gets_no_more_requests_a_second_than_its_owner_wants(pool: PgPool) {
    let service = Service::start(pool).await;
    record_permits(&service.pool).await;
    service
        .run("update webhook_endpoints set max_per_second = 3")
        .await;
    let begun = Instant::now();
    for _ in 0..10 {
        service.submit().await;
    }
    let requests = eventually("all requests", SOON, async || {
        let requests = service.receiver.received();
        (requests.len() >= 20).then_some(requests)
    })
    .await;
    // What is sent and what arrives may wait for its turn on a busy machine. So the seconds for which requests were permitted
    // are counted, and those that have passed until a request arrives.
    let (permitted, most) = permits(&service.pool).await;
    assert!(most <= i64::from(LIMIT), "{most} in one second");
    assert!(permitted >= 20, "{permitted} of 20 requests were permitted");
    for (before, request) in (0..).zip(&requests) {
        // The first second may have been over soon.
        let least =
            Duration::from_secs(u64::from(before / LIMIT)).saturating_sub(Duration::from_secs(1));
        let after = request.at - begun;
        assert!(
            after > least,
            "{before} others were before, after {after:?}"
        );
    }
    let charged = "select count(*) from delivery_attempts";
    eventually("all are recorded", SOON, async || {
        let requests = service.receiver.received().len();
        (service.count(charged).await == i64::try_from(requests).unwrap()).then_some(())
    })
    .await;
}
