//! Lists of deliveries: complete, in order, and within their bounds.

use domain::{
    event::EventKind,
    id::{DeliveryId, EndpointId},
    webhook::DeliveryStatus,
};
use sqlx::{PgConnection, PgPool};
use store::{
    delivery::{Filter, WALKED, list},
    endpoint,
};

use crate::tenant::Tenant;

impl Tenant {
    async fn default_endpoint(&self) -> EndpointId {
        let mut conn = self.pool.acquire().await.unwrap();
        endpoint::create(&mut conn, self.site, "https://example.com/", EventKind::ALL)
            .await
            .unwrap()
    }

    /// Deliveries to an endpoint with these consecutive ids, of events with the same ids. The
    /// oldest delivery failed.
    async fn deliveries(&self, endpoint: EndpointId, of: i32, ids: std::ops::Range<i32>) {
        sqlx::query(
            "with events as (
                 insert into events (id, media_id, site_id, kind, occurred_at)
                 select ('01980000-0000-7000-800' || $5 || '-' || lpad(to_hex(n), 12, '0'))::uuid, gen_random_uuid(), $2,
                        'media.created', '2026-01-01Z'::timestamptz + n * interval '1 second'
                 from generate_series($3, $4 - 1) as n
                 returning id
             )
             insert into deliveries (id, event_id, endpoint_id, state)
             select id, id, $1, case when row_number() over (order by id) = 1 then 'exhausted' else 'delivered' end from events",
        )
        .bind(endpoint.as_uuid())
        .bind(self.site.as_uuid())
        .bind(ids.start)
        .bind(ids.end)
        .bind(of)
        .execute(&self.pool)
        .await
        .unwrap();
    }

    /// All pages of the site's list, one after the other.
    async fn delivered(&self, filter: &Filter, limit: usize) -> Vec<Vec<DeliveryId>> {
        let mut conn = self.pool.acquire().await.unwrap();
        let (mut pages, mut after) = (Vec::new(), None);
        loop {
            let page = list(&mut conn, &[self.site], filter, after, limit)
                .await
                .unwrap();
            assert!(page.deliveries.len() <= limit);
            pages.push(page.deliveries.iter().map(|listed| listed.id).collect());
            match page.next {
                Some(next) => after = Some(next),
                None => return pages,
            }
        }
    }
}

fn status(status: DeliveryStatus) -> Filter {
    Filter {
        status: Some(status),
        ..Filter::default()
    }
}

/// Rows of both tables that this connection has read recently.
async fn read(conn: &mut PgConnection) -> Vec<i64> {
    sqlx::query_scalar(
        "select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) from pg_stat_xact_user_tables
         where relname in ('deliveries', 'events') order by relname",
    )
    .fetch_all(conn)
    .await
    .unwrap()
}

#[sqlx::test(migrations = false)]
async fn pages_of_all_endpoints_together_hold_every_delivery_once_and_newest_first(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let endpoints = [
        fixture.default_endpoint().await,
        fixture.default_endpoint().await,
    ];
    fixture.default_endpoint().await;
    fixture.deliveries(endpoints[0], 0, 0..20).await;
    fixture.deliveries(endpoints[1], 1, 10..40).await;
    let another = Tenant::another(&fixture.pool, "other").await;
    let theirs = another.default_endpoint().await;
    another.deliveries(theirs, 2, 0..5).await;

    for limit in [1, 7, 49, 50, 51] {
        let mut seen = fixture.delivered(&Filter::default(), limit).await.concat();
        assert_eq!(seen.len(), 50, "{limit}");
        assert!(seen.is_sorted_by(|one, next| one > next), "{limit}");
        seen.dedup();
        assert_eq!(seen.len(), 50, "{limit}");
    }
    let of_one = Filter {
        endpoint: Some(endpoints[1]),
        ..Filter::default()
    };
    assert_eq!(fixture.delivered(&of_one, 7).await.concat().len(), 30);
    let of_theirs = Filter {
        endpoint: Some(theirs),
        ..Filter::default()
    };
    assert!(fixture.delivered(&of_theirs, 7).await.concat().is_empty());
}

#[sqlx::test(migrations = false)]
async fn a_page_reads_a_bounded_number_of_rows_and_what_failed_is_found_directly(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let endpoint = fixture.default_endpoint().await;
    let walked = i32::try_from(WALKED).unwrap();
    fixture.deliveries(endpoint, 0, 0..3 * walked).await;
    sqlx::query("analyze deliveries")
        .execute(&fixture.pool)
        .await
        .unwrap();
    let pending = fixture
        .delivered(&status(DeliveryStatus::Pending), 10)
        .await;
    let empty = |page: &Vec<DeliveryId>| page.is_empty();
    assert!(pending.len() >= 3 && pending.iter().all(empty));
    let failed = fixture
        .delivered(&status(DeliveryStatus::Exhausted), 10)
        .await;
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0].len(), 1);

    for (filter, most) in [
        (Filter::default(), 100),
        (status(DeliveryStatus::Exhausted), 100),
        (status(DeliveryStatus::Pending), i64::from(walked) + 100),
    ] {
        let mut tx = fixture.pool.begin().await.unwrap();
        let before = read(&mut tx).await;
        list(&mut tx, &[fixture.site], &filter, None, 10)
            .await
            .unwrap();
        let after = read(&mut tx).await;
        let rows: Vec<i64> = before.iter().zip(&after).map(|(b, a)| a - b).collect();
        assert_eq!(rows.len(), 2);
        assert!(
            rows.iter().all(|rows| *rows <= most),
            "{filter:?}: {rows:?}"
        );
    }
}

#[sqlx::test(migrations = false)]
async fn a_page_never_reads_what_others_have(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let endpoint = fixture.default_endpoint().await;
    fixture.deliveries(endpoint, 0, 0..20).await;
    let another = Tenant::another(&fixture.pool, "other").await;
    let theirs = another.default_endpoint().await;
    another.deliveries(theirs, 1, 0..50_000).await;
    let mut tx = fixture.pool.begin().await.unwrap();
    for statement in ["analyze", "set local plan_cache_mode = force_generic_plan"] {
        sqlx::query(statement).execute(&mut *tx).await.unwrap();
    }
    let created = Filter {
        kind: Some(EventKind::MediaCreated),
        ..Filter::default()
    };
    for filter in [
        created,
        status(DeliveryStatus::Pending),
        status(DeliveryStatus::Exhausted),
    ] {
        let before = read(&mut tx).await;
        list(&mut tx, &[fixture.site], &filter, None, 10)
            .await
            .unwrap();
        let after = read(&mut tx).await;
        let rows: Vec<i64> = before.iter().zip(&after).map(|(b, a)| a - b).collect();
        assert!(rows.iter().all(|rows| *rows <= 100), "{filter:?}: {rows:?}");
    }
}
