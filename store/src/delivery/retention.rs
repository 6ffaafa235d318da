//! Events, their deliveries and the attempts of these are forgotten when they are as old as their site wants. A delivery is as
//! old as its end, and stays while it is pending; an event stays while it has deliveries. The event of an acceptance stays while
//! its item is pending, so that nobody tells it again.

use domain::id::DeliveryId;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use crate::Error;

/// Events that one transaction looks at, at most,
const SLICE: usize = 500;
/// and the deliveries that these may have.
const DELIVERIES: usize = 20_000;

/// Removes all that is old enough, site by site and slice by slice, and says how many events and deliveries that was. Others may
/// do the same at the same time.
pub(crate) async fn forget_old(pool: &PgPool) -> Result<u64, Error> {
    let mut removed = 0;
    for site in sites(pool).await? {
        let mut after = Uuid::nil();
        loop {
            let mut tx = pool.begin().await?;
            let events = old_events(&mut tx, &site, after).await?;
            let Some(last) = events.last() else {
                break;
            };
            removed += forget_slice(&mut tx, &site, &events).await?;
            tx.commit().await?;
            after = *last;
        }
    }
    Ok(removed)
}

/// A site with old events.
struct Site {
    id: Uuid,
    /// Of what is older than this, events may be removed.
    before: Uuid,
    days: i32,
    endpoints: Vec<Uuid>,
}

/// Ids of version 7 begin with the milliseconds since 1970.
async fn sites(pool: &PgPool) -> Result<Vec<Site>, sqlx::Error> {
    sqlx::query_as!(
        Site,
        r#"
        with kept as materialized (
            select
                id,
                webhook_retention_days as days,
                rpad(
                    lpad(
                        to_hex((extract(epoch from now() - make_interval(days => webhook_retention_days)) * 1000)::bigint),
                        12, '0'
                    ),
                    32, '0'
                )::uuid as before
            from sites
        ),
        endpoints as materialized (
            select site_id, array_agg(id) as ids from webhook_endpoints group by site_id
        )
        select k.id, k.before as "before!", k.days, coalesce(p.ids, '{}') as "endpoints!"
        from kept k
        left join endpoints p on p.site_id = k.id
        cross join lateral (
            select
            from events e
            where (e.site_id, e.id) >= (k.id, '00000000-0000-0000-0000-000000000000') and (e.site_id, e.id) < (k.id, k.before)
            order by e.site_id, e.id
            limit 1
        ) old
        "#,
    )
    .fetch_all(pool)
    .await
}

/// A site's next old events, in the order of ids. Whoever adds a delivery of an old event locks it, too.
async fn old_events(
    conn: &mut PgConnection,
    site: &Site,
    after: Uuid,
) -> Result<Vec<Uuid>, sqlx::Error> {
    let limit = DELIVERIES / site.endpoints.len().max(1);
    let limit = i64::try_from(limit.clamp(1, SLICE)).unwrap_or(1);
    sqlx::query_scalar!(
        "
        select e.id
        from events e
        where
            (e.site_id, e.id) > ($1, $2) and (e.site_id, e.id) < ($1, $3)
            and not exists (
                select from media m where e.kind = 'media.created' and m.id = e.media_id and m.status = 'pending'
            )
        order by e.site_id, e.id
        limit $4
        for update of e skip locked
        ",
        site.id,
        after,
        site.before,
        limit,
    )
    .fetch_all(conn)
    .await
}

/// Says how many events and deliveries were removed.
async fn forget_slice(
    conn: &mut PgConnection,
    site: &Site,
    events: &[Uuid],
) -> Result<u64, sqlx::Error> {
    let deliveries = events.iter().flat_map(|event| {
        let endpoints = site.endpoints.iter();
        endpoints.map(|endpoint| DeliveryId::of((*event).into(), (*endpoint).into()).as_uuid())
    });
    let deliveries: Vec<Uuid> = deliveries.collect();
    let ended = forget_deliveries(conn, &deliveries, site.days).await?;
    forget_attempts(conn, &ended).await?;
    let told = forget_events(conn, events, &deliveries).await?;
    Ok(told + ended.len() as u64)
}

/// Removes what is old of the deliveries, and says what that was.
async fn forget_deliveries(
    conn: &mut PgConnection,
    deliveries: &[Uuid],
    days: i32,
) -> Result<Vec<Uuid>, sqlx::Error> {
    sqlx::query_scalar!(
        "
        delete from deliveries
        where id = any($1) and state <> 'pending' and ended_at <= now() - make_interval(days => $2)
        returning id
        ",
        deliveries,
        days,
    )
    .fetch_all(conn)
    .await
}

async fn forget_attempts(conn: &mut PgConnection, deliveries: &[Uuid]) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "delete from delivery_attempts where delivery_id = any($1)",
        deliveries
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Removes those of the events of which there are no deliveries left, and says how many.
async fn forget_events(
    conn: &mut PgConnection,
    events: &[Uuid],
    deliveries: &[Uuid],
) -> Result<u64, sqlx::Error> {
    let removed = sqlx::query!(
        "
        delete from events
        where id = any($1) and id not in (select event_id from deliveries where id = any($2))
        ",
        events,
        deliveries,
    )
    .execute(conn)
    .await?;
    Ok(removed.rows_affected())
}

#[cfg(test)]
mod tests {
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
            sqlx::query("insert into events (id, media_id, site_id, kind) values ($1, $1, $2, 'media.created')")
                .bind(event)
                .bind(self.site)
                .execute(&self.pool)
                .await
                .unwrap();
            event
        }

        /// Such an event with a delivery that ended so many days ago, or is pending.
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

    /// The events that are left, those that have a delivery, and those of which an attempt is known.
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
        assert_eq!(forget_old(&pool).await.unwrap(), 7);
        assert_eq!(forget_old(&pool).await.unwrap(), 0);
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
        assert_eq!(forget_old(&pool).await.unwrap(), 2);
        let [events, ..] = left(&pool).await;
        assert_eq!(events.len(), SLICE + 1);
    }

    #[sqlx::test(migrations = false)]
    async fn the_acceptance_of_a_pending_item_is_kept_so_that_it_is_not_told_again(pool: PgPool) {
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
        assert_eq!(forget_old(&pool).await.unwrap(), 2);
        assert_eq!(
            left(&pool).await,
            [const { Vec::new() }; 3].map(|_: Vec<Uuid>| vec![pending])
        );
    }
}
