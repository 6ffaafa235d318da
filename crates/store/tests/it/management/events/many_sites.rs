//! The events of a team with as many sites as are looked at together.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use chrono::{TimeDelta, Utc};
use domain::id::{EventId, SiteId};
use sqlx::PgPool;
use store::{
    delivery::WALKED,
    event::{Filter, list},
};
use tracing::{Event, Metadata, Subscriber, span};
use uuid::Uuid;

use super::{CREATED, MODERATED, of, read};
use crate::tenant::Tenant;

/// Collects how many statements were sent.
#[derive(Clone, Default)]
struct Statements(Arc<AtomicUsize>);

impl Subscriber for Statements {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "sqlx::query"
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, _: &Event<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// The most sites of a team that are looked at together.
const SITES: usize = 1_000;

#[sqlx::test(migrations = false)]
async fn a_page_of_a_thousand_sites_takes_as_many_statements_as_one_of_one_site(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let since = Utc::now() - TimeDelta::days(1);
    let sites: Vec<SiteId> = (0..SITES).map(|_| Uuid::now_v7().into()).collect();
    let ids: Vec<Uuid> = sites.iter().map(|site| site.as_uuid()).collect();
    // Each site has one event a minute; two of them are much busier, so that no plan reads the whole table. Nothing keeps events from naming sites that are gone.
    sqlx::query(
        "insert into events (id, media_id, site_id, kind, occurred_at)
         select
             overlay(gen_random_uuid()::text placing substr(h, 1, 8) || '-' || substr(h, 9, 4) || '-7' from 1 for 15)::uuid,
             gen_random_uuid(), site, 'media.created', at
         from (
             select site, $2 + n * interval '1 minute' + place * interval '10 ms' as at
             from unnest($1::uuid []) with ordinality as s (site, place), generate_series(0, 9) n
             union all
             select site, $2 + n * interval '15 ms'
             from unnest($1[1:2]) as s (site), generate_series(1, 30000) n
         ) e,
         lateral (select lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') as h) h",
    )
    .bind(&ids)
    .bind(since)
    .execute(&fixture.pool)
    .await
    .unwrap();
    sqlx::query("analyze events")
        .execute(&fixture.pool)
        .await
        .unwrap();
    let newest: Vec<Uuid> = sqlx::query_scalar("select id from events order by id desc limit 120")
        .fetch_all(&fixture.pool)
        .await
        .unwrap();
    let newest: Vec<EventId> = newest.into_iter().map(EventId::from).collect();
    let nowhere = Filter {
        media: Some(Uuid::now_v7().into()),
        ..Filter::default()
    };
    let statements = Statements::default();
    let guard = tracing::subscriber::set_default(statements.clone());
    let mut tx = fixture.pool.begin().await.unwrap();
    for (filter, limit) in [
        (Filter::default(), 50),
        (Filter::default(), 120),
        (of(MODERATED), 50),
        (nowhere, 50),
    ] {
        let before = (read(&mut tx).await, statements.0.load(Ordering::Relaxed));
        let page = list(&mut tx, &sites, &filter, None, limit).await.unwrap();
        let taken = statements.0.load(Ordering::Relaxed) - before.1;
        assert!(taken <= 4, "{filter:?}: {taken} statements");
        let rows = read(&mut tx).await - before.0;
        let most = i64::try_from(WALKED + SITES + 200).unwrap();
        // The index on the item summarizes pages later, so what it saves cannot be seen here.
        assert!(
            filter.media.is_some() || rows <= most,
            "{filter:?}: {rows} rows"
        );
        let found: Vec<EventId> = page.events.iter().map(|event| event.id).collect();
        if filter.kind.is_none() && filter.media.is_none() {
            assert_eq!(found, newest[..limit]);
        } else {
            assert!(found.is_empty(), "{filter:?}");
        }
        assert_eq!(page.next.is_some(), filter.media.is_none(), "{filter:?}");
    }
    drop(guard);

    // Pages with a filter may be short. Together, they have every event.
    let (mut found, mut after) = (Vec::new(), None);
    while found.len() < newest.len() {
        let page = list(&mut tx, &sites, &of(CREATED), after, 50)
            .await
            .unwrap();
        found.extend(page.events.iter().map(|event| event.id));
        after = Some(page.next.unwrap());
    }
    assert_eq!(found[..newest.len()], newest);
}
