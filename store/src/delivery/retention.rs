//! Events, their deliveries and the attempts of these are forgotten when they are as old as their site wants. A delivery is as
//! old as its end, and stays while it is pending; an event stays while it has deliveries.

use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use crate::Error;

/// Events that one transaction looks at.
const SLICE: i64 = 500;

/// Removes all that is old enough, site by site and slice by slice, and says how many events and deliveries that was. Others may
/// do the same at the same time.
pub(crate) async fn forget_old(pool: &PgPool) -> Result<u64, Error> {
    let mut removed = 0;
    for site in sites(pool).await? {
        let mut after = Uuid::nil();
        loop {
            let mut tx = pool.begin().await?;
            let slice = forget_slice(&mut tx, &site, after).await?;
            tx.commit().await?;
            removed += slice.removed;
            match slice.last {
                Some(last) => after = last,
                None => break,
            }
        }
    }
    Ok(removed)
}

/// A site with old events.
struct Site {
    id: Uuid,
    /// What is older than this was made before the time from which on its events are kept.
    before: Uuid,
    days: i32,
}

/// What became of a slice.
struct Slice {
    removed: u64,
    /// Where the next one begins: after this event; none: there is none.
    last: Option<Uuid>,
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
        )
        select k.id, k.before as "before!", k.days
        from kept k
        where exists (select from events e where e.site_id = k.id and e.id < k.before)
        "#,
    )
    .fetch_all(pool)
    .await
}

async fn forget_slice(
    conn: &mut PgConnection,
    site: &Site,
    after: Uuid,
) -> Result<Slice, sqlx::Error> {
    // Whoever adds a delivery of an old event has it locked, too.
    let events = sqlx::query_scalar!(
        "
        select id
        from events
        where site_id = $1 and id > $2 and id < $3
        order by id
        limit $4
        for update skip locked
        ",
        site.id,
        after,
        site.before,
        SLICE,
    )
    .fetch_all(&mut *conn)
    .await?;
    let (Some(first), Some(last)) = (events.first(), events.last()) else {
        return Ok(Slice {
            removed: 0,
            last: None,
        });
    };
    let between = [
        of_same_time(*first, Uuid::nil()),
        of_same_time(*last, Uuid::max()),
    ];
    let deliveries = forget_deliveries(conn, site, &events, between).await?;
    forget_attempts(conn, &deliveries).await?;
    let told = forget_events(conn, site, &events, between).await?;
    Ok(Slice {
        removed: told + deliveries.len() as u64,
        last: Some(*last),
    })
}

/// Removes what is old of the deliveries of events, and says what that was. A delivery's id is of the same millisecond as its
/// event's, so they lie together in the index by endpoints.
async fn forget_deliveries(
    conn: &mut PgConnection,
    site: &Site,
    events: &[Uuid],
    [first, last]: [Uuid; 2],
) -> Result<Vec<Uuid>, sqlx::Error> {
    sqlx::query_scalar!(
        "
        delete from deliveries d
        using webhook_endpoints p
        where
            p.site_id = $1
            and d.endpoint_id = p.id and d.id between $2 and $3 and d.event_id = any($4)
            and d.state <> 'pending' and d.ended_at <= now() - make_interval(days => $5)
        returning d.id
        ",
        site.id,
        first,
        last,
        events,
        site.days,
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

/// Removes those of the events that have no deliveries, and says how many.
async fn forget_events(
    conn: &mut PgConnection,
    site: &Site,
    events: &[Uuid],
    [first, last]: [Uuid; 2],
) -> Result<u64, sqlx::Error> {
    let removed = sqlx::query!(
        "
        delete from events
        where id = any($4) and id not in (
            select d.event_id
            from webhook_endpoints p
            join deliveries d on d.endpoint_id = p.id and d.id between $2 and $3
            where p.site_id = $1
        )
        ",
        site.id,
        first,
        last,
        events,
    )
    .execute(conn)
    .await?;
    Ok(removed.rows_affected())
}

/// An id of the same millisecond as one, with the rest of another one.
fn of_same_time(id: Uuid, rest: Uuid) -> Uuid {
    const TIME: u128 = u128::MAX << 80;
    Uuid::from_u128((id.as_u128() & TIME) | (rest.as_u128() & !TIME))
}

#[cfg(test)]
mod tests {
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
        assert_eq!(i64::try_from(events.len()).unwrap(), SLICE + 1);
    }
}
