//! Loses the database under load, restores it from a backup, and audits the result: every item that
//! was acknowledged before the backup is there, unfinished work continues, and webhooks that were
//! sent after the backup come again. Once with `pg_dump`, and once with a base backup and the
//! archived write-ahead log.

mod compared;
mod loss;
mod table;

use std::{
    cell::{Cell, RefCell},
    collections::HashSet,
    time::{Duration, Instant},
};

use clap::Args;
use serde::Serialize;
use uuid::Uuid;

pub(crate) use self::table::Restored;
use self::{compared::Compared, loss::Loss};
use crate::{
    chaos::{
        audit::Audit,
        client::{Customers, Ledger},
        drain::drain,
        havoc::Havoc,
        outcome::Outcome,
    },
    cluster::Role,
    ground::Ground,
    load::Ticks,
    processes::{Kind, free_address},
    receiver::Manners,
    report::Machine,
    sites::Tenants,
    stack::{CommonOptions, Shape, Stack, Surroundings},
};

/// Options of `backup`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) common: CommonOptions,
    /// Submissions a second
    #[arg(long, default_value_t = 80.0)]
    rate: f64,
    /// Connections that submit
    #[arg(long, default_value_t = 32)]
    connections: usize,
    /// Seconds before the backup, and again after it
    #[arg(long, default_value_t = 6)]
    seconds: u64,
    /// The share of webhooks that the receiver answers with a 500, so that some wait at any time
    #[arg(long, default_value_t = 0.1)]
    failing: f64,
    /// How long the remaining work may take after the restore, in seconds. A webhook that fails four times is sent again after seven
    /// minutes
    #[arg(long, default_value_t = 600)]
    patience_seconds: u64,
}

/// The kinds of backups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kept {
    /// `pg_dump`.
    Dump,
    /// `pg_basebackup` and the archived write-ahead log, up to a time after the backup.
    PointInTime,
}

impl Kept {
    const ALL: [Self; 2] = [Self::Dump, Self::PointInTime];

    const fn name(self) -> &'static str {
        match self {
            Self::Dump => "pg_dump",
            Self::PointInTime => "a base backup and the write-ahead log, up to a time",
        }
    }
}

/// A database that was lost and restored.
#[derive(Debug, Serialize)]
pub(crate) struct Round {
    kept: Kept,
    backup_seconds: f64,
    restore_seconds: f64,
    /// Items that were acknowledged before the backup, or the time that was restored.
    before: usize,
    /// Items that were acknowledged later and are gone.
    gone: usize,
    compared: Compared,
    #[serde(flatten)]
    outcome: Outcome,
}

/// Runs both kinds, each on a Postgres of its own.
///
/// # Errors
/// They could not be carried out. A failed proof is not an error.
pub(crate) async fn run(options: Options) -> anyhow::Result<Restored> {
    let load_before = Machine::load_before();
    let seed = options.common.seed();
    eprintln!("to repeat this: --seed {seed}");
    let mut rounds = Vec::new();
    for kept in Kept::ALL {
        eprintln!("{}", kept.name());
        rounds.push(round(&options, kept, seed, load_before).await?);
    }
    Ok(Restored { rounds })
}

async fn round(
    options: &Options,
    kept: Kept,
    seed: u64,
    load_before: f64,
) -> anyhow::Result<Round> {
    let address = free_address()?;
    let ground = Ground::start_on(&options.common.ground, address, "archive_mode = on\n").await?;
    let url = ground.cluster.url(Role::Gatehouse);
    let shape = Shape {
        apis: 1,
        workers: 1,
        tenants: Tenants {
            sites: 6,
            sites_per_team: 2,
        },
        lease_seconds: 5,
        manners: Manners {
            failing: options.failing,
            ..Manners::default()
        },
    };
    let surroundings = Surroundings::default();
    let mut stack =
        Stack::start_on(ground, url, surroundings, &options.common, shape, seed).await?;
    match prove(options, kept, &mut stack, seed, load_before).await {
        Ok(round) if round.outcome.holds() => Ok(round),
        failed => {
            let kept = stack.ground.keep();
            eprintln!("databases and logs are kept in {}", kept.display());
            failed
        }
    }
}

async fn prove(
    options: &Options,
    kept: Kept,
    stack: &mut Stack,
    seed: u64,
    load_before: f64,
) -> anyhow::Result<Round> {
    let machine =
        Machine::describe(&mut stack.ground.cluster.connect().await?, load_before).await?;
    let mut customers = Customers {
        apis: stack.apis.iter().map(|api| api.address).collect(),
        sites: stack.sites.clone(),
        seed,
        connections: options.connections,
        ready: RefCell::new(vec![true; stack.apis.len()]),
    };
    let ledger = RefCell::new(Ledger::default());
    let load = Ticks::start(options.rate, u64::MAX);
    let before = RefCell::new(HashSet::<Uuid>::new());
    let backup_seconds = Cell::new(0.0);
    let pause = Duration::from_secs(options.seconds);
    let losing = async {
        tokio::time::sleep(pause).await;
        let note = || before.replace(ledger.borrow().accepted.keys().copied().collect());
        let loss = Loss::prepare(&stack.ground, kept, note, &backup_seconds, pause).await?;
        load.close().await;
        anyhow::Ok(loss)
    };
    let ((), loss) = tokio::try_join!(customers.submit(&load, &ledger), losing)?;
    let mut ledger = ledger.into_inner();
    let before = before.into_inner();

    for process in stack.processes() {
        process.kill().await?;
    }
    stack.ground.cluster.kill()?;
    stack.apis.clear();
    stack.workers.clear();
    let began = Instant::now();
    let database = loss.restore(&stack.ground).await?;
    let restore_seconds = began.elapsed().as_secs_f64();
    stack.gatehouse.use_database(database.url(Role::Gatehouse));
    stack.ground.cluster = database;

    let mut compared = Compared::begin(stack).await?;
    stack.apis.push(stack.gatehouse.start(Kind::Api, 10).await?);
    stack
        .workers
        .push(stack.gatehouse.start(Kind::Worker, 10).await?);
    customers.apis = stack.apis.iter().map(|api| api.address).collect();
    let mut havoc = Havoc::default();
    let patience = Duration::from_secs(options.patience_seconds);
    let (drained, rest) = drain(stack, &mut havoc, patience).await?;
    let missing: Vec<String> = before
        .iter()
        .filter(|id| !compared.has(**id))
        .map(ToString::to_string)
        .collect();
    let acknowledged = ledger.accepted.len();
    ledger.accepted.retain(|id, _| compared.has(*id));
    let gone = acknowledged - ledger.accepted.len();
    let again = compared.end(stack);

    let mut audit = Audit::begin(stack, &ledger, &customers).await?;
    audit.expect(
        "every item acknowledged before the backup is there",
        missing,
    );
    audit.expect("everything came to rest in time", rest);
    audit.expect("no process ended by itself", havoc.deaths);
    audit.expect("webhooks that came again have the same ids", again.changed);
    audit.expect(
        "only what was decided after the backup is told with new ids",
        again.invented,
    );
    audit.expect(
        "some webhooks came again",
        (compared.again == 0).then(|| "none".to_owned()),
    );
    audit.run().await?;
    Ok(Round {
        kept,
        backup_seconds: backup_seconds.get(),
        restore_seconds,
        before: before.len(),
        gone,
        compared,
        outcome: Outcome::of(audit, &ledger, machine, seed, drained),
    })
}
