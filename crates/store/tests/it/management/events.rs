//! Lists of events: complete, in order, within their bounds, and with their own deliveries only.

mod many_sites;

use chrono::{DateTime, TimeDelta, Utc};
use domain::{
    event::EventKind,
    id::{DeliveryId, EndpointId, EventId, SiteId},
    webhook::DeliveryStatus,
};
use sqlx::{PgConnection, PgPool};
use store::{
    delivery::WALKED,
    event::{Filter, Listed, SHOWN, list},
};
use uuid::Uuid;

use crate::tenant::Tenant;

const CREATED: EventKind = EventKind::MediaCreated;
const MODERATED: EventKind = EventKind::MediaModerated;

impl Tenant {
    /// Events with consecutive ids, a second apart from `since` on; the oldest one is a verdict's.
    async fn events_of(&self, site: SiteId, since: DateTime<Utc>, count: usize) -> Vec<EventId> {
        let events: Vec<Uuid> = sqlx::query_scalar(
            "insert into events (id, media_id, site_id, kind, verdict, occurred_at)
             select
                 overlay(gen_random_uuid()::text placing substr(h, 1, 8) || '-' || substr(h, 9, 4) || '-7' from 1 for 15)::uuid,
                 gen_random_uuid(),
                 $1,
                 case when n = 0 then 'media.moderated' else 'media.created' end,
                 case when n = 0 then 1 end,
                 $2 + n * interval '1 second'
             from generate_series(0, $3 - 1) as n,
             lpad(to_hex((extract(epoch from $2) * 1000)::bigint + 1000 * n), 12, '0') as h
             returning id",
        )
        .bind(site.as_uuid())
        .bind(since)
        .bind(i64::try_from(count).unwrap())
        .fetch_all(&self.pool)
        .await
        .unwrap();
        events.into_iter().map(EventId::from).collect()
    }

    /// All pages of a site's list, one after the other.
    async fn happened(&self, filter: &Filter, limit: usize) -> Vec<Vec<Listed>> {
        let mut conn = self.pool.acquire().await.unwrap();
        let (mut pages, mut after) = (Vec::new(), None);
        loop {
            let page = list(&mut conn, &[self.site], filter, after, limit)
                .await
                .unwrap();
            assert!(page.events.len() <= limit);
            pages.push(page.events);
            match page.next {
                Some(next) => after = Some(next),
                None => return pages,
            }
        }
    }
}

fn of(kind: EventKind) -> Filter {
    Filter {
        kind: Some(kind),
        ..Filter::default()
    }
}

fn ids(pages: &[Vec<Listed>]) -> Vec<EventId> {
    pages.iter().flatten().map(|event| event.id).collect()
}

/// Rows of events that this connection has read recently.
async fn read(conn: &mut PgConnection) -> i64 {
    sqlx::query_scalar(
        "select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) from pg_stat_xact_user_tables
         where relname = 'events'",
    )
    .fetch_one(conn)
    .await
    .unwrap()
}

#[sqlx::test(migrations = false)]
async fn pages_hold_every_event_of_the_site_once_and_newest_first(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let since = Utc::now() - TimeDelta::hours(1);
    let mut expected = fixture.events_of(fixture.site, since, 50).await;
    expected.reverse();
    let neighbour = fixture.create_site("neighbour").await;
    fixture.events_of(neighbour, since, 20).await;
    let another = Tenant::another(&fixture.pool, "other").await;
    another.events_of(another.site, since, 20).await;

    for limit in [1, 7, 49, 50, 51] {
        let pages = fixture.happened(&Filter::default(), limit).await;
        assert_eq!(ids(&pages), expected, "{limit}");
        assert_eq!(pages.len(), 50_usize.div_ceil(limit), "{limit}");
    }
    assert_eq!(
        ids(&fixture.happened(&of(MODERATED), 7).await),
        expected[49..]
    );
    let within = Filter {
        since: Some(since + TimeDelta::seconds(10)),
        until: Some(since + TimeDelta::seconds(20)),
        ..of(CREATED)
    };
    assert_eq!(ids(&fixture.happened(&within, 7).await), expected[30..40]);

    // Nobody else's item has events here.
    let media: Uuid = sqlx::query_scalar("select media_id from events where site_id = $1")
        .bind(another.site.as_uuid())
        .fetch_one(&fixture.pool)
        .await
        .unwrap();
    let about = Filter {
        media: Some(media.into()),
        ..Filter::default()
    };
    assert!(ids(&fixture.happened(&about, 7).await).is_empty());
    assert_eq!(ids(&another.happened(&about, 7).await).len(), 1);
}

