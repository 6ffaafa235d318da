//! Which events are found, and how far one slice goes.

use chrono::{Duration, Utc};
use domain::id::{DeliveryId, EventId, MediaId, SiteId};
use sqlx::PgPool;

use super::{super::standing, *};
use crate::{id_time::ids_within, schema};

/// A team with an erasure whose first phase is done.
struct Fixture {
    pool: PgPool,
    erasure: ErasureId,
    team: Uuid,
}

impl Fixture {
    /// It was about so many items.
    async fn new(pool: &PgPool, items: i64) -> Self {
        schema::migrate(pool).await.unwrap();
        let team = Uuid::now_v7();
        sqlx::query(
            "with team as (insert into teams (id, name) values ($1, '')),
             version as (
                 insert into rule_group_versions (id, rule_group_id, number, rules, uses_ai) values ($1, $1, 1, '[]', false)
             ),
             rules as (insert into rule_groups (id, team_id, name, live_version_id) values ($1, $1, '', $1))
             insert into erasures (id, team_id, kind, subject, salt, subject_sha256, counts, phase, again_after, settled_at)
             values (
                 $1, $1, 'everything', '{\"everything\":{}}', '', sha256(''), json_build_object('items', $2::bigint), 'again',
                 pg_current_xact_id(), now()
             )",
        )
        .bind(team)
        .bind(items)
        .execute(pool)
        .await
        .unwrap();
        Self {
            pool: pool.clone(),
            erasure: ErasureId::from(team),
            team,
        }
    }

    async fn site(&self) -> SiteId {
        let site = Uuid::now_v7();
        sqlx::query(
            "with site as (
                 insert into sites (id, team_id, name, default_rule_group_id, webhook_secret) values ($1, $2, $1::text, $2, '')
             )
             insert into webhook_endpoints (id, site_id, url, events) values ($1, $1, '', '{}')",
        )
        .bind(site)
        .bind(self.team)
        .execute(&self.pool)
        .await
        .unwrap();
        site.into()
    }

    /// An item of so many days ago, with verdicts of so many days ago, and the events that tell of it.
    async fn item(&self, site: SiteId, accepted: i64, decided: &[i64], is_erased: bool) -> Uuid {
        let item = id_of(accepted);
        sqlx::query(
            "with erased as (insert into erased_items (erasure_id, media_id) select $2, $1 where $4)
             insert into media (id, team_id, site_id, content_type, body, group_versions) values ($1, $2, $3, 'text', '', '{}')",
        )
        .bind(item)
        .bind(self.team)
        .bind(site.as_uuid())
        .bind(is_erased)
        .execute(&self.pool)
        .await
        .unwrap();
        self.event(
            site,
            item,
            EventId::of_acceptance(item.into()).as_uuid(),
            None,
        )
        .await;
        for (number, days) in (1..).zip(decided) {
            sqlx::query(
                "insert into verdicts (media_id, number, status, previous_status, moderation_type, details, trace, moderated_at)
                 values ($1, $2, 'approved', 'pending', 'ai', '{}', '{}', $3)",
            )
            .bind(item)
            .bind(number)
            .bind(Utc::now() - Duration::days(*days))
            .execute(&self.pool)
            .await
            .unwrap();
            // The clock of the process that made the id was four minutes late.
            let late = Utc::now() - Duration::days(*days) - Duration::minutes(4);
            self.event(site, item, id_at(late), Some(number)).await;
        }
        item
    }

    async fn event(&self, site: SiteId, item: Uuid, event: Uuid, verdict: Option<i16>) {
        let delivery = DeliveryId::of(event.into(), site.as_uuid().into());
        sqlx::query(
            "with delivery as (insert into deliveries (id, event_id, endpoint_id) values ($4, $1, $3)),
             attempt as (
                 insert into delivery_attempts (delivery_id, number, started_at, duration_ms, outcome)
                 values ($4, 1, now(), 1, 'status')
             )
             insert into events (id, media_id, site_id, kind, verdict)
             values ($1, $2, $3, case when $5::smallint is null then 'media.created' else 'media.moderated' end, $5)",
        )
        .bind(event)
        .bind(item)
        .bind(site.as_uuid())
        .bind(delivery.as_uuid())
        .bind(verdict)
        .execute(&self.pool)
        .await
        .unwrap();
    }

    /// Does the next slice. None: the walk has ended.
    async fn slice(&self, bounds: Bounds) -> Option<usize> {
        let mut conn = self.pool.acquire().await.unwrap();
        let standing = standing(&self.pool, self.erasure).await.unwrap().unwrap();
        let windows = windows(&mut conn, &standing).await.unwrap();
        let walked = walk(&mut conn, &standing, &windows, bounds)
            .await
            .unwrap()?;
        walked.apply(&mut conn, self.erasure).await.unwrap();
        Some(walked.events.len())
    }

    /// The items of the events, of the deliveries, and of the attempts that are left.
    async fn left(&self) -> [Vec<Uuid>; 3] {
        let mut left = [const { Vec::new() }; 3];
        for (left, statement) in left.iter_mut().zip([
            "select media_id from events order by 1",
            "select e.media_id from deliveries d join events e on e.id = d.event_id order by 1",
            "select e.media_id
             from delivery_attempts a join deliveries d on d.id = a.delivery_id join events e on e.id = d.event_id
             order by 1",
        ]) {
            *left = sqlx::query_scalar(statement)
                .fetch_all(&self.pool)
                .await
                .unwrap();
        }
        left
    }

    async fn count(&self, statement: &'static str) -> i64 {
        sqlx::query_scalar(statement)
            .fetch_one(&self.pool)
            .await
            .unwrap()
    }
}

