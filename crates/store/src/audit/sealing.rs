//! Sealing: rows of the audit log become links of their chains. Writers do nothing for it, so they
//! wait for nobody, and rows of older binaries are sealed, too. Every API process seals what it
//! finds every few seconds.
//!
//! The row of the chain in `audit_chains` is locked meanwhile, so a chain never forks. A process
//! that finds it locked goes on with the next chain. Each chain gets a bounded slice in turn, so a
//! team with many rows delays others by the time of one slice.

use std::time::Duration;

use database::Trouble;
use domain::audit::chain::{ChainId, Row};
use sqlx::{Connection as _, PgConnection, PgExecutor, PgPool};
use telemetry::{failed, over};
use tokio::time::{Instant, sleep};

use super::{
    UNSEALED_INDEX,
    chains::{BYTES, ROWS, link},
};
use crate::Error;

const EVERY: Duration = Duration::from_secs(3);
/// After a failure.
const LATER: Duration = Duration::from_secs(30);

/// What a round did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// Rows that were sealed.
    pub sealed: u64,
    /// Whether a chain may have more rows to seal.
    pub is_unfinished: bool,
}

/// Seals what comes, until the task is dropped.
pub(crate) async fn run(pool: PgPool) {
    let trouble = Trouble::in_turn();
    let mut pause = EVERY;
    loop {
        sleep(pause).await;
        pause = match catch_up(&pool).await {
            Ok(_) => {
                over!(trouble.worked(), "the audit log is sealed again");
                EVERY
            }
            Err(error) => {
                failed!(trouble.failed(&error), %error, "could not seal the audit log; trying again later");
                LATER
            }
        };
    }
}

/// Seals everything that is not sealed yet, and returns how many rows that were. A database without
/// the index of these rows is left as it is: it does not have this version's schema yet.
pub async fn catch_up(pool: &PgPool) -> Result<u64, Error> {
    if !is_ready(pool).await? {
        return Ok(0);
    }
    let mut sealed = 0;
    loop {
        let begun = Instant::now();
        let done = round(pool).await?;
        sealed += done.sealed;
        if !done.is_unfinished {
            return Ok(sealed);
        }
        // A large log from before the upgrade takes at most half the time of one connection.
        sleep(begun.elapsed()).await;
    }
}

/// Whether the database has the index of the rows that are not sealed.
pub(crate) async fn is_ready(executor: impl PgExecutor<'_>) -> Result<bool, Error> {
    let is_ready = sqlx::query_scalar!(
        r#"select coalesce((select indisvalid from pg_index where indexrelid = to_regclass($1)), false) as "is_ready!""#,
        UNSEALED_INDEX,
    )
    .fetch_one(executor)
    .await?;
    Ok(is_ready)
}

/// Seals at most one slice of each chain. Other processes may do the same at the same time.
pub async fn round(pool: &PgPool) -> Result<Round, Error> {
    let mut conn = pool.acquire().await?;
    let mut done = Round::default();
    let mut failure = None;
    let mut from = Some(ChainId::WITHOUT_TEAM);
    while let Some(first) = from {
        let Some(chain) = next_unsealed(&mut conn, first).await? else {
            break;
        };
        match seal(&mut conn, chain).await {
            Ok(of_chain) => {
                done.sealed += of_chain.sealed;
                done.is_unfinished |= of_chain.is_unfinished;
            }
            // A row of one team that cannot be read does not keep the others from being sealed.
            Err(error) if error.is_of_a_row() => failure = Some(error),
            Err(error) => return Err(error),
        }
        from = chain.successor();
    }
    match failure {
        Some(error) if !done.is_unfinished => Err(error),
        Some(_) | None => Ok(done),
    }
}

/// The first chain from this one on that has rows to seal.
async fn next_unsealed(conn: &mut PgConnection, from: ChainId) -> Result<Option<ChainId>, Error> {
    let chain = sqlx::query_scalar!(
        r#"
        select coalesce(team_id, '00000000-0000-0000-0000-000000000000') as "chain!"
        from audit_log
        where chain_number is null and coalesce(team_id, '00000000-0000-0000-0000-000000000000') >= $1
        order by coalesce(team_id, '00000000-0000-0000-0000-000000000000'), occurred_at, id
        limit 1
        "#,
        from.as_uuid(),
    )
    .fetch_optional(conn)
    .await?;
    Ok(chain.map(ChainId::from_uuid))
}

/// Seals the next rows of a chain, unless another process is doing it.
async fn seal(conn: &mut PgConnection, chain: ChainId) -> Result<Round, Error> {
    let mut tx = conn.begin().await?;
    begin_chain(&mut tx, chain).await?;
    let locked = sqlx::query!(
        "select head_number, head_hash from audit_chains where chain = $1 for update skip locked",
        chain.as_uuid(),
    )
    .fetch_optional(&mut *tx)
    .await?;
    let Some(locked) = locked else {
        return Ok(Round::default());
    };
    let mut head = link(locked.head_number, &locked.head_hash)?;
    // A statement of its own, after the lock: so it sees what the process sealed that had the lock
    // before.
    let rows = unsealed(&mut tx, chain).await?;
    if rows.is_empty() {
        return Ok(Round::default());
    }
    let (mut ids, mut numbers, mut hashes) = (Vec::new(), Vec::new(), Vec::new());
    for row in &rows {
        head = row.link_after(&head);
        ids.push(row.id);
        numbers.push(head.number);
        hashes.push(head.hash.as_bytes().to_vec());
    }
    sqlx::query!(
        "
        update audit_log a
        set chain_number = s.number, chain_hash = s.hash
        from unnest($1::uuid[], $2::bigint[], $3::bytea[]) as s(id, number, hash)
        where a.id = s.id and a.chain_number is null
        ",
        &ids,
        &numbers,
        &hashes,
    )
    .execute(&mut *tx)
    .await?;
    sqlx::query!(
        "update audit_chains set head_number = $2, head_hash = $3, sealed_at = clock_timestamp() where chain = $1",
        chain.as_uuid(),
        head.number,
        &head.hash.as_bytes()[..],
    )
    .execute(&mut *tx)
    .await?;
    tx.commit().await?;
    Ok(Round {
        sealed: rows.len() as u64,
        is_unfinished: true,
    })
}

/// The row of a chain that has none yet.
async fn begin_chain(conn: &mut PgConnection, chain: ChainId) -> Result<(), Error> {
    sqlx::query!(
        "insert into audit_chains (chain) select $1 where not exists (select from audit_chains where chain = $1)
         on conflict do nothing",
        chain.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// The next rows of a chain that are not sealed, in the order of their times.
async fn unsealed(conn: &mut PgConnection, chain: ChainId) -> Result<Vec<Row>, Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select
            id, team_id, actor, actor_id, action, target_id, details::text as "details!", request_id, trace_id,
            occurred_at
        from (
            select
                *,
                sum(octet_length(details::text)) over (order by occurred_at, id rows unbounded preceding)
                - octet_length(details::text) as bytes_before
            from (
                select *
                from audit_log
                where chain_number is null and coalesce(team_id, '00000000-0000-0000-0000-000000000000') = $1
                order by occurred_at, id
                limit $2
            ) next_rows
        ) measured
        where bytes_before <= $3
        order by occurred_at, id
        "#,
        chain.as_uuid(),
        ROWS,
        BYTES,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows)
}
