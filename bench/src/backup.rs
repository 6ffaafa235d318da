//! Loses the database under load, restores it from a backup, and audits the result: every item that
//! was acknowledged before the backup is there, unfinished work continues, and webhooks that were
//! sent after the backup come again. Once with `pg_dump`, and on another service three times in a
//! row with base backups and the archived write-ahead log: each backup after the first is made of a
//! server that was restored.

mod comparison;
mod loss;
mod table;

use std::{
    cell::{Cell, RefCell},
    collections::HashSet,
    mem,
    time::{Duration, Instant},
};

use clap::Args;
use serde::Serialize;
use uuid::Uuid;

pub(crate) use self::table::Restored;
use self::{comparison::Compared, loss::Loss};
use crate::{
    chaos::{
        audit::Audit,
        client::{Customers, Ledger},
        drain::drain,
        outcome::Outcome,
        random_kills::RandomKills,
    },
    cluster::Role,
    environment::Environment,
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

/// What is restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kept {
    /// A file of `pg_dump`.
    Dump,
    /// A base backup and the archived write-ahead log, up to a time after the backup.
    Time,
    /// A base backup and everything that is in the archive.
    End,
}

impl Kept {
    /// The losses of each service, one after the other.
    const LOSSES: [&'static [Self]; 2] = [&[Self::Dump], &[Self::Time, Self::End, Self::Time]];

    const fn name(self) -> &'static str {
        match self {
            Self::Dump => "pg_dump",
            Self::Time => "a base backup and the write-ahead log, up to a time",
            Self::End => "a base backup and the write-ahead log, to its end",
        }
    }
}

/// A database that was lost and restored.
#[derive(Debug, Serialize)]
pub(crate) struct Round {
    kept: Kept,
    /// Which loss of its service, from 1.
    number: usize,
    backup_seconds: f64,
    restore_seconds: f64,
    /// Items that were acknowledged before the dump, the time that was restored, or the last file of the archive.
    before: usize,
    /// Items that were acknowledged later and are gone.
    gone: usize,
    compared: Compared,
    #[serde(flatten)]
    outcome: Outcome,
}

/// A service whose database is lost and restored.
struct Service<'a> {
    options: &'a Options,
    stack: Stack,
    customers: Customers,
    ledger: Ledger,
    load_before: f64,
}

/// Runs all losses, those of each service on a Postgres of its own.
///
/// # Errors
/// They could not be carried out. A failed proof is not an error.
pub(crate) async fn run(options: Options) -> anyhow::Result<Restored> {
    let load_before = Machine::load_before();
    let seed = options.common.seed();
    eprintln!("to repeat this: --seed {seed}");
    let mut rounds = Vec::new();
    for losses in Kept::LOSSES {
        let mut service = Service::start(&options, seed, load_before).await?;
        for (number, kept) in (1..).zip(losses) {
            eprintln!("{}", kept.name());
            let round = service.prove(*kept, number).await;
            let holds = round.as_ref().is_ok_and(|round| round.outcome.holds());
            service.stack.kept_unless(holds);
            rounds.push(round?);
            if !holds {
                break;
            }
        }
    }
    Ok(Restored { rounds })
}

impl<'a> Service<'a> {
    async fn start(options: &'a Options, seed: u64, load_before: f64) -> anyhow::Result<Self> {
        let address = free_address()?;
        let environment =
            Environment::start_on(&options.common.environment, address, "archive_mode = on\n")
                .await?;
        environment
            .cluster
            .archive(&loss::archive(&environment))
            .await?;
        let url = environment.cluster.url(Role::Gatehouse);
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
        let stack =
            Stack::start_on(environment, url, surroundings, &options.common, shape, seed).await?;
        let customers = Customers::of(&stack, seed, options.connections);
        Ok(Self {
            options,
            stack,
            customers,
            ledger: Ledger::default(),
            load_before,
        })
    }

    /// Loses the database under load, restores it, and audits everything that was ever accepted.
    async fn prove(&mut self, kept: Kept, number: usize) -> anyhow::Result<Round> {
        let ledger = RefCell::new(mem::take(&mut self.ledger));
        let load = Ticks::endless(self.options.rate, ledger.borrow().next_number());
        let before = RefCell::new(HashSet::<Uuid>::new());
        let backup_seconds = Cell::new(0.0);
        let pause = Duration::from_secs(self.options.seconds);
        let losing = async {
            tokio::time::sleep(pause).await;
            let note = || before.replace(ledger.borrow().accepted.keys().copied().collect());
            let environment = &self.stack.environment;
            let loss =
                Loss::prepare(environment, kept, number, note, &backup_seconds, pause).await?;
            load.close().await;
            anyhow::Ok(loss)
        };
        let ((), loss) = tokio::try_join!(self.customers.submit(&load, &ledger), losing)?;
        self.ledger = ledger.into_inner();
        let before = before.into_inner();

        let restore_seconds = self.lose(loss).await?;
        let mut compared = Compared::begin(&self.stack).await?;
        self.start_processes(number).await?;
        let mut random_kills = RandomKills::default();
        let patience = Duration::from_secs(self.options.patience_seconds);
        let (drained, rest) = drain(&mut self.stack, &mut random_kills, patience).await?;
        let missing: Vec<String> = before
            .iter()
            .filter(|id| !compared.has(**id))
            .map(ToString::to_string)
            .collect();
        let acknowledged = self.ledger.accepted.len();
        self.ledger.accepted.retain(|id, _| compared.has(*id));
        let gone = acknowledged - self.ledger.accepted.len();
        let again = compared.end(&self.stack);

        let mut conn = self.stack.environment.cluster.connect().await?;
        let machine = Machine::describe(&mut conn, self.load_before).await?;
        let mut audit = Audit::begin(&self.stack, &self.ledger, &self.customers).await?;
        audit.expect(
            "every item acknowledged before the backup is there",
            missing,
        );
        audit.expect("everything came to rest in time", rest);
        audit.expect("no process ended by itself", random_kills.deaths);
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
            number,
            backup_seconds: backup_seconds.get(),
            restore_seconds,
            before: before.len(),
            gone,
            compared,
            outcome: Outcome::of(audit, &self.ledger, machine, self.customers.seed, drained),
        })
    }

    /// Kills everything, and restores the database. Returns how long that took.
    async fn lose(&mut self, loss: Loss) -> anyhow::Result<f64> {
        let stack = &mut self.stack;
        for process in stack.processes() {
            process.kill().await?;
        }
        stack.environment.cluster.kill()?;
        stack.apis.clear();
        stack.workers.clear();
        let began = Instant::now();
        stack.environment.cluster = loss.restore(&stack.environment).await?;
        let took = began.elapsed().as_secs_f64();
        let url = stack.environment.cluster.url(Role::Gatehouse);
        stack.gatehouse.use_database(url);
        Ok(took)
    }

    /// Starts an API process and a worker on the restored database.
    async fn start_processes(&mut self, number: usize) -> anyhow::Result<()> {
        let stack = &mut self.stack;
        stack
            .apis
            .push(stack.gatehouse.start(Kind::Api, number).await?);
        stack
            .workers
            .push(stack.gatehouse.start(Kind::Worker, number).await?);
        self.customers.apis = stack.apis.iter().map(|api| api.address).collect();
        Ok(())
    }
}
