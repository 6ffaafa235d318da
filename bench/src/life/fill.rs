//! The history of an installation. The service judges some texts, and SQL makes many items of them. The statements are in
//! `bench/life/`.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use domain::scope::Scope;
use serde::Serialize;
use sqlx::{Connection as _, PgConnection};
use store::token::{self, Grant, NewToken};
use uuid::Uuid;

use super::Options;
use crate::{
    filling::{self, run, set},
    http::{self, Client},
    load::accepted,
    postgres_cost,
    stack::Stack,
    texts::Texts,
};

const PREPARE: &str = include_str!("../../life/prepare.sql");
const ITEMS: &str = include_str!("../../life/items.sql");
const FINISH: &str = include_str!("../../life/finish.sql");

/// Texts that the service judges. Every fourth needs a person.
const TEMPLATES: u64 = 40;
const TEMPLATE_BYTES: usize = 80;
/// Items to a transaction.
const BATCH: u64 = 50_000;
/// Items that are asked about.
const ASKED: i64 = 5_000;
/// The most decisions a second.
const DECISIONS: u64 = 20;
/// How long the service may take to judge the texts.
const PATIENCE: Duration = Duration::from_mins(1);

/// What is needed to ask for the items.
pub(super) struct Filled {
    /// A token that may read items, and claim and decide reviews.
    pub(super) secret: String,
    /// Some items of all ages, with the keys of their sites.
    pub(super) asked: Vec<(String, Uuid)>,
    /// What the tables take.
    pub(super) sizes: Vec<Size>,
    pub(super) database_bytes: i64,
}

/// What a table takes for each item.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Size {
    pub(super) table: String,
    pub(super) table_bytes: f64,
    pub(super) index_bytes: f64,
}

/// Fills the database. The workers are started again afterwards, so that they find everything there.
pub(super) async fn fill(
    conn: &mut PgConnection,
    stack: &mut Stack,
    options: &Options,
    items: u32,
    seed: u64,
) -> anyhow::Result<Filled> {
    templates(conn, stack, seed).await?;
    for worker in &mut stack.workers {
        worker.stop().await?;
    }
    let waiting = u64::from(2 * (options.rounds + 1)) * options.seconds * DECISIONS;
    for (name, value) in [
        ("items", u64::from(items)),
        ("days", options.days.into()),
        ("told_days", options.told_days.into()),
        ("waiting", waiting),
    ] {
        set(conn, name, value).await?;
    }
    filling::begin(conn, seed).await?;
    run(conn, "begin", PREPARE).await?;
    // Newer items than the history's would make Postgres split the pages of indexes as if ids came in any order.
    postgres_cost::empty_tables(conn).await?;
    filling::in_batches(conn, items.into(), BATCH, ITEMS).await?;
    eprintln!("building indexes");
    run(conn, "indexes", FINISH).await?;
    sqlx::query("reset synchronous_commit")
        .execute(&mut *conn)
        .await?;
    filling::tidy(conn).await?;
    let secret = token(conn).await?;
    let asked = asked(conn, stack).await?;
    for worker in &mut stack.workers {
        worker.start().await?;
    }
    let sizes = sizes(conn, items).await?;
    let database_bytes = filling::database_bytes(conn).await?;
    Ok(Filled {
        secret,
        asked,
        sizes,
        database_bytes,
    })
}

/// Submits texts, and waits until they are judged and told.
async fn templates(conn: &mut PgConnection, stack: &Stack, seed: u64) -> anyhow::Result<()> {
    let texts = Texts::new(seed);
    let mut client = Client::new(stack.apis[0].address);
    for (number, site) in (0..TEMPLATES).zip(stack.sites.iter().cycle()) {
        let mut text = texts.plain(number, TEMPLATE_BYTES);
        if number % 4 == 0 {
            // A rule of the demo wants a person.
            text.push_str(" review-1234");
        }
        let request = http::submission(&site.key, &format!("template-{number}"), &text);
        accepted(&client.send(&request).await.map_err(std::io::Error::from)?)?;
    }
    let begun = Instant::now();
    loop {
        let undecided: i64 =
            sqlx::query_scalar("select count(*) from media where status = 'pending'")
                .fetch_one(&mut *conn)
                .await?;
        if undecided == 0 && postgres_cost::jobs(conn).await? == 0 {
            break;
        }
        ensure!(begun.elapsed() < PATIENCE, "the texts are not judged");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let kinds: i64 =
        sqlx::query_scalar("select count(distinct status = 'pending_review') from media")
            .fetch_one(conn)
            .await?;
    ensure!(kinds == 2, "all texts have the same verdict");
    Ok(())
}

async fn token(conn: &mut PgConnection) -> anyhow::Result<String> {
    let team: Uuid = sqlx::query_scalar("select team_id from sites limit 1")
        .fetch_one(&mut *conn)
        .await?;
    let name = "Life".parse()?;
    let mut tx = conn.begin().await?;
    let new = NewToken {
        name: &name,
        team: Some(team.into()),
        scopes: &[Scope::MediaRead, Scope::MediaDecide, Scope::ReviewsRead],
        expires_at: None,
    };
    let (_, secret) = token::create(&mut tx, &Grant::command_line(), new).await?;
    tx.commit().await?;
    Ok(secret.expose().to_owned())
}

/// Items at random, of all ages.
async fn asked(conn: &mut PgConnection, stack: &Stack) -> anyhow::Result<Vec<(String, Uuid)>> {
    let rows: Vec<(Uuid, Uuid)> = sqlx::query_as(
        "
        select m.id, m.site_id
        from (
            select distinct ceil(random() * bench.setting('items')) as n from generate_series(1, $1)
        ) r
        cross join lateral (
            select id, site_id
            from media
            where
                id >= bench.id_at(
                    bench.now() - interval '1 day' * bench.setting('days') * (1 - r.n / bench.setting('items')), ''
                )
            order by id
            limit 1
        ) m
        order by random()
        ",
    )
    .bind(ASKED)
    .fetch_all(conn)
    .await?;
    let keyed = rows.into_iter().map(|(id, site)| {
        let site = stack.sites.iter().find(|known| known.id == site);
        Ok((site.context("an item of no site")?.key.clone(), id))
    });
    keyed.collect()
}

/// The tables that grow with items, the largest first.
pub(super) async fn sizes(conn: &mut PgConnection, items: u32) -> anyhow::Result<Vec<Size>> {
    let rows: Vec<(String, i64, i64)> = sqlx::query_as(
        "
        select relname::text, pg_table_size(oid), pg_indexes_size(oid)
        from pg_class
        where relname in ('media', 'verdicts', 'analyses') and relnamespace = 'public'::regnamespace
        order by pg_total_relation_size(oid) desc
        ",
    )
    .fetch_all(conn)
    .await?;
    #[expect(clippy::cast_precision_loss, reason = "no table has 2^53 bytes")]
    let each = |bytes: i64| bytes as f64 / f64::from(items);
    let sizes = rows.into_iter().map(|(table, bytes, indexes)| Size {
        table,
        table_bytes: each(bytes),
        index_bytes: each(indexes),
    });
    Ok(sizes.collect())
}
