//! Upgrades a service under load from a previous version to this one, and back again. Migrations
//! run under load, too. No submission may fail, and nothing may get lost, in either order: workers
//! first, or APIs first.

mod fleet;
mod history;
mod table;
mod tenants;

use std::{
    cell::{Cell, RefCell},
    path::PathBuf,
    time::Duration,
};

use clap::Args;
use serde::Serialize;

pub(crate) use self::table::Upgraded;
use self::{
    fleet::{Fleet, Stage},
    history::History,
    tenants::set_up,
};
use crate::{
    chaos::{
        audit::Audit,
        client::{Customers, Ledger, look},
        drain::drain,
        outcome::Outcome,
        random_kills::RandomKills,
    },
    cluster::Role,
    environment::Environment,
    load::Ticks,
    processes::{Gatehouse, Kind},
    receiver::Manners,
    report::Machine,
    sites::Tenants,
    stack::{CommonOptions, Shape, Stack, Surroundings},
};

/// Options of `upgrade`. `--binary` is this version.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) common: CommonOptions,
    /// The previous version's program
    #[arg(long)]
    previous: PathBuf,
    /// Submissions a second
    #[arg(long, default_value_t = 60.0)]
    rate: f64,
    /// Connections that submit
    #[arg(long, default_value_t = 32)]
    connections: usize,
    /// Seconds that each mixture of versions works
    #[arg(long, default_value_t = 6)]
    stage_seconds: u64,
    /// Items of another team that are there before, so that migrations meet large tables
    #[arg(long, default_value_t = 0)]
    history: u32,
    /// How long the remaining work may take after the last submission, in seconds
    #[arg(long, default_value_t = 120)]
    patience_seconds: u64,
}

/// What is replaced first. The way back is the same in both: APIs first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Order {
    WorkersFirst,
    ApisFirst,
}

impl Order {
    const ALL: [Self; 2] = [Self::WorkersFirst, Self::ApisFirst];

    const fn name(self) -> &'static str {
        match self {
            Self::WorkersFirst => "workers first",
            Self::ApisFirst => "APIs first",
        }
    }
}

/// An upgrade and its way back.
#[derive(Debug, Serialize)]
pub(crate) struct Round {
    order: Order,
    stages: Vec<Stage>,
    #[serde(flatten)]
    outcome: Outcome,
}

const SHAPE: Shape = Shape {
    apis: 2,
    workers: 2,
    tenants: Tenants {
        sites: 6,
        sites_per_team: 2,
    },
    lease_seconds: 30,
    manners: Manners {
        failing: 0.0,
        delay: Duration::ZERO,
        careless: false,
        mortal: false,
    },
};

/// Runs both orders, each on a Postgres of its own.
///
/// # Errors
/// They could not be carried out. A failed proof is not an error.
pub(crate) async fn run(options: Options) -> anyhow::Result<Upgraded> {
    let load_before = Machine::load_before();
    let seed = options.common.seed();
    eprintln!("to repeat this: --seed {seed}");
    let mut rounds = Vec::new();
    for order in Order::ALL {
        eprintln!("{}", order.name());
        rounds.push(round(&options, order, seed, load_before).await?);
    }
    Ok(Upgraded { rounds })
}

async fn round(
    options: &Options,
    order: Order,
    seed: u64,
    load_before: f64,
) -> anyhow::Result<Round> {
    let environment = Environment::start(&options.common.environment).await?;
    let url = environment.cluster.url(Role::Gatehouse);
    let (mut stack, _) = Stack::prepare(
        environment,
        url,
        Surroundings::default(),
        &options.common,
        SHAPE,
        seed,
    )
    .await?;
    let this = stack.gatehouse.clone();
    let previous = Gatehouse {
        binary: std::fs::canonicalize(&options.previous)?,
        ..this.clone()
    };
    previous.run(&["migrate"]).await?;
    stack.sites = set_up(&stack, &previous, SHAPE.tenants).await?;
    let history = if options.history == 0 {
        None
    } else {
        let mut conn = stack.environment.cluster.connect().await?;
        Some(History::fill(&mut conn, &previous, options.history).await?)
    };
    for number in 0..SHAPE.apis {
        stack.apis.push(previous.start(Kind::Api, number).await?);
    }
    for number in 0..SHAPE.workers {
        stack
            .workers
            .push(previous.start(Kind::Worker, number).await?);
    }
    let proof = prove(
        options,
        order,
        &mut stack,
        [previous, this],
        history,
        (seed, load_before),
    )
    .await;
    stack.kept_unless(proof.as_ref().is_ok_and(|round| round.outcome.holds()));
    proof
}

async fn prove(
    options: &Options,
    order: Order,
    stack: &mut Stack,
    [previous, this]: [Gatehouse; 2],
    history: Option<History>,
    (seed, load_before): (u64, f64),
) -> anyhow::Result<Round> {
    let machine =
        Machine::describe(&mut stack.environment.cluster.connect().await?, load_before).await?;
    let customers = Customers::of(stack, seed, options.connections);
    let ledger = RefCell::new(Ledger::default());
    let finished = Cell::new(false);
    // More ticks than are ever used.
    let load = Ticks::start(options.rate, u64::MAX);
    let submitting = customers.submit(&load, &ledger);
    let looking = look(&customers, &finished);
    let replacing = async {
        let mut fleet = Fleet {
            stack,
            ledger: &ledger,
            pause: Duration::from_secs(options.stage_seconds),
            stages: Vec::new(),
        };
        fleet.there_and_back(order, &previous, &this).await?;
        load.close().await;
        finished.set(true);
        anyhow::Ok(fleet.stages)
    };
    let ((), (), stages) = tokio::try_join!(submitting, looking, replacing)?;
    let ledger = ledger.into_inner();

    let mut random_kills = RandomKills::default();
    let patience = Duration::from_secs(options.patience_seconds);
    let (drained, rest) = drain(stack, &mut random_kills, patience).await?;
    let is_history_whole = match history {
        Some(history) => {
            let mut conn = stack.environment.cluster.connect().await?;
            history.remove(&mut conn, options.history).await?
        }
        None => true,
    };
    let mut audit = Audit::begin(stack, &ledger, &customers).await?;
    audit.expect("everything came to rest in time", rest);
    audit.expect("no process ended by itself", random_kills.deaths);
    audit.expect(
        "the items from before are still there",
        (!is_history_whole).then(|| "their number has changed".to_owned()),
    );
    let failed = stages.iter().filter(|stage| stage.failed > 0);
    audit.expect(
        "no submission failed",
        failed.map(|stage| format!("{} while {}", stage.failed, stage.name)),
    );
    audit.run().await?;
    Ok(Round {
        order,
        stages,
        outcome: Outcome::of(audit, &ledger, machine, seed, drained),
    })
}
