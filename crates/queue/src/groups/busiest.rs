//! The groups of one queue.

use sqlx::PgConnection;

use super::GroupStats;
use crate::Group;

/// The groups of a queue that have due or running jobs, a pause or a cap: those with the most due
/// jobs first, at most `limit`. Also returns how many there are in all. Takes time in proportion to
/// the due and running jobs of the queue.
pub async fn busiest(
    conn: &mut PgConnection,
    queue: &str,
    limit: u32,
) -> Result<(Vec<GroupStats>, i64), sqlx::Error> {
    let rows = sqlx::query!(
        r#"with exceptions as (
             select grp, cap, paused_until > now() as is_paused, paused_until
               from queue.groups
              where queue = $1 and (cap is not null or paused_until > now())
         ),
         counts as (
             select grp,
                    count(*) filter (where state = 0) as due,
                    count(*) filter (where state = 1) as running
               from queue.jobs
              where queue = $1 and state in (0, 1)
              group by grp
         )
         select grp as "group!: Group",
                coalesce(c.due, 0) as "due!",
                coalesce(c.running, 0) as "running!",
                e.cap,
                coalesce(e.is_paused, false) as "is_paused!",
                case when e.is_paused then nullif(e.paused_until, 'infinity') end as paused_until,
                count(*) over () as "total!"
           from exceptions e
           full join counts c using (grp)
          order by coalesce(c.due, 0) desc, grp
          limit $2"#,
        queue,
        i64::from(limit),
    )
    .fetch_all(conn)
    .await?;
    let total = rows.first().map_or(0, |row| row.total);
    let groups = rows.into_iter().map(|row| GroupStats {
        queue: queue.to_owned(),
        group: row.group,
        due: row.due,
        running: row.running,
        cap: row.cap,
        is_paused: row.is_paused,
        paused_until: row.paused_until,
    });
    Ok((groups.collect(), total))
}