/// An id that a process makes at this time.
fn id_at(at: chrono::DateTime<Utc>) -> Uuid {
    let seconds = u64::try_from(at.timestamp()).unwrap();
    let time = uuid::Timestamp::from_unix(uuid::NoContext, seconds, at.timestamp_subsec_nanos());
    Uuid::new_v7(time)
}

fn id_of(days: i64) -> Uuid {
    id_at(Utc::now() - Duration::days(days))
}

/// Few items have windows of their own. Many have one window.
const FEW_AND_MANY: [i64; 2] = [3, 501];

#[sqlx::test(migrations = false)]
async fn all_events_of_the_items_go_and_no_others(pool: PgPool) {
    for items in FEW_AND_MANY {
        let team = Fixture::new(&pool, items).await;
        let (first, second) = (team.site().await, team.site().await);
        team.item(first, 20, &[20, 3], true).await;
        team.item(second, 10, &[], true).await;
        team.item(second, 9, &[9], true).await;
        let mut kept = Vec::new();
        for (site, accepted) in [(first, 30), (first, 20), (second, 9), (first, 1)] {
            let item = team.item(site, accepted, &[accepted], false).await;
            kept.extend([item; 2]);
        }
        kept.sort_unstable();
        while team.slice(BOUNDS).await.is_some() {}
        assert_eq!(team.left().await, [&kept; 3].map(Clone::clone), "{items}");
        let deliveries = team.count("select count(*) from deliveries").await;
        let attempts = team.count("select count(*) from delivery_attempts").await;
        assert_eq!((deliveries, attempts), (8, 8), "none without its event");
        let standing = standing(&pool, team.erasure).await.unwrap().unwrap();
        assert_eq!(
            (standing.counts.events, standing.counts.deliveries),
            (6, 6),
            "{items}"
        );
        sqlx::raw_sql("delete from events; delete from deliveries; delete from delivery_attempts")
            .execute(&pool)
            .await
            .unwrap();
    }
}

#[sqlx::test(migrations = false)]
async fn a_slice_does_a_bounded_part_and_the_next_one_goes_on(pool: PgPool) {
    let team = Fixture::new(&pool, 501).await;
    let (first, second) = (team.site().await, team.site().await);
    for (site, is_erased) in [
        (first, true),
        (first, true),
        (first, false),
        (first, true),
        (second, true),
        (second, false),
    ] {
        team.item(site, 5, &[], is_erased).await;
    }
    let few = Bounds {
        looked_at: 3,
        removed: 2,
    };
    let mut slices = Vec::new();
    while let Some(removed) = team.slice(few).await {
        slices.push(removed);
    }
    assert_eq!(slices.iter().sum::<usize>(), 4, "{slices:?}");
    assert!(slices.len() >= 3, "{slices:?}");
    assert!(slices.iter().all(|removed| *removed <= 2), "{slices:?}");
    assert_eq!(team.count("select count(*) from events").await, 2);
}

#[sqlx::test(migrations = false)]
async fn few_items_have_only_those_events_looked_at_that_can_be_theirs(pool: PgPool) {
    let team = Fixture::new(&pool, 1).await;
    let site = team.site().await;
    for days in 1..30 {
        team.item(site, days, &[days], false).await;
    }
    let item = team.item(site, 20, &[20, 10], true).await;
    let mut conn = pool.acquire().await.unwrap();
    let standing = standing(&pool, team.erasure).await.unwrap().unwrap();
    let windows = windows(&mut conn, &standing).await.unwrap();
    let around = |days| {
        let at = Some(Utc::now() - Duration::days(days));
        ids_within(at, at)
    };
    assert_eq!(windows.len(), 2, "{windows:?}");
    for (window, days) in windows.iter().zip([20, 10]) {
        let (from, until) = around(days);
        // The test takes less than a minute.
        let minute = 60_000_u128 << 80;
        for (found, expected) in [(window.from, from), (window.until, until)] {
            let apart = found.as_u128().abs_diff(expected.as_u128());
            assert!(apart < minute, "{window:?}: {days} days");
        }
    }
    assert_eq!(team.slice(BOUNDS).await, Some(3));
    assert_eq!(team.slice(BOUNDS).await, None);
    assert!(!team.left().await[0].contains(&item));
    let _: MediaId = item.into();
}
