//! How far the sealing of the audit log is behind.

use sqlx::PgConnection;

use crate::{Error, audit::sealing};

/// Chains that are looked at.
const CHAINS: i64 = 1_000;

/// How old the oldest entry of the audit log is that is not sealed yet, in seconds; 0 if all are
/// sealed. The index of such entries has the oldest one of each chain first, so one entry of each
/// chain is read, of the first thousand chains that have one. `None`: the database does not have
/// this index yet.
pub async fn oldest_unsealed(conn: &mut PgConnection) -> Result<Option<f64>, Error> {
    if !sealing::is_ready(&mut *conn).await? {
        return Ok(None);
    }
    let seconds = sqlx::query_scalar!(
        r#"
        with recursive firsts as (
            (
                select coalesce(team_id, '00000000-0000-0000-0000-000000000000') as chain, occurred_at
                from audit_log
                where chain_number is null
                order by coalesce(team_id, '00000000-0000-0000-0000-000000000000'), occurred_at, id
                limit 1
            )
            union all
            select n.chain, n.occurred_at
            from firsts f
            cross join lateral (
                select coalesce(a.team_id, '00000000-0000-0000-0000-000000000000') as chain, a.occurred_at
                from audit_log a
                where a.chain_number is null and coalesce(a.team_id, '00000000-0000-0000-0000-000000000000') > f.chain
                order by coalesce(a.team_id, '00000000-0000-0000-0000-000000000000'), a.occurred_at, a.id
                limit 1
            ) n
        )
        select greatest(extract(epoch from clock_timestamp() - min(f.occurred_at)), 0)::float8 as "seconds!"
        from (select occurred_at from firsts limit $1) f
        "#,
        CHAINS,
    )
    .fetch_one(conn)
    .await?;
    Ok(Some(seconds))
}
