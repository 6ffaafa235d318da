//! The items that are asked about, and the queries.

use std::time::{Duration, Instant};

use anyhow::ensure;
use sqlx::{PgConnection, Row as _};
use uuid::Uuid;

use super::Options;
use crate::{
    http,
    load::{self, Extent},
    postgres_cost,
    requests::Requests,
    sites::Site,
    stack::Stack,
    submit::TYPICAL_BYTES,
    texts::Texts,
};

/// How long the worker may take to decide its half.
const PATIENCE: Duration = Duration::from_mins(5);
const POLL: Duration = Duration::from_millis(50);
/// Submits all items. A worker decides the first half, and is killed before the second half.
/// Returns how many are decided and how many are pending.
pub(super) async fn submit(
    stack: &mut Stack,
    conn: &mut PgConnection,
    options: &Options,
    seed: u64,
) -> anyhow::Result<(u64, u64)> {
    let texts = Texts::new(seed);
    let text = |number| texts.plain(number, TYPICAL_BYTES);
    let requests = Requests::submissions(&stack.sites, true, text);
    let address = stack.apis[0].address;
    let first = options.items / 2;
    eprintln!(
        "submitting {} items, half of which a worker decides",
        options.items
    );
    load::closed(address, &requests, options.connections, Extent::Of(first)).await?;
    let submitted = Instant::now();
    while postgres_cost::jobs(conn).await? > 0 {
        ensure!(
            submitted.elapsed() < PATIENCE,
            "the worker does not come to an end"
        );
        tokio::time::sleep(POLL).await;
    }
    for worker in &mut stack.workers {
        worker.kill().await?;
    }
    let rest = Extent::Of(options.items - first);
    load::closed(address, &requests, options.connections, rest).await?;
    let counted = sqlx::query(
        "
        select count(*) filter (where status <> 'pending') as decided, count(*) filter (where status = 'pending') as pending
        from media
        ",
    )
    .fetch_one(&mut *conn)
    .await?;
    let (decided, pending): (i64, i64) = (counted.get("decided"), counted.get("pending"));
    let (decided, pending) = (decided.unsigned_abs(), pending.unsigned_abs());
    ensure!(
        (decided, pending) == (first, options.items - first),
        "{decided} items are decided and {pending} are pending"
    );
    Ok((decided, pending))
}

/// A query about each item, in an order that has nothing to do with their age.
pub(super) async fn queries(conn: &mut PgConnection, sites: &[Site]) -> anyhow::Result<Requests> {
    let ids: Vec<Uuid> = sites.iter().map(|site| site.id).collect();
    let rows = sqlx::query(
        "
        select m.id, s.number
        from media m
        join unnest($1::uuid []) with ordinality as s (id, number) on s.id = m.site_id
        order by md5(m.id::text)
        ",
    )
    .bind(ids)
    .fetch_all(&mut *conn)
    .await?;
    sqlx::query("vacuum analyze media, verdicts")
        .execute(conn)
        .await?;
    let queries = rows.iter().map(|row| {
        let site = usize::try_from(row.get::<i64, _>("number") - 1)?;
        Ok(http::status_query(&sites[site].key, row.get("id")))
    });
    Ok(Requests::new(queries.collect::<anyhow::Result<Vec<_>>>()?))
}
