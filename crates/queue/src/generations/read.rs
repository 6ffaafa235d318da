//! Reads the generations, and what Postgres has counted for them.

use sqlx::PgConnection;

#[derive(Clone, Debug)]
pub(super) struct Generations {
    pub(super) young: i32,
    pub(super) old: i32,
    pub(super) condemned: Option<i32>,
    pub(super) held: Vec<i32>,
    pub(super) moved: i64,
    pub(super) wasted: i64,
    pub(super) updated: i64,
}

pub(super) async fn read(conn: &mut PgConnection) -> Result<Generations, sqlx::Error> {
    sqlx::query_as!(
        Generations,
        r#"select pg_sequence_last_value('queue.young')::integer as "young!", g.old, g.condemned, g.held, g.moved,
                (select sum(pg_stat_get_tuples_returned(i) - pg_stat_get_tuples_fetched(i))::bigint
                   from unnest(array['queue.jobs_due_idx', 'queue.jobs_running_idx']::regclass[]) i) as "wasted!",
                pg_stat_get_tuples_updated('queue.jobs'::regclass) as "updated!"
           from queue.generations g"#
    )
    .fetch_one(conn)
    .await
}

/// The number of due and running jobs of a generation, counted up to a limit.
pub(super) async fn count_living(
    conn: &mut PgConnection,
    generation: i32,
    limit: i64,
) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar!(
        r#"select (select count(*) from (select from queue.jobs where gen = $1 and state = 0 limit $2) d)
                 + (select count(*) from (select from queue.jobs where gen = $1 and state = 1 limit $2) r) as "living!""#,
        generation,
        limit,
    )
    .fetch_one(conn)
    .await
}
