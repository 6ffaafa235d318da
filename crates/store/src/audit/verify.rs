//! Walks a chain of the audit log and tells the first thing that is wrong with it.

use chrono::{DateTime, Utc};
use domain::audit::chain::{ChainId, Finding, Link, Walk};
use sqlx::PgConnection;
use uuid::Uuid;

use super::chains::{self, Ends};
use crate::Error;

/// What a walk along a chain found.
#[derive(Clone, Debug)]
pub struct Report {
    /// The walk: up to the head, or to the first row that is wrong.
    pub walk: Walk,
    /// What is wrong.
    pub finding: Option<Finding>,
}

/// Verifies a chain. `known`: a row that the caller knows, to be compared. Rows that are sealed
/// meanwhile are not looked at. Takes constant memory.
pub async fn verify(
    conn: &mut PgConnection,
    chain: ChainId,
    known: Option<Link>,
) -> Result<Report, Error> {
    loop {
        let ends = chains::ends(conn, chain).await?;
        let is_known = ends.is_some();
        let ends = ends.unwrap_or(Ends {
            start: Link::START,
            head: Link::START,
        });
        let mut walk = Walk::new(ends.start, known);
        let mut finding = along(conn, chain, ends.head, &mut walk).await?;
        if finding.is_some() {
            // Retention may have removed rows meanwhile.
            let now = chains::ends(conn, chain).await?;
            if now.is_some_and(|now| now.start.number > ends.start.number) {
                continue;
            }
        }
        if finding.is_none() {
            finding = beyond_head(conn, chain).await?.map(|(number, id)| {
                if is_known {
                    Finding::Inserted { number, id }
                } else {
                    Finding::NoHead
                }
            });
        }
        if finding.is_none() {
            finding = forgotten(conn, chain)
                .await?
                .map(|(id, occurred_at)| Finding::Unsealed { id, occurred_at });
        }
        return Ok(Report { walk, finding });
    }
}

/// Walks to the head.
async fn along(
    conn: &mut PgConnection,
    chain: ChainId,
    head: Link,
    walk: &mut Walk,
) -> Result<Option<Finding>, Error> {
    if let Err(finding) = walk.begin() {
        return Ok(Some(finding));
    }
    let mut after = (i64::MIN, Uuid::nil());
    loop {
        let rows = chains::slice(conn, chain, after, head.number).await?;
        let Some((last, row)) = rows.last() else {
            return Ok(walk.end(head).err());
        };
        after = (last.number, row.id);
        for (has, row) in &rows {
            if let Err(finding) = walk.step(*has, row) {
                return Ok(Some(finding));
            }
        }
    }
}

/// The first row whose number is above that of the head.
async fn beyond_head(
    conn: &mut PgConnection,
    chain: ChainId,
) -> Result<Option<(i64, Uuid)>, Error> {
    let row = sqlx::query!(
        r#"
        select chain_number as "number!", id
        from audit_log
        where
            chain_number is not null and coalesce(team_id, '00000000-0000-0000-0000-000000000000') = $1
            and chain_number > coalesce((select head_number from audit_chains where chain = $1), -9223372036854775808)
        order by chain_number
        limit 1
        "#,
        chain.as_uuid(),
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.map(|row| (row.number, row.id)))
}

/// The oldest row that is not sealed, if it is older than a minute and its chain was not sealed
/// within the last minute. While a large log is sealed, its rows wait longer.
async fn forgotten(
    conn: &mut PgConnection,
    chain: ChainId,
) -> Result<Option<(Uuid, DateTime<Utc>)>, Error> {
    let row = sqlx::query!(
        "
        select id, occurred_at
        from audit_log
        where
            chain_number is null and coalesce(team_id, '00000000-0000-0000-0000-000000000000') = $1
            and occurred_at < now() - interval '1 minute'
            and not exists (
                select from audit_chains where chain = $1 and sealed_at > now() - interval '1 minute'
            )
        order by occurred_at, id
        limit 1
        ",
        chain.as_uuid(),
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.map(|row| (row.id, row.occurred_at)))
}
