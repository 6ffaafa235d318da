//! Endpoints that never answer, and one with a backlog, beside a healthy one: it gets its webhooks
//! as if it were alone.

use std::time::{Duration, Instant};

use domain::webhook::ATTEMPT_DEADLINE;
use serde_json::json;
use sqlx::{ConnectOptions as _, PgPool};

use crate::support::{DataDir, Receiver, SOON, Up, eventually};

/// Together they need more slots than any queue of one process has.
const DEAD: usize = 3;
/// Deliveries that wait for each of the dead endpoints.
const BACKLOG: i32 = 3_000;
/// Items, each with two events.
const ITEMS: usize = 20;

/// Stores deliveries of one event that wait for the endpoint with this URL.
const FILL: &str = "
    with endpoint as (select id, site_id from webhook_endpoints where url = $1),
    new_events as (
        insert into events (id, media_id, site_id, kind)
        select gen_random_uuid(), m.id, m.site_id, 'media.created'
        from (select id, site_id from media limit 1) m, generate_series(1, $2)
        returning id
    ),
    new_deliveries as (
        insert into deliveries (id, event_id, endpoint_id)
        select gen_random_uuid(), e.id, p.id from new_events e, endpoint p
        returning id, endpoint_id
    )
    select queue.enqueue(
        array_agg('webhooks'::text), array_agg(endpoint_id), array_agg(json_build_object('delivery', id)::text),
        array_agg(0::smallint), array_agg(0::bigint), array_agg(40::smallint)
    )
    from new_deliveries";

const WAITING: &str =
    "select count(*) from deliveries d join webhook_endpoints p on p.id = d.endpoint_id
    where p.url = $1 and d.state = 'pending'";

async fn add_endpoint(pool: &PgPool, url: &str) {
    sqlx::query(
        "insert into webhook_endpoints (id, site_id, url, events)
         select gen_random_uuid(), site_id, $1, events from webhook_endpoints limit 1",
    )
    .bind(url)
    .execute(pool)
    .await
    .unwrap();
    sqlx::query(FILL)
        .bind(url)
        .bind(BACKLOG)
        .execute(pool)
        .await
        .unwrap();
}

#[sqlx::test(migrations = false)]
async fn case_21_endpoints_that_are_dead_or_flooded_change_nothing_for_others(pool: PgPool) {
    let (well, other, data) = (
        Receiver::start().await,
        Receiver::start().await,
        DataDir::new(),
    );
    let database = pool.connect_options().to_url_lossy().to_string();
    let options = [
        "--database-url",
        &database,
        "--demo",
        "--webhook-url",
        &well.url(),
        "--egress-allow",
        &other.host(),
    ];
    let up = Up::start(&data, &options).await;
    // The deliveries to dead and flooded endpoints do not end in time.
    up.leaves_jobs();
    let first = up.submit(json!({ "body": "a fine day" })).await;
    well.event("media.moderated", &first, SOON).await;

    let begun = Instant::now();
    // Longer than the deadline of one attempt.
    other.answer(200, Duration::from_mins(1));
    for number in 0..DEAD {
        add_endpoint(&pool, &format!("{}dead/{number}", other.url())).await;
    }
    eventually(
        "the dead endpoints hold all slots that they can get",
        SOON,
        async || (other.received().len() >= DEAD * 32).then_some(()),
    )
    .await;
    // From now on, the dead endpoints answer new requests.
    other.answer(200, Duration::from_secs(1));
    let flooded = format!("{}flooded", other.url());
    add_endpoint(&pool, &flooded).await;

    for _ in 0..ITEMS {
        up.submit(json!({ "body": "a fine day" })).await;
    }
    eventually("all events of the items", SOON, async || {
        (well.received().len() >= 2 * (ITEMS + 1)).then_some(())
    })
    .await;
    let waiting: i64 = sqlx::query_scalar(WAITING)
        .bind(&flooded)
        .fetch_one(&pool)
        .await
        .unwrap();
    assert!(waiting > i64::from(BACKLOG) / 2, "{waiting}");
    let answered: i64 =
        sqlx::query_scalar("select count(*) from delivery_attempts where url like '%/dead/%'")
            .fetch_one(&pool)
            .await
            .unwrap();
    // On a machine that is too busy, the attempts at the dead endpoints end meanwhile, and this tells nothing.
    assert!(
        answered == 0 || begun.elapsed() > ATTEMPT_DEADLINE,
        "{answered} attempts at dead endpoints have ended"
    );
}
