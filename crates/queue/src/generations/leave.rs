//! Leaves a generation: it is condemned, writers enter the next one, live rows are moved, and then
//! no claim looks there.

use sqlx::{Connection, PgConnection};

use super::{Leave, ROUND};
use crate::JobId;

/// The most jobs moved by one statement. Claims of these jobs wait for some milliseconds.
const BATCH: usize = 250;

/// How long a generation may stay condemned because of a transaction that entered it, in seconds.
/// Until then, its jobs are found as soon as it commits; after that, within a round of
/// housekeeping.
const PATIENCE: f64 = 5.0;

/// The most generations that are held for such transactions at once.
const HELD: i32 = 100;

/// The first step: claims still look into the generation, because it is condemned.
pub(super) async fn condemn(
    conn: &mut PgConnection,
    choice: Leave,
    dead: i64,
) -> Result<(), sqlx::Error> {
    // Read under the row's lock, because the young generation is only advanced under this lock.
    sqlx::query!(
        "with locked as materialized (
             select pg_sequence_last_value('queue.young')::integer as young, g.old
               from (select * from queue.generations for update) g
         )
         update queue.generations g
            set condemned = case when $1 then l.old else l.young end,
                condemned_at = now(),
                old = case when $1 then l.young else l.old end,
                moved = case when $1 then $2 else g.moved end
           from locked l
          where g.condemned is null",
        choice == Leave::Old,
        dead,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// The second step, after the first is committed: from now on, writers enter the next generation.
pub(super) async fn advance(conn: &mut PgConnection) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "select setval('queue.young', pg_sequence_last_value('queue.young') + 1)
           from (select * from queue.generations for update) g
          where pg_sequence_last_value('queue.young') in (g.condemned, g.old)"
    )
    .fetch_optional(conn)
    .await?;
    Ok(())
}

/// The last step, repeated as often as necessary: moves live rows, and closes the generation when
/// nobody can enter it any more and no row is left.
pub(super) async fn leave(conn: &mut PgConnection, condemned: i32) -> Result<(), sqlx::Error> {
    empty(conn, condemned).await?;
    close(conn, condemned).await
}

/// Moves the live rows of a generation that is being left. Returns how many.
pub(super) async fn empty(conn: &mut PgConnection, generation: i32) -> Result<i64, sqlx::Error> {
    let mut moved = 0;
    for jobs in living(conn, generation).await?.chunks(BATCH) {
        moved += move_jobs(conn, generation, jobs).await?;
    }
    Ok(moved)
}

/// Forgets a generation if no job is in it and nobody who entered it is still working. For a
/// transaction that takes long, the generation is held, so that claims do not have to wait and walk
/// over more and more entries.
///
/// Neither happens while a claim is under way that began before the generation was condemned: it
/// may still move one of the jobs that it takes there, and count moved jobs at their old place.
pub(super) async fn close(conn: &mut PgConnection, generation: i32) -> Result<(), sqlx::Error> {
    let mut tx = conn.begin().await?;
    let ended = sqlx::query!(
        r#"select pg_try_advisory_xact_lock(hashtext('queue.claims'),
                                          pg_sequence_last_value('queue.young')::integer - 1) as "claims!",
                pg_try_advisory_xact_lock(hashtext('queue.young'), $1) as "writers!""#,
        generation,
    )
    .fetch_one(&mut *tx)
    .await?;
    if ended.claims {
        // A separate statement: its snapshot must be newer than the locks.
        sqlx::query!(
            "update queue.generations
                set held = case when $2 then array_remove(held, $1) else held || $1 end,
                    condemned = nullif(condemned, $1),
                    condemned_at = case when condemned = $1 then null else condemned_at end
              where (condemned = $1 or $1 = any (held))
                and ($2 or (condemned = $1
                            and extract(epoch from now() - condemned_at) > $3::float8
                            and cardinality(held) < $4))
                and not exists (select from queue.jobs where gen = $1 and state = 0)
                and not exists (select from queue.jobs where gen = $1 and state = 1)",
            generation,
            ended.writers,
            PATIENCE,
            HELD,
        )
        .execute(&mut *tx)
        .await?;
    }
    tx.commit().await
}

/// Due and running jobs of a generation, at most [`ROUND`] of each. Read once for many batches,
/// because each reading walks over what the last one has moved.
async fn living(conn: &mut PgConnection, generation: i32) -> Result<Vec<JobId>, sqlx::Error> {
    sqlx::query_scalar!(
        r#"(select id as "id!: JobId" from queue.jobs where gen = $1 and state = 0 limit $2)
           union all
          (select id from queue.jobs where gen = $1 and state = 1 limit $2)"#,
        generation,
        ROUND,
    )
    .fetch_all(conn)
    .await
}

/// Moves jobs to the old generation, and returns how many. Jobs whose rows are locked stay for now.
/// The row of `queue.generations` is locked first, so that the old generation cannot change
/// meanwhile.
async fn move_jobs(
    conn: &mut PgConnection,
    generation: i32,
    jobs: &[JobId],
) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar!(
        r#"with home as materialized (
             select old from queue.generations where condemned = $1 or $1 = any (held) for update
         ),
         chosen as materialized (
             select id from queue.jobs
              where id = any ($2) and gen = $1 and state in (0, 1)
                for update skip locked
         ),
         moved as (
             update queue.jobs j
                set gen = h.old
               from home h
              where j.id = any (array(select id from chosen))
             returning j.id
         ),
         counted as (
             update queue.generations set moved = generations.moved + (select count(*) from moved)
              where exists (select from moved)
         )
         select count(*) as "moved!" from moved"#,
        generation,
        jobs as &[JobId],
    )
    .fetch_one(conn)
    .await
}
