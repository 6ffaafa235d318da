//! The review desk with 200,000 reviews waiting and 50 moderators: how long a claim takes, in SQL and over HTTP, how long the next
//! item takes in the console, and whether time tells reviews with a known answer from others.

mod claims;
mod fill;
mod ledger;
mod mann_whitney;
mod next_item;
mod table;
mod timing_test;

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use clap::Args;
use serde::Serialize;
use sqlx::PgConnection;

pub(crate) use self::table::Desked;
use self::{claims::Claims, ledger::Ledger, next_item::NextItem};
use crate::{
    latency::Percentiles,
    load::{Ticks, paced, per_second, ticks},
    postgres_cost,
    processes::Kind,
    report::Machine,
    stack::{CommonOptions, Shape, Stack, Surroundings, without_pauses},
};

const SITES: usize = 8;
/// For how many seconds bare commits are measured in each round.
const BARE_SECONDS: u64 = 5;
/// How long the workers may take to tell what was decided at full speed.
const PATIENCE: Duration = Duration::from_mins(5);

/// Options of `desk`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) common: CommonOptions,
    /// Reviews that wait during the whole run
    #[arg(long, default_value_t = 200_000, value_parser = clap::value_parser!(u32).range(1_000..=2_000_000))]
    reviews: u32,
    /// Moderators, each with a token and a session of the console
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=200))]
    moderators: u32,
    /// Decisions a second of all moderators together, in the paced parts
    #[arg(long, default_value_t = 20.0)]
    rate: f64,
    /// Seconds of each paced part
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=600))]
    seconds: u32,
    /// Claims of each part at full speed
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..=50_000))]
    claims: u32,
    /// Rounds, each with every part in turn
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=20))]
    rounds: u32,
    /// Pairs of a review with a known answer and another one
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(10..=5_000))]
    pairs: u32,
    /// Few reviews and one short round: shows that it works, not how fast
    #[arg(long)]
    quick: bool,
}

/// The percentiles of the parts of a round.
#[derive(Clone, Copy, Debug, Serialize)]
struct Round {
    /// A commit of almost nothing, one at a time at the same rate: what the disk does. Every claim waits for one.
    bare_commit: Percentiles,
    /// The same during the claims in SQL: what is left to claims on these cores and this disk.
    bare_commit_beside: Percentiles,
    /// The statement, with its commit.
    sql: Percentiles,
    /// `POST /management/v1/reviews/claim`.
    http: Percentiles,
    /// From sending a decision to the last byte of the next item's page.
    next_item: Percentiles,
    /// The same as `sql` and `http` with every moderator claiming as fast as possible.
    sql_at_full_speed: Speed,
    http_at_full_speed: Speed,
}

/// A part at full speed.
#[derive(Clone, Copy, Debug, Serialize)]
struct Speed {
    /// Claims a second, each followed by a decision.
    rate: f64,
    claim: Percentiles,
}

/// Runs the measurement.
pub(crate) async fn run(mut options: Options) -> anyhow::Result<Desked> {
    if options.quick {
        (options.reviews, options.moderators) = (2_000, 10);
        (options.seconds, options.claims, options.rounds) = (2, 100, 1);
        options.pairs = 20;
    }
    let load_before = Machine::load_before();
    let seed = options.common.seed();
    let shape = Shape::of_one_team(1, SITES);
    let surroundings = Surroundings {
        environment: without_pauses().into(),
        ..Surroundings::default()
    };
    let stack = Stack::start_in(surroundings, &options.common, shape, seed).await?;
    let mut conn = stack.environment.cluster.connect().await?;
    let machine = Machine::describe(&mut conn, load_before).await?;
    let begun = Instant::now();
    let filled = fill::fill(&mut conn, &stack, &options, seed).await?;
    let fill_seconds = begun.elapsed().as_secs_f64();
    eprintln!(
        "filled in {fill_seconds:.0} s: {} MiB",
        filled.bytes / 1_048_576
    );
    let console = stack.gatehouse.start(Kind::Console, 0).await?;
    let ledger = Ledger::default();
    let claims = Claims::new(&stack, &filled, &ledger).await?;
    let next_item = NextItem::new(console.address, &claims);
    let mut rounds = Vec::new();
    for number in 1..=options.rounds {
        let round = one_round(&options, &claims, &next_item, &mut conn).await?;
        eprintln!(
            "round {number}: SQL {}; HTTP {}; next item {}",
            round.sql, round.http, round.next_item
        );
        rounds.push(round);
    }
    let waiting = waiting(&mut conn).await?;
    ensure!(
        waiting >= i64::from(options.reviews),
        "only {waiting} reviews were left"
    );
    ledger.compare(&mut conn).await?;
    let timing_test = timing_test::measure(&stack, &mut conn, &filled, options.pairs).await?;
    Ok(Desked {
        machine,
        seed,
        reviews: options.reviews,
        moderators: options.moderators,
        rate: options.rate,
        fill_seconds,
        database_bytes: filled.bytes,
        claimed: ledger.claimed(),
        claimed_by_two: ledger.claimed_by_two(),
        rounds,
        tells: timing_test,
    })
}

