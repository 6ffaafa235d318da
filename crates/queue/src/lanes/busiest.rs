//! The lanes of one queue.

use sqlx::PgConnection;

use super::LaneStats;
use crate::Lane;

/// The lanes of a queue that have due or running jobs, a pause or a cap: those with the most due
/// jobs first, at most `limit`. Also returns how many there are in all. Takes time in proportion to
/// the due and running jobs of the queue.
pub async fn busiest(
    conn: &mut PgConnection,
    queue: &str,
    limit: u32,
) -> Result<(Vec<LaneStats>, i64), sqlx::Error> {
    let rows = sqlx::query!(
        r#"with exceptions as (
             select lane, cap, paused_until > now() as is_paused, paused_until
               from queue.lanes
              where queue = $1 and (cap is not null or paused_until > now())
         ),
         counts as (
             select lane,
                    count(*) filter (where state = 0) as due,
                    count(*) filter (where state = 1) as running
               from queue.jobs
              where queue = $1 and state in (0, 1)
              group by lane
         )
         select lane as "lane!: Lane",
                coalesce(c.due, 0) as "due!",
                coalesce(c.running, 0) as "running!",
                e.cap,
                coalesce(e.is_paused, false) as "is_paused!",
                case when e.is_paused then nullif(e.paused_until, 'infinity') end as paused_until,
                count(*) over () as "total!"
           from exceptions e
           full join counts c using (lane)
          order by coalesce(c.due, 0) desc, lane
          limit $2"#,
        queue,
        i64::from(limit),
    )
    .fetch_all(conn)
    .await?;
    let total = rows.first().map_or(0, |row| row.total);
    let lanes = rows.into_iter().map(|row| LaneStats {
        queue: queue.to_owned(),
        lane: row.lane,
        due: row.due,
        running: row.running,
        cap: row.cap,
        is_paused: row.is_paused,
        paused_until: row.paused_until,
    });
    Ok((lanes.collect(), total))
}
