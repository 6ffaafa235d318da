//! Jobs in a generation that no claim looks into.

use sqlx::PgConnection;

use super::ROUND;

/// Brings jobs back that are where no claim looks, which happens only to a database that was restored from a dump:
/// sequences are dumped as they are then, tables as they were when the dump began.
///
/// Reads every entry of due and running jobs, dead ones too. Returns how many were brought back.
pub(crate) async fn gather_unseen(conn: &mut PgConnection) -> Result<u64, sqlx::Error> {
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
