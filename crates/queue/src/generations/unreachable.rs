//! Jobs in a generation that no claim looks into.

use sqlx::PgConnection;

use super::ROUND;

/// Brings back jobs that no claim can see. This happens only in a database that was restored from a
/// dump: sequences are dumped at the moment of dumping, tables as they were when the dump began.
///
/// Reads every entry of due and running jobs, including dead entries. Returns how many jobs were
/// brought back.
pub(crate) async fn gather_unreachable(conn: &mut PgConnection) -> Result<u64, sqlx::Error> {
    let mut gathered = 0;
    loop {
        let some = sqlx::query!(
            "update queue.jobs
                set gen = (select queue.enter_generation())
              where id = any (array(
                        select id from queue.jobs
                         where state in (0, 1)
                           and gen <> all ((select queue.live_generations() || held
                                              from queue.generations)::integer[])
                         limit $1
                           for update skip locked))",
            ROUND,
        )
        .execute(&mut *conn)
        .await?
        .rows_affected();
        gathered += some;
        if some.cast_signed() < ROUND {
            return Ok(gathered);
        }
    }
}
