//! The database that the pages are shown from: a month of a busy team, beside a thousand other teams. The statements are in
//! `bench/pages/`.

use domain::id::TeamId;
use sqlx::{Connection as _, PgConnection};
use store::rule_group::{self, NewVersion};
use uuid::Uuid;

use super::{
    Options,
    item_kinds::{self, Kind},
    people::sign_in,
};
use crate::filling::{self, run, set};

const PREPARE: &str = include_str!("../../pages/prepare.sql");
const PEOPLE: &str = include_str!("../../pages/people.sql");
const RULES: &str = include_str!("../../pages/rules.sql");
const SLOTS: &str = include_str!("../../pages/slots.sql");
const ITEMS: &str = include_str!("../../pages/items.sql");
const LISTS: &str = include_str!("../../pages/lists.sql");
const HISTORY: &str = include_str!("../../pages/history.sql");
const NEIGHBOURS: &str = include_str!("../../pages/neighbours.sql");
const STATISTICS: &str = include_str!("../../pages/statistics.sql");
const PATHS: &str = include_str!("../../pages/paths.sql");

/// Versions of the rule group.
const VERSIONS: u32 = 300;
/// People of the team.
const PEOPLE_OF_TEAM: u32 = 50;
/// Entries of the team's audit log.
const AUDIT: u32 = 10_000;
/// Teams of the installation. A fifth of the others has data.
const TEAMS: u32 = 1_000;
/// Items to a transaction.
const BATCH: u64 = 50_000;

/// What is needed to ask for its pages.
pub(super) struct Filled {
    /// What the browsers of the owner and of the operator hold.
    pub(super) owner: String,
    pub(super) operator: String,
    /// The team's first page.
    pub(super) start: String,
    /// Pages that no link leads to.
    pub(super) special: Vec<Special>,
    /// The size of the database.
    pub(super) bytes: i64,
}

/// A page that no link leads to.
pub(super) struct Special {
    /// 0: the owner's, 1: the operator's.
    pub(super) browser: usize,
    pub(super) what: String,
    pub(super) path: String,
}

/// Fills the database.
pub(super) async fn fill(
    conn: &mut PgConnection,
    options: &Options,
    seed: u64,
) -> anyhow::Result<Filled> {
    prepare(conn, options, seed).await?;
    run(conn, "people", PEOPLE).await?;
    let team: Uuid = sqlx::query_scalar("select team_id from bench.sites limit 1")
        .fetch_one(&mut *conn)
        .await?;
    let kinds = rules(conn, team.into(), seed).await?;
    run(conn, "rules", RULES).await?;
    store_kinds(conn, &kinds).await?;
    run(conn, "kinds of items", SLOTS).await?;
    filling::in_batches(conn, options.items.into(), BATCH, ITEMS).await?;
    run(conn, "hash lists", LISTS).await?;
    run(conn, "history", HISTORY).await?;
    run(conn, "other teams", NEIGHBOURS).await?;
    run(conn, "statistics", STATISTICS).await?;
    let special: Vec<(String, String, String)> =
        sqlx::query_as(PATHS).fetch_all(&mut *conn).await?;
    let special = special.into_iter().map(|(who, what, path)| Special {
        browser: usize::from(who == "operator"),
        what,
        path,
    });
    let special = special.collect();
    let owner = sign_in(conn, 1).await?;
    let operator = sign_in(conn, 2).await?;
    run(conn, "end", "drop schema bench cascade").await?;
    filling::tidy(conn).await?;
    let bytes = filling::database_bytes(conn).await?;
    Ok(Filled {
        owner,
        operator,
        start: format!("/t/{team}/overview"),
        special,
        bytes,
    })
}

/// The settings that the statements read, and what they share.
async fn prepare(conn: &mut PgConnection, options: &Options, seed: u64) -> anyhow::Result<()> {
    let settings = [
        ("items", options.items),
        ("deliveries", options.deliveries),
        ("hashes", options.hashes),
        ("versions", VERSIONS),
        ("people", PEOPLE_OF_TEAM),
        ("audit", AUDIT),
        ("teams", TEAMS),
    ];
    for (name, value) in settings {
        set(conn, name, value).await?;
    }
    filling::begin(conn, seed).await?;
    run(conn, "begin", PREPARE).await
}

/// Creates the group with its first version, and judges one text of each kind by it.
async fn rules(conn: &mut PgConnection, team: TeamId, seed: u64) -> anyhow::Result<Vec<Kind>> {
    let list: Uuid = sqlx::query_scalar("select bench.list_id(1)")
        .fetch_one(&mut *conn)
        .await?;
    let rules = item_kinds::rules(list)?;
    let mut tx = conn.begin().await?;
    let categories = item_kinds::categories();
    let version = NewVersion {
        rules: &rules,
        categories: &categories,
    };
    let group = rule_group::create(&mut tx, team, item_kinds::GROUP, version).await?;
    tx.commit().await?;
    item_kinds::judge(group, &rules, seed)
}

async fn store_kinds(conn: &mut PgConnection, kinds: &[Kind]) -> anyhow::Result<()> {
    sqlx::query(
        "
        insert into bench.kinds (number, share, body, scores, status, moderation_type, details, trace)
        select number, share, body, scores, status, moderation_type, details, trace::text
        from json_to_recordset($1::json) as k (
            number integer, share integer, body text, scores json, status text, moderation_type text, details json, trace json
        )
        ",
    )
    .bind(serde_json::to_value(kinds)?)
    .execute(conn)
    .await?;
    Ok(())
}