/// Every part in turn.
async fn one_round(
    options: &Options,
    claims: &Claims<'_>,
    next_item: &NextItem<'_>,
    conn: &mut PgConnection,
) -> anyhow::Result<Round> {
    let at_rate = || Ticks::start(options.rate, options.each_paced());
    let all = || Ticks::at_once(u64::from(options.claims));
    let seconds = u64::from(options.seconds);
    let bare_commit = bare_commits(options, conn, seconds.min(BARE_SECONDS)).await?;
    let ticks = at_rate();
    let (sql, bare_commit_beside) = tokio::try_join!(
        claims.in_sql(&ticks, true),
        bare_commits(options, conn, seconds)
    )?;
    let http = claims.over_http(&at_rate(), true).await?;
    let next_item = next_item.run(&at_rate()).await?;
    until_told(conn).await?;
    let begun = Instant::now();
    let claim = claims.in_sql(&all(), false).await?;
    let sql_at_full_speed = Speed::of(claim, begun.elapsed());
    until_told(conn).await?;
    let begun = Instant::now();
    let claim = claims.over_http(&all(), false).await?;
    let http_at_full_speed = Speed::of(claim, begun.elapsed());
    until_told(conn).await?;
    Ok(Round {
        bare_commit,
        bare_commit_beside,
        sql,
        http,
        next_item,
        sql_at_full_speed,
        http_at_full_speed,
    })
}

impl Options {
    /// Decisions of a paced part.
    fn each_paced(&self) -> u64 {
        ticks(self.rate, u64::from(self.seconds))
    }

    /// How many reviews the whole run decides, so that enough wait until its end.
    fn decided(&self) -> u64 {
        u64::from(self.rounds) * (3 * self.each_paced() + 2 * u64::from(self.claims))
    }
}

impl Speed {
    fn of(claim: Percentiles, took: Duration) -> Self {
        Self {
            rate: per_second(claim.count, took),
            claim,
        }
    }
}

async fn bare_commits(
    options: &Options,
    conn: &mut PgConnection,
    seconds: u64,
) -> anyhow::Result<Percentiles> {
    let commits = paced(options.rate, ticks(options.rate, seconds), async || {
        sqlx::query("select pg_logical_emit_message(true, 'bench', 'commit')")
            .execute(&mut *conn)
            .await?;
        Ok(())
    });
    Ok(commits.await?.percentiles())
}

async fn waiting(conn: &mut PgConnection) -> anyhow::Result<i64> {
    let waiting = "select count(*) from review_tasks where held_until is null";
    Ok(sqlx::query_scalar(waiting).fetch_one(conn).await?)
}

/// Waits until the workers have told everything that was decided, so that no part is measured beside another part's work.
async fn until_told(conn: &mut PgConnection) -> anyhow::Result<()> {
    let begun = Instant::now();
    while postgres_cost::jobs(conn).await? > 0 {
        ensure!(begun.elapsed() < PATIENCE, "what was decided is not told");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let dead: i64 = sqlx::query_scalar("select count(*) from queue.dead_jobs")
        .fetch_one(conn)
        .await
        .context("the dead jobs cannot be counted")?;
    ensure!(dead == 0, "{dead} jobs have died");
    Ok(())
}
