//! The endpoints of a team, those that fail first, and the latest attempts to reach them.

use chrono::{TimeDelta, Utc};
use domain::{
    event::EventKind,
    id::{EndpointId, SiteId},
};
use sqlx::PgPool;
use store::{
    delivery::latest,
    endpoint::{self, crud},
    page::Page,
};
use uuid::Uuid;

use crate::tenant::Tenant;

async fn create(fixture: &Tenant, site: SiteId) -> EndpointId {
    let mut conn = fixture.pool.acquire().await.unwrap();
    endpoint::create(&mut conn, site, "https://example.com/", EventKind::ALL)
        .await
        .unwrap()
}

#[sqlx::test(migrations = false)]
async fn endpoints_of_all_sites_are_listed_once_those_that_fail_first(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let second = fixture.create_site("second").await;
    let mut all = Vec::new();
    for site in [fixture.site, second, fixture.site, second, fixture.site] {
        all.push(create(&fixture, site).await);
    }
    let another = Tenant::another(&fixture.pool, "other").await;
    create(&another, another.site).await;
    sqlx::query(
        "insert into webhook_endpoint_states (endpoint_id, failing_since) values ($1, now())",
    )
    .bind(all[3].as_uuid())
    .execute(&fixture.pool)
    .await
    .unwrap();
    let mut conn = fixture.pool.acquire().await.unwrap();
    crud::disable(&mut conn, all[2], "paused").await.unwrap();
    crud::delete(&mut conn, all[1]).await.unwrap();

    let expected = [all[3], all[2], all[0], all[4]];
    for limit in [1, 2, 3, 4, 5] {
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let page = Page { after, limit };
            let found = crud::of_team(&mut conn, None, fixture.team, None, page).await;
            let found = found.unwrap();
            after = found.last().map(|placed| placed.endpoint.id.as_uuid());
            if found.is_empty() {
                break;
            }
            seen.extend(found.into_iter().map(|placed| placed.endpoint.id));
        }
        assert_eq!(seen, expected, "{limit}");
    }
    let page = Page {
        after: None,
        limit: 9,
    };
    let of_second = crud::of_team(&mut conn, None, fixture.team, Some(second), page).await;
    let of_second: Vec<_> = of_second.unwrap();
    assert_eq!(of_second.len(), 1);
    assert_eq!(of_second[0].site_name, "second");
}

#[sqlx::test(migrations = false)]
async fn why_an_endpoint_fails_is_found_behind_all_that_waits(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let endpoint = create(&fixture, fixture.site).await;
    let began = Utc::now() - TimeDelta::hours(2);
    // A delivery each second since then. Only the first three were attempted.
    let deliveries: Vec<Uuid> = sqlx::query_scalar(
        "insert into deliveries (id, event_id, endpoint_id, attempts)
         select overlay(gen_random_uuid()::text placing substr(h, 1, 8) || '-' || substr(h, 9, 4) || '-7' from 1 for 15)::uuid,
                gen_random_uuid(), $1, case when n < 3 then 2 else 0 end
         from generate_series(0, 1999) as n,
         lpad(to_hex((extract(epoch from $2) * 1000)::bigint + 1000 * n), 12, '0') as h
         returning id",
    )
    .bind(endpoint.as_uuid())
    .bind(began)
    .fetch_all(&fixture.pool)
    .await
    .unwrap();
    sqlx::query(
        "insert into delivery_attempts (delivery_id, number, started_at, duration_ms, outcome)
         select id, number, $2 + number * interval '1 minute' - place * interval '1 second', 5, 'timeout'
         from unnest($1::uuid []) with ordinality as d (id, place), generate_series(1, 2) as number
         where place <= 3",
    )
    .bind(&deliveries)
    .bind(began)
    .execute(&fixture.pool)
    .await
    .unwrap();

    let mut conn = fixture.pool.acquire().await.unwrap();
    let found = latest(&mut conn, &[(endpoint, Some(began))], 2)
        .await
        .unwrap();
    let found: Vec<(Uuid, i16)> = found
        .iter()
        .map(|one| (one.delivery.as_uuid(), one.attempt.number))
        .collect();
    assert_eq!(found, [(deliveries[0], 2), (deliveries[1], 2)]);
    let well = latest(&mut conn, &[(endpoint, None)], 2).await.unwrap();
    assert!(well.is_empty(), "the newest ones all wait");
}
