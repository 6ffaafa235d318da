//! What is forgotten of a site's events, and what stays.

use domain::id::DeliveryId;

use super::*;
use crate::schema;

struct Fixture {
    pool: PgPool,
    site: Uuid,
    endpoint: Uuid,
}

impl Fixture {
    /// A site that keeps events for so many days.
    async fn site(pool: &PgPool, days: i32) -> Self {
        let [site, endpoint] = [Uuid::now_v7(), Uuid::now_v7()];
        sqlx::query(
            "with team as (insert into teams (id, name) values ($1, '') returning id),
             version as (
                 insert into rule_group_versions (id, rule_group_id, number, rules, uses_ai)
                 values ($1, $1, 1, '[]', false)
             ),
             \"group\" as (
                 insert into rule_groups (id, team_id, name, live_version_id) select id, id, '', id from team
             ),
             site as (
                 insert into sites
                     (id, team_id, name, default_rule_group_id, webhook_secret, webhook_retention_days)
                 select id, id, '', id, '', $3 from team
                 returning id
             )
             insert into webhook_endpoints (id, site_id, url, events) select $2, id, '', '{}' from site",
        )
        .bind(site)
        .bind(endpoint)
        .bind(days)
        .execute(pool)
        .await
        .unwrap();
        let pool = pool.clone();
        Self {
            pool,
            site,
            endpoint,
        }
    }

    /// An event so many days ago.
    async fn event(&self, days: u64) -> Uuid {
        let (seconds, _) = Uuid::now_v7().get_timestamp().unwrap().to_unix();
        let at = seconds - 86_400 * days - 60;
        let event = Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, at, 0));
        sqlx::query(
            "insert into events (id, media_id, site_id, kind) values ($1, $1, $2, 'media.created')",
        )
        .bind(event)
        .bind(self.site)
        .execute(&self.pool)
        .await
        .unwrap();
        event
    }

    /// Such an event, with a delivery that ended so many days ago or is pending.
    async fn told(&self, days: u64, ended: Option<i32>) -> Uuid {
        let event = self.event(days).await;
        let delivery = DeliveryId::of(event.into(), self.endpoint.into());
        sqlx::query(
            "with attempt as (
                 insert into delivery_attempts (delivery_id, number, started_at, duration_ms, outcome)
                 values ($1, 1, now(), 1, 'status')
             )
             insert into deliveries (id, event_id, endpoint_id, state, ended_at)
             values (
                 $1, $2, $3, case when $4 is null then 'pending' else 'delivered' end,
                 now() - make_interval(days => $4, mins => 1)
             )",
        )
        .bind(delivery.as_uuid())
        .bind(event)
        .bind(self.endpoint)
        .bind(ended)
        .execute(&self.pool)
        .await
        .unwrap();
        event
    }
}

/// The events that are left, those with a delivery, and those with an attempt.
async fn left(pool: &PgPool) -> [Vec<Uuid>; 3] {
    let mut left = [const { Vec::new() }; 3];
    for (place, statement) in [
        "select id from events order by id",
        "select event_id from deliveries order by event_id",
        "select event_id from deliveries d join delivery_attempts a on a.delivery_id = d.id order by event_id",
    ]
    .into_iter()
    .enumerate()
    {
        left[place] = sqlx::query_scalar(statement).fetch_all(pool).await.unwrap();
    }
    left
}

#[sqlx::test(migrations = false)]
async fn events_go_when_they_and_all_that_became_of_them_are_old_and_pending_ones_stay(
    pool: PgPool,
) {
    schema::migrate(&pool).await.unwrap();
    let usual = Fixture::site(&pool, 30).await;
    let brief = Fixture::site(&pool, 2).await;
    usual.told(40, Some(39)).await;
    usual.told(40, Some(30)).await;
    usual.event(31).await;
    brief.told(3, Some(2)).await;
    let mut kept = vec![
        usual.told(400, None).await,
        usual.told(31, Some(29)).await,
        usual.told(29, Some(29)).await,
        brief.told(3, Some(1)).await,
        brief.told(1, Some(1)).await,
    ];
    let untold = usual.event(29).await;
    kept.sort_unstable();
    assert_eq!(forget_old(&pool, Pace::Hurried).await.unwrap().removed, 7);
    assert_eq!(forget_old(&pool, Pace::Hurried).await.unwrap().removed, 0);
    let [mut events, deliveries, attempts] = left(&pool).await;
    events.retain(|event| *event != untold);
    assert_eq!([&events, &deliveries, &attempts], [&kept; 3]);
}

