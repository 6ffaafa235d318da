//! An endpoint with a limit gets no more requests per second than this limit, and all of them in
//! the end.

use std::time::{Duration, Instant};

use sqlx::PgPool;

use super::Service;
use crate::support::eventually;

const LIMIT: usize = 3;

#[sqlx::test(migrations = false)]
async fn an_endpoint_gets_no_more_requests_a_second_than_its_owner_wants(pool: PgPool) {
    let service = Service::start(pool).await;
    service
        .run("update webhook_endpoints set max_per_second = 3")
        .await;
    for _ in 0..10 {
        service.submit().await;
    }
    let requests = eventually("all requests", Duration::from_mins(1), async || {
        let requests = service.receiver.received();
        (requests.len() == 20).then_some(requests)
    })
    .await;
    // One second of the test's clock overlaps two seconds of the server's clock.
    let arrivals: Vec<Instant> = requests.iter().map(|request| request.at).collect();
    for (place, first) in arrivals.iter().enumerate() {
        let next = arrivals.get(place + 2 * LIMIT);
        let between = next.map(|next| *next - *first);
        assert!(
            between.is_none_or(|between| between > Duration::from_millis(900)),
            "{between:?}"
        );
    }
    let charged = "select count(*) from delivery_attempts";
    eventually("all are recorded", Duration::from_secs(20), async || {
        (service.count(charged).await == 20).then_some(())
    })
    .await;
}
