//! Attempts to deliver webhooks, and deliveries that were given up.

use sqlx::PgConnection;

use super::{Place, ROWS, Tally, backfill::Backfill, transactions::Range};
use crate::statistics::Figures;

pub(super) async fn add(
    conn: &mut PgConnection,
    range: &Range,
    backfill: Option<&Backfill>,
    tally: &mut Tally,
) -> Result<(), sqlx::Error> {
    let (after, through) = Backfill::of(backfill, "delivery_attempts");
    let rows = sqlx::query!(
        r#"
        with picked as (
            select delivery_id, outcome, started_at + duration_ms * interval '1 millisecond' as ended_at
            from delivery_attempts
            where
                stored_by >= $1::bigint::text::xid8 and stored_by < $2::bigint::text::xid8
                and stored_by <> all($3::bigint []::text []::xid8 [])
                and started_at >= coalesce($5::timestamptz, '-infinity')
            union all
            select delivery_id, outcome, started_at + duration_ms * interval '1 millisecond'
            from delivery_attempts
            where stored_by = any($4::bigint []::text []::xid8 [])
            union all
            select delivery_id, outcome, started_at + duration_ms * interval '1 millisecond'
            from delivery_attempts
            where delivery_id > $6 and delivery_id <= $7 and stored_by is null
        )
        select
            e.site_id as "site!", s.team_id as "team!", date_trunc('hour', p.ended_at, 'UTC') as "hour!",
            count(*) filter (where p.outcome = 'delivered') as "delivered!",
            count(*) filter (where p.outcome <> 'delivered') as "failed!"
        from picked p
        join deliveries d on d.id = p.delivery_id
        join webhook_endpoints e on e.id = d.endpoint_id
        join sites s on s.id = e.site_id
        group by 1, 2, 3
        "#,
        range.from,
        range.to,
        &range.open,
        &range.ended,
        range.rows_since,
        after,
        through,
    )
    .fetch_all(conn)
    .await?;
    for row in rows {
        let place = Place {
            site: row.site,
            team: row.team,
            hour: row.hour,
        };
        let figures = Figures {
            delivered: row.delivered,
            failed_attempts: row.failed,
            ..Figures::default()
        };
        tally.add(place, figures);
    }
    Ok(())
}

/// Whether one slice is not enough for all deliveries that were given up.
pub(super) async fn many_given_up(conn: &mut PgConnection) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar!(
        r#"select exists (select from statistics_given_up order by id offset $1 limit 1) as "many!""#,
        ROWS,
    )
    .fetch_one(conn)
    .await
}

/// Counts deliveries that were given up, and deletes their records.
pub(super) async fn take_given_up(
    conn: &mut PgConnection,
) -> Result<Vec<(Place, Figures)>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        with taken as (
            delete from statistics_given_up
            where id in (select id from statistics_given_up order by id limit $1)
            returning endpoint_id, state, ended_at
        )
        select
            e.site_id as "site!", s.team_id as "team!", date_trunc('hour', t.ended_at, 'UTC') as "hour!",
            count(*) filter (where t.state = 'exhausted') as "exhausted!",
            count(*) filter (where t.state = 'discarded') as "discarded!"
        from taken t
        join webhook_endpoints e on e.id = t.endpoint_id
        join sites s on s.id = e.site_id
        group by 1, 2, 3
        "#,
        ROWS,
    )
    .fetch_all(conn)
    .await?;
    let given_up = rows.into_iter().map(|row| {
        let place = Place {
            site: row.site,
            team: row.team,
            hour: row.hour,
        };
        let figures = Figures {
            exhausted: row.exhausted,
            discarded: row.discarded,
            ..Figures::default()
        };
        (place, figures)
    });
    Ok(given_up.collect())
}
