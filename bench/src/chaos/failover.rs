//! Faults of operators and machines, one after another in one run under load: sessions on a
//! read-only server, a killed primary and a promoted standby, a rolling restart, a full disk, and
//! no free connections. After each, the service must recover by itself. At the end, everything is
//! audited as after the chaos.

mod incident_sequence;
mod incidents;
mod primary_and_standby;
mod proxy;
mod recovery;
mod table;

use std::{
    cell::{Cell, RefCell},
    time::Duration,
};

use clap::Args;

pub(crate) use self::table::Proof;
use self::{
    incident_sequence::run_incidents, incidents::Scene, primary_and_standby::PrimaryAndStandby,
    table::Incident,
};
use super::{
    audit::Audit,
    client::{Customers, Ledger, look},
    drain::drain,
    outcome::Outcome,
    random_kills::RandomKills,
};
use crate::{
    load::Ticks,
    receiver::Manners,
    report::{Machine, Report as _},
    sites::Tenants,
    stack::{CommonOptions, Shape, Stack, Surroundings},
};

/// How soon the service must work again after the database can be written to, in seconds.
const PROMISED: f64 = 10.0;
/// Options of `failover`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) common: CommonOptions,
    /// Submissions a second
    #[arg(long, default_value_t = 150.0)]
    rate: f64,
    /// Connections that submit
    #[arg(long, default_value_t = 64)]
    connections: usize,
    /// API processes
    #[arg(long, default_value_t = 2)]
    apis: usize,
    /// Worker processes
    #[arg(long, default_value_t = 3)]
    workers: usize,
    /// How long a worker may be silent before its jobs go to others, in seconds
    #[arg(long, default_value_t = 5)]
    lease_seconds: u64,
    /// How long the remaining work may take after the last submission, in seconds
    #[arg(long, default_value_t = 300)]
    patience_seconds: u64,
}

/// Runs the proof.
///
/// # Errors
/// It could not be carried out. A failed proof is not an error.
pub(crate) async fn run(options: Options) -> anyhow::Result<Proof> {
    let load_before = Machine::load_before();
    let seed = options.common.seed();
    eprintln!("to repeat this: --seed {seed}");
    let (environment, mut databases) =
        PrimaryAndStandby::start(&options.common.environment).await?;
    let shape = Shape {
        apis: options.apis,
        workers: options.workers,
        tenants: Tenants {
            sites: 6,
            sites_per_team: 2,
        },
        lease_seconds: options.lease_seconds,
        manners: Manners::default(),
    };
    let surroundings = Surroundings::default();
    let mut stack = Stack::start_on(
        environment,
        databases.url(),
        surroundings,
        &options.common,
        shape,
        seed,
    )
    .await?;
    let proof = prove(&options, &mut stack, &mut databases, seed, load_before).await;
    stack.kept_unless(proof.as_ref().is_ok_and(Proof::holds));
    proof
}

async fn prove(
    options: &Options,
    stack: &mut Stack,
    databases: &mut PrimaryAndStandby,
    seed: u64,
    load_before: f64,
) -> anyhow::Result<Proof> {
    let machine =
        Machine::describe(&mut stack.environment.cluster.connect().await?, load_before).await?;
    let customers = Customers::of(stack, seed, options.connections);
    let ledger = RefCell::new(Ledger::default());
    let finished = Cell::new(false);
    let mut random_kills = RandomKills::default();
    // More ticks than are ever used.
    let ticks = Ticks::start(options.rate, u64::MAX);
    let submitting = customers.submit(&ticks, &ledger);
    let looking = look(&customers, &finished);
    let suffering = async {
        let scene = Scene { stack, databases };
        let suffered = run_incidents(scene, &customers, &ledger, &mut random_kills).await?;
        ticks.close().await;
        finished.set(true);
        anyhow::Ok(suffered)
    };
    let ((), (), (undisturbed, incidents)) = tokio::try_join!(submitting, looking, suffering)?;
    let ledger = ledger.into_inner();

    let patience = Duration::from_secs(options.patience_seconds);
    let (drained, rest) = drain(stack, &mut random_kills, patience).await?;
    let mut audit = Audit::begin(stack, &ledger, &customers).await?;
    for incident in &incidents {
        let seconds = incident.recovery.seconds();
        audit.expect(
            &format!("works again within {PROMISED} s: {}", incident.kind.name()),
            (seconds > PROMISED).then(|| format!("{seconds:.1} s")),
        );
        if incident.kind.is_harmless() {
            let Incident {
                unknown, unsent, ..
            } = incident;
            audit.expect(
                &format!("no request fails: {}", incident.kind.name()),
                (*unknown > 0 || *unsent > 0)
                    .then(|| format!("{unknown} without a 200, {unsent} not even sent")),
            );
        }
    }
    audit.expect("everything came to rest in time", rest);
    audit.expect("no process ended by itself", random_kills.deaths);
    audit.run().await?;
    Ok(Proof {
        outcome: Outcome::of(audit, &ledger, machine, seed, drained),
        undisturbed,
        incidents,
    })
}
