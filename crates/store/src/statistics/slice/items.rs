//! Items that were accepted.

use sqlx::PgConnection;

use super::{Place, Tally, backfill::Backfill, transactions::Range};
use crate::statistics::Figures;

pub(super) async fn add(
    conn: &mut PgConnection,
    range: &Range,
    backfill: Option<&Backfill>,
    tally: &mut Tally,
) -> Result<(), sqlx::Error> {
    let (after, through) = Backfill::of(backfill, "media");
    let rows = sqlx::query!(
        r#"
        with picked as (
            select site_id, team_id, created_at
            from media
            where
                stored_by >= $1::bigint::text::xid8 and stored_by < $2::bigint::text::xid8
                and stored_by <> all($3::bigint []::text []::xid8 [])
                and created_at >= coalesce($5::timestamptz, '-infinity')
            union all
            select site_id, team_id, created_at
            from media
            where stored_by = any($4::bigint []::text []::xid8 [])
            union all
            select site_id, team_id, created_at
            from media
            where id > $6 and id <= $7 and stored_by is null
        )
        select
            site_id as "site!", team_id as "team!", date_trunc('hour', created_at, 'UTC') as "hour!", count(*) as "accepted!"
        from picked
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
            accepted: row.accepted,
            ..Figures::default()
        };
        tally.add(place, figures);
    }
    Ok(())
}
