//! Reads the chains of the audit log.

use chrono::{DateTime, Utc};
use domain::audit::chain::{ChainHash, ChainId, Link, Row};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Error;

/// Rows that are sealed or read at once, at most.
pub(super) const ROWS: i64 = 500;
/// The details of such rows together have at most this many bytes, unless the first row alone has
/// more.
pub(super) const BYTES: i64 = 4 << 20;

/// Where a chain begins and ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// The last row that retention removed.
    pub start: Link,
    /// The last row.
    pub head: Link,
}

/// The first chain from this one on that has rows or ends. `None` after the last one.
pub async fn next(conn: &mut PgConnection, from: ChainId) -> Result<Option<ChainId>, Error> {
    let chain = sqlx::query_scalar!(
        r#"
        select c.chain as "chain!"
        from (
            (select chain from audit_chains where chain >= $1 order by chain limit 1)
            union all
            (
                select coalesce(team_id, '00000000-0000-0000-0000-000000000000')
                from audit_log
                where
                    chain_number is not null and coalesce(team_id, '00000000-0000-0000-0000-000000000000') >= $1
                order by coalesce(team_id, '00000000-0000-0000-0000-000000000000'), chain_number
                limit 1
            )
            union all
            (
                select coalesce(team_id, '00000000-0000-0000-0000-000000000000')
                from audit_log
                where chain_number is null and coalesce(team_id, '00000000-0000-0000-0000-000000000000') >= $1
                order by coalesce(team_id, '00000000-0000-0000-0000-000000000000'), occurred_at, id
                limit 1
            )
        ) c
        order by c.chain
        limit 1
        "#,
        from.as_uuid(),
    )
    .fetch_optional(conn)
    .await?;
    Ok(chain.map(ChainId::from_uuid))
}

/// Where a chain begins and ends. `None`: nothing of it was sealed yet.
pub async fn ends(conn: &mut PgConnection, chain: ChainId) -> Result<Option<Ends>, Error> {
    let found = sqlx::query!(
        "select start_number, start_hash, head_number, head_hash from audit_chains where chain = $1",
        chain.as_uuid(),
    )
    .fetch_optional(conn)
    .await?;
    let Some(found) = found else { return Ok(None) };
    Ok(Some(Ends {
        start: link(found.start_number, &found.start_hash)?,
        head: link(found.head_number, &found.head_hash)?,
    }))
}

/// The next rows of a chain up to this number, in the order of their numbers, with number and hash:
/// those after this number and id.
pub async fn slice(
    conn: &mut PgConnection,
    chain: ChainId,
    (number, id): (i64, Uuid),
    to: i64,
) -> Result<Vec<(Link, Row)>, Error> {
    let rows = sqlx::query!(
        r#"
        select
            id, team_id, actor, actor_id, action, target_id, details::text as "details!", request_id, trace_id,
            occurred_at, chain_number as "chain_number!", chain_hash as "chain_hash!"
        from (
            select
                *,
                sum(octet_length(details::text)) over (order by chain_number, id rows unbounded preceding)
                - octet_length(details::text) as bytes_before
            from (
                select *
                from audit_log
                where
                    chain_number is not null and coalesce(team_id, '00000000-0000-0000-0000-000000000000') = $1
                    and chain_number >= $2 and (chain_number, id) > ($2, $3) and chain_number <= $4
                order by chain_number, id
                limit $5
            ) next_rows
        ) measured
        where bytes_before <= $6
        order by chain_number, id
        "#,
        chain.as_uuid(),
        number,
        id,
        to,
        ROWS,
        BYTES,
    )
    .fetch_all(conn)
    .await?;
    let rows = rows.into_iter().map(|row| {
        let has = link(row.chain_number, &row.chain_hash)?;
        let row = Row {
            id: row.id,
            team_id: row.team_id,
            actor: row.actor,
            actor_id: row.actor_id,
            action: row.action,
            target_id: row.target_id,
            details: row.details,
            request_id: row.request_id,
            trace_id: row.trace_id,
            occurred_at: row.occurred_at,
        };
        Ok((has, row))
    });
    rows.collect()
}

/// Rows that are looked at by one statement for a time.
const LOOK: i64 = 20_000;

/// The number of the first row of a chain that has this time or a later one. Rows are looked at from
/// the beginning, because times are only nearly in the order of the numbers.
pub async fn after(
    conn: &mut PgConnection,
    chain: ChainId,
    since: DateTime<Utc>,
) -> Result<Option<i64>, Error> {
    let mut from = i64::MIN;
    loop {
        let looked = sqlx::query!(
            "
            select
                min(chain_number) filter (where occurred_at >= $3) as found,
                max(chain_number) as last
            from (
                select chain_number, occurred_at
                from audit_log
                where
                    chain_number is not null and coalesce(team_id, '00000000-0000-0000-0000-000000000000') = $1
                    and chain_number > $2
                order by chain_number
                limit $4
            ) next_rows
            ",
            chain.as_uuid(),
            from,
            since,
            LOOK,
        )
        .fetch_one(&mut *conn)
        .await?;
        match (looked.found, looked.last) {
            (None, Some(last)) => from = last,
            (found, _) => return Ok(found),
        }
    }
}

/// The number of the last row of a chain that has an earlier time than this, looked for from the end.
pub async fn before(
    conn: &mut PgConnection,
    chain: ChainId,
    until: DateTime<Utc>,
) -> Result<Option<i64>, Error> {
    let mut to = i64::MAX;
    loop {
        let looked = sqlx::query!(
            "
            select
                max(chain_number) filter (where occurred_at < $3) as found,
                min(chain_number) as first
            from (
                select chain_number, occurred_at
                from audit_log
                where
                    chain_number is not null and coalesce(team_id, '00000000-0000-0000-0000-000000000000') = $1
                    and chain_number < $2
                order by chain_number desc
                limit $4
            ) previous_rows
            ",
            chain.as_uuid(),
            to,
            until,
            LOOK,
        )
        .fetch_one(&mut *conn)
        .await?;
        match (looked.found, looked.first) {
            (None, Some(first)) => to = first,
            (found, _) => return Ok(found),
        }
    }
}

pub(super) fn link(number: i64, hash: &[u8]) -> Result<Link, Error> {
    let hash = ChainHash::of_bytes(hash);
    let hash = hash.ok_or_else(|| Error::Unreadable(format!("the hash of row {number}")))?;
    Ok(Link { number, hash })
}