#[sqlx::test(migrations = false)]
async fn an_event_is_shown_with_its_deliveries_or_none(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let events = fixture.events_of(fixture.site, Utc::now(), 3).await;
    // The endpoints are those of all times.
    let endpoints: Vec<Uuid> = sqlx::query_scalar(
        "insert into webhook_endpoints (id, site_id, url, events, disabled_at, deleted_at)
         select gen_random_uuid(), $1, 'https://example.com/', '{}', now(), now() from generate_series(0, $2)
         returning id",
    )
    .bind(fixture.site.as_uuid())
    .bind(i64::try_from(SHOWN).unwrap())
    .fetch_all(&fixture.pool)
    .await
    .unwrap();
    let mut endpoints: Vec<EndpointId> = endpoints.into_iter().map(EndpointId::from).collect();
    endpoints.sort_unstable();
    let ways = endpoints.iter().map(|endpoint| (events[0], *endpoint));
    for (event, endpoint) in ways.chain([(events[2], endpoints[0])]) {
        sqlx::query(
            "insert into deliveries (id, event_id, endpoint_id, state, attempts) values ($1, $2, $3, 'exhausted', 12)",
        )
        .bind(DeliveryId::of(event, endpoint).as_uuid())
        .bind(event.as_uuid())
        .bind(endpoint.as_uuid())
        .execute(&fixture.pool)
        .await
        .unwrap();
    }
    let pages = fixture.happened(&Filter::default(), 10).await.concat();
    assert_eq!(pages.len(), 3);
    assert_eq!(pages[0].deliveries.len(), 1);
    let only = pages[0].deliveries[0];
    assert_eq!(only.delivery, DeliveryId::of(events[2], endpoints[0]));
    assert_eq!(only.endpoint, endpoints[0]);
    assert_eq!(only.status, DeliveryStatus::Exhausted);
    assert_eq!(only.attempts, 12);
    assert!(pages[1].deliveries.is_empty());
    let shown = pages[2].deliveries.iter().map(|told| told.endpoint);
    endpoints.reverse();
    assert_eq!(shown.collect::<Vec<_>>(), endpoints[..SHOWN]);
}

#[sqlx::test(migrations = false)]
async fn a_page_of_events_reads_a_bounded_number_of_rows(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let since = Utc::now() - TimeDelta::days(1);
    // Neighbours have as many at the same time.
    let neighbour = fixture.create_site("neighbour").await;
    for site in [fixture.site, neighbour] {
        fixture.events_of(site, since, 3 * WALKED).await;
    }
    sqlx::query("analyze events")
        .execute(&fixture.pool)
        .await
        .unwrap();
    let oldest = fixture.happened(&of(MODERATED), 10).await;
    assert!(oldest.len() >= 3);
    assert_eq!(ids(&oldest).len(), 1);

    let walked = i64::try_from(WALKED).unwrap();
    for (filter, most) in [
        (Filter::default(), 100),
        (of(CREATED), walked + 100),
        (of(MODERATED), walked + 100),
    ] {
        let mut tx = fixture.pool.begin().await.unwrap();
        let before = read(&mut tx).await;
        list(&mut tx, &[fixture.site], &filter, None, 10)
            .await
            .unwrap();
        let rows = read(&mut tx).await - before;
        assert!(rows <= most, "{filter:?}: {rows}");
    }
}

#[sqlx::test(migrations = false)]
async fn pages_of_several_sites_hold_every_event_once_and_newest_first(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let since = Utc::now() - TimeDelta::hours(1);
    let sites = [fixture.site, fixture.create_site("second").await];
    let mut expected = fixture.events_of(sites[0], since, 60).await;
    expected.extend(fixture.events_of(sites[1], since, 40).await);
    expected.sort();
    expected.reverse();
    let mut conn = fixture.pool.acquire().await.unwrap();
    for limit in [1, 7, 99, 100, 101] {
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let page = list(&mut conn, &sites, &Filter::default(), after, limit).await;
            let page = page.unwrap();
            assert!(page.events.len() <= limit);
            seen.extend(page.events.iter().map(|event| event.id));
            match page.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        assert_eq!(seen, expected, "{limit}");
    }
}

#[sqlx::test(migrations = false)]
async fn a_page_of_several_sites_reads_no_more_rows_than_one_of_one_site(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let since = Utc::now() - TimeDelta::days(1);
    let sites = [fixture.site, fixture.create_site("second").await];
    for site in sites {
        fixture.events_of(site, since, 3 * WALKED).await;
    }
    sqlx::query("analyze events")
        .execute(&fixture.pool)
        .await
        .unwrap();
    let mut tx = fixture.pool.begin().await.unwrap();
    let before = read(&mut tx).await;
    list(&mut tx, &sites, &of(MODERATED), None, 10)
        .await
        .unwrap();
    let rows = read(&mut tx).await - before;
    assert!(rows <= i64::try_from(WALKED).unwrap() + 100, "{rows}");
}
