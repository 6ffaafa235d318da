//! The database that the desk is measured on. The service judges some texts, and SQL makes many items of them. The statements are
//! in `bench/desk/`.

use std::time::{Duration, Instant};

use anyhow::ensure;
use domain::{
    id::{TeamId, UserId},
    media::Status,
    scope::Scope,
};
use sqlx::{Connection as _, PgConnection};
use store::{
    person::session::{self, Origin},
    token::{self, Grant, NewToken},
};
use uuid::Uuid;

use super::Options;
use crate::{
    filling::{self, run, set, tidy},
    http::{self, Client},
    load::accepted,
    stack::Stack,
    texts::Texts,
};

const PREPARE: &str = include_str!("../../desk/prepare.sql");
const ITEMS: &str = include_str!("../../desk/items.sql");
const KNOWN: &str = include_str!("../../desk/known.sql");

/// Texts that the service judges.
const TEMPLATES: usize = 40;
/// The longest of them in bytes. Longer ones are rare, and all would be as long if one were drawn.
const LONGEST: usize = 2_000;
/// Items to a transaction.
const BATCH: u64 = 25_000;
/// How long the service may take to judge the texts.
const PATIENCE: Duration = Duration::from_mins(1);

/// Somebody who moderates.
pub(super) struct Moderator {
    /// The token's id, by which reviews name it.
    pub(super) token: Uuid,
    pub(super) secret: String,
    /// The member's id, by which reviews name the person.
    pub(super) member: Uuid,
    /// What the person's browser holds.
    pub(super) session: String,
}

/// What is needed to work on the desk.
pub(super) struct Filled {
    pub(super) team: TeamId,
    pub(super) moderators: Vec<Moderator>,
    /// A policy that items are rejected by.
    pub(super) policy: Uuid,
    /// The size of the database.
    pub(super) bytes: i64,
}

/// Fills the database.
pub(super) async fn fill(
    conn: &mut PgConnection,
    stack: &Stack,
    options: &Options,
    seed: u64,
) -> anyhow::Result<Filled> {
    templates(conn, stack, seed).await?;
    let items = u64::from(options.reviews) + options.decided();
    set(conn, "items", items).await?;
    set(conn, "people", options.moderators).await?;
    sqlx::query("select set_config('synchronous_commit', 'off', false), setseed($1)")
        .bind(f64::from(u32::try_from(seed % 1_000_000)?) / 1_000_000.0)
        .execute(&mut *conn)
        .await?;
    run(conn, "begin", PREPARE).await?;
    filling::in_batches(conn, items, BATCH, ITEMS).await?;
    let team: Uuid = sqlx::query_scalar("select team_id from bench.sites limit 1")
        .fetch_one(&mut *conn)
        .await?;
    let policy = sqlx::query_scalar("select id from review_policies where key = 2")
        .fetch_one(&mut *conn)
        .await?;
    sqlx::query("reset synchronous_commit")
        .execute(&mut *conn)
        .await?;
    let moderators = moderators(conn, team.into(), options.moderators).await?;
    tidy(conn).await?;
    let bytes = filling::database_bytes(conn).await?;
    Ok(Filled {
        team: team.into(),
        moderators,
        policy,
        bytes,
    })
}

/// Adds pairs of reviews that differ only in whether the right decision is known. Only this person gets the known ones. Returns
/// the reviews with known answers.
pub(super) async fn add_pairs(
    conn: &mut PgConnection,
    pairs: u32,
    person: Uuid,
) -> anyhow::Result<Vec<Uuid>> {
    set(conn, "pairs", pairs).await?;
    set(conn, "person", person).await?;
    run(conn, "pairs", KNOWN).await?;
    tidy(conn).await?;
    let known = sqlx::query_scalar("select id from review_tasks where kind = 'golden'");
    Ok(known.fetch_all(conn).await?)
}

/// Submits texts that need a person, and waits until the workers have said so.
async fn templates(conn: &mut PgConnection, stack: &Stack, seed: u64) -> anyhow::Result<()> {
    let texts = Texts::new(seed);
    let doubtful = (0..)
        .map(|number| texts.get(number))
        .filter(|text| text.expected == Some(Status::PendingReview) && text.body.len() < LONGEST);
    let mut client = Client::new(stack.apis[0].address);
    for (number, text) in doubtful.take(TEMPLATES).enumerate() {
        let site = &stack.sites[number % stack.sites.len()];
        let request = http::submission(&site.key, &format!("template-{number}"), &text.body);
        accepted(&client.send(&request).await.map_err(std::io::Error::from)?)?;
    }
    let begun = Instant::now();
    loop {
        let waiting: i64 = sqlx::query_scalar("select count(*) from review_tasks")
            .fetch_one(&mut *conn)
            .await?;
        if waiting == i64::try_from(TEMPLATES)? {
            return Ok(());
        }
        ensure!(
            begun.elapsed() < PATIENCE,
            "only {waiting} texts are judged"
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// A token and a session for each person.
async fn moderators(
    conn: &mut PgConnection,
    team: TeamId,
    count: u32,
) -> anyhow::Result<Vec<Moderator>> {
    let members: Vec<(Uuid, Uuid)> =
        sqlx::query_as("select id, user_id from memberships where role = 'moderator' order by id")
            .fetch_all(&mut *conn)
            .await?;
    ensure!(members.len() == count as usize, "moderators are missing");
    let mut tx = conn.begin().await?;
    let name = "Desk".parse()?;
    let mut moderators = Vec::new();
    for (member, user) in members {
        let new = NewToken {
            name: &name,
            team: Some(team),
            scopes: &[Scope::MediaDecide, Scope::ReviewsRead],
            expires_at: None,
        };
        let (token, secret) = token::create(&mut tx, &Grant::command_line(), new).await?;
        let origin = Origin {
            address: "127.0.0.1",
            user_agent: "gatehouse-bench",
        };
        let (_, session) = session::create(&mut tx, UserId::from(user), origin).await?;
        moderators.push(Moderator {
            token: token.id.as_uuid(),
            secret: secret.expose().to_owned(),
            member,
            session: session.expose().to_owned(),
        });
    }
    tx.commit().await?;
    Ok(moderators)
}