#[sqlx::test(migrations = false)]
async fn what_is_kept_hides_nothing_that_is_not(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let site = Fixture::site(&pool, 30).await;
    for _ in 0..=SLICE {
        site.told(50, None).await;
    }
    site.told(40, Some(40)).await;
    assert_eq!(forget_old(&pool, Pace::Hurried).await.unwrap().removed, 2);
    let [events, ..] = left(&pool).await;
    assert_eq!(events.len(), SLICE + 1);
}

#[sqlx::test(migrations = false)]
async fn case_62_the_acceptance_of_a_pending_item_is_kept_so_that_it_is_not_sent_again(
    pool: PgPool,
) {
    schema::migrate(&pool).await.unwrap();
    let site = Fixture::site(&pool, 30).await;
    let (pending, decided) = (site.told(40, Some(40)).await, site.told(40, Some(40)).await);
    for (event, status) in [(pending, "pending"), (decided, "approved")] {
        // The event's media_id is its own id here.
        sqlx::query(
            "insert into media (id, team_id, site_id, status, content_type, body, group_versions)
             values ($1, $2, $2, $3, 'text', '', '{}')",
        )
        .bind(event)
        .bind(site.site)
        .bind(status)
        .execute(&pool)
        .await
        .unwrap();
    }
    assert_eq!(forget_old(&pool, Pace::Hurried).await.unwrap().removed, 2);
    assert_eq!(
        left(&pool).await,
        [const { Vec::new() }; 3].map(|_: Vec<Uuid>| vec![pending])
    );
}

#[sqlx::test(migrations = false)]
async fn a_site_with_many_old_events_does_not_delay_the_others(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let busy = Fixture::site(&pool, 30).await;
    let other = Fixture::site(&pool, 30).await;
    for _ in 0..30 {
        busy.told(50, None).await;
    }
    for days in [45, 40, 35] {
        busy.told(days, Some(31)).await;
    }
    other.told(40, Some(39)).await;
    let mut removed = Vec::new();
    for _ in 0..5 {
        let swept = forget_within(&pool, 16, Pace::Hurried).await.unwrap();
        removed.push((swept.removed, swept.has_more));
    }
    // What stays does not hide what is behind it. The last sweep begins from the beginning.
    let expected = [(2, true), (4, true), (2, false), (0, true), (0, false)];
    assert_eq!(removed, expected);
    let [events, ..] = left(&pool).await;
    assert_eq!(events.len(), 30);
}

#[sqlx::test(migrations = false)]
async fn events_of_pending_items_count_as_looked_at(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let site = Fixture::site(&pool, 30).await;
    for _ in 0..6 {
        let pending = site.event(50).await;
        // The event's media_id is its own id here.
        sqlx::query(
            "insert into media (id, team_id, site_id, status, content_type, body, group_versions)
             values ($1, $2, $2, 'pending', 'text', '', '{}')",
        )
        .bind(pending)
        .bind(site.site)
        .execute(&pool)
        .await
        .unwrap();
    }
    site.event(40).await;
    let mut removed = Vec::new();
    for _ in 0..3 {
        let swept = forget_within(&pool, 3, Pace::Hurried).await.unwrap();
        removed.push((swept.removed, swept.has_more));
    }
    assert_eq!(removed, [(0, true), (0, true), (1, false)]);
}

#[sqlx::test(migrations = false)]
async fn a_site_that_fails_does_not_keep_the_others_from_their_turn(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let sites = [
        Fixture::site(&pool, 30).await,
        Fixture::site(&pool, 30).await,
    ];
    // Whichever comes first.
    for (failing, other) in [(0, 1), (1, 0)] {
        for site in &sites {
            site.event(40).await;
        }
        let statement = format!(
            "create or replace function fail() returns trigger language plpgsql as $$
             begin
                 if old.site_id = '{}' then raise exception 'This site fails.'; end if;
                 return old;
             end $$;
             create or replace trigger fail before delete on events for each row execute function fail()",
            sites[failing].site
        );
        sqlx::raw_sql(sqlx::AssertSqlSafe(statement))
            .execute(&pool)
            .await
            .unwrap();
        assert!(forget_old(&pool, Pace::Hurried).await.is_err());
        let left = "select count(*) from events where site_id = $1";
        let left: i64 = sqlx::query_scalar(left)
            .bind(sites[other].site)
            .fetch_one(&pool)
            .await
            .unwrap();
        assert_eq!(left, 0);
    }
}
