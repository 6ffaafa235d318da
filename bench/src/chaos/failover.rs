//! The faults of operators and their machines, one after the other in one run under load: sessions left on a read-only server, a
//! primary that is killed and its standby promoted, a rolling restart, a full disk, and no connections left. After each the
//! service must work again by itself, and afterwards everything is audited as after the chaos.

mod incidents;
mod name;
mod pair;
mod recovery;

use std::{
    cell::{Cell, RefCell},
    mem,
    time::{Duration, Instant},
};

use clap::Args;
use serde::Serialize;

use self::{
    incidents::{Kind, Past, Scene},
    pair::Pair,
    recovery::{Observer, Recovery},
};
use super::{
    audit::Audit,
    client::{Customers, Ledger},
    drain,
    havoc::Havoc,
    outcome::Outcome,
};
use crate::{
    http::{Client, get},
    load::Ticks,
    receiver::Manners,
    report::{Line, Machine, Report},
    sites::Tenants,
    stack::{CommonOptions, Shape, Stack, Surroundings},
};

/// How soon the service must work again after the database can be written to, in seconds.
const PROMISED: f64 = 10.0;
/// How often customers look at `/readyz`.
const LOOK: Duration = Duration::from_secs(1);
/// Before the first incident, and after each.
const QUIET: Duration = Duration::from_secs(5);

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
    /// How long everything may take to come to rest after the last submission, in seconds
    #[arg(long, default_value_t = 300)]
    patience_seconds: u64,
}

/// What came out.
#[derive(Debug, Serialize)]
pub(crate) struct Proof {
    #[serde(flatten)]
    outcome: Outcome,
    /// The same figures without an incident: what the machine takes anyway.
    undisturbed: Recovery,
    incidents: Vec<Incident>,
}

/// An incident.
#[derive(Debug, Serialize)]
struct Incident {
    kind: Kind,
    told: String,
    /// From its beginning until the database could be written to.
    lasted: f64,
    recovery: Recovery,
    /// What became of the submissions during it and the recovery.
    accepted: usize,
    unknown: usize,
    /// How often nobody was there to be sent one.
    unsent: u64,
    /// The longest that an answer took, in seconds.
    slowest_answer: f64,
}

impl Proof {
    /// Whether every check holds.
    pub(crate) fn holds(&self) -> bool {
        self.outcome.holds()
    }
}

/// Runs the proof.
///
/// # Errors
/// It could not be carried out. A proof that fails is no error.
pub(crate) async fn run(options: Options) -> anyhow::Result<Proof> {
    let load_before = Machine::load_before();
    let seed = options.common.seed();
    eprintln!("to repeat this: --seed {seed}");
    let (ground, mut pair) = Pair::start(&options.common.ground).await?;
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
        ground,
        pair.url(),
        surroundings,
        &options.common,
        shape,
        seed,
    )
    .await?;
    match prove(&options, &mut stack, &mut pair, seed, load_before).await {
        Ok(proof) if proof.holds() => Ok(proof),
        failed => {
            eprintln!(
                "databases and logs are kept in {}",
                stack.ground.keep().display()
            );
            failed
        }
    }
}

async fn prove(
    options: &Options,
    stack: &mut Stack,
    pair: &mut Pair,
    seed: u64,
    load_before: f64,
) -> anyhow::Result<Proof> {
    let machine =
        Machine::describe(&mut stack.ground.cluster.connect().await?, load_before).await?;
    let customers = Customers {
        apis: stack.apis.iter().map(|api| api.address).collect(),
        sites: stack.sites.clone(),
        seed,
        connections: options.connections,
        ready: RefCell::new(vec![true; options.apis]),
    };
    let ledger = RefCell::new(Ledger::default());
    let finished = Cell::new(false);
    let mut havoc = Havoc::default();
    // More than ever come.
    let ticks = Ticks::start(options.rate, u64::MAX);
    let submitting = customers.submit(&ticks, &ledger);
    let looking = look(&customers, &finished);
    let suffering = async {
        let scene = Scene { stack, pair };
        let suffered = suffer(scene, &customers, &ledger, &mut havoc).await?;
        ticks.close().await;
        finished.set(true);
        anyhow::Ok(suffered)
    };
    let ((), (), (undisturbed, incidents)) = tokio::try_join!(submitting, looking, suffering)?;
    let ledger = ledger.into_inner();

    let patience = Duration::from_secs(options.patience_seconds);
    let (drained, rest) = drain(stack, &mut havoc, patience).await?;
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
    audit.expect("no process ended by itself", havoc.deaths);
    audit.run().await?;
    Ok(Proof {
        outcome: Outcome::of(audit, &ledger, machine, seed, drained),
        undisturbed,
        incidents,
    })
}

/// Lets one incident follow the other.
async fn suffer(
    mut scene: Scene<'_>,
    customers: &Customers,
    ledger: &RefCell<Ledger>,
    havoc: &mut Havoc,
) -> anyhow::Result<(Recovery, Vec<Incident>)> {
    let observer = Observer::new(customers, ledger);
    let mut incidents = Vec::new();
    tokio::time::sleep(QUIET).await;
    let undisturbed = observer.observe(scene.stack, Instant::now()).await?;
    for kind in Kind::ALL {
        if kind == Kind::FullDisk && scene.stack.ground.cluster.disk().is_none() {
            continue;
        }
        eprintln!("{}", kind.name());
        let before = {
            let mut ledger = ledger.borrow_mut();
            ledger.slowest = Duration::ZERO;
            (
                ledger.accepted.len(),
                ledger.unknown.len(),
                mem::take(&mut ledger.unsent),
            )
        };
        let begun = Instant::now();
        let Past { writable, told } = scene.play(kind).await?;
        let recovery = observer.observe(scene.stack, writable).await?;
        eprintln!("  works again after {:.1} s", recovery.seconds());
        tokio::time::sleep(QUIET).await;
        havoc.watch(scene.stack).await?;
        let told = match &scene.pair.standby {
            Some(standby) => format!(
                "{told}, and {} some seconds later",
                standby.sessions().await?
            ),
            None => told,
        };
        let ledger = ledger.borrow();
        incidents.push(Incident {
            kind,
            told,
            lasted: (writable - begun).as_secs_f64(),
            recovery,
            accepted: ledger.accepted.len() - before.0,
            unknown: ledger.unknown.len() - before.1,
            unsent: ledger.unsent,
            slowest_answer: ledger.slowest.as_secs_f64(),
        });
    }
    Ok((undisturbed, incidents))
}

/// Looks which API processes are ready, as customers and load balancers do.
async fn look(customers: &Customers, finished: &Cell<bool>) -> anyhow::Result<()> {
    let mut clients: Vec<Client> = customers.apis.iter().copied().map(Client::new).collect();
    let request = get("/readyz");
    while !finished.get() {
        for (place, client) in clients.iter_mut().enumerate() {
            let ready = matches!(client.send(&request).await, Ok(answer) if answer.status == 200);
            customers.ready.borrow_mut()[place] = ready;
        }
        tokio::time::sleep(LOOK).await;
    }
    Ok(())
}

impl Report for Proof {
    fn lines(&self) -> Vec<Line> {
        let mut lines = self.outcome.lines();
        lines.push(Line::heading("no incident yet"));
        lines.extend(self.undisturbed.lines());
        for incident in &self.incidents {
            lines.extend(incident.lines());
        }
        let tried = |kind: &Kind| self.incidents.iter().any(|incident| incident.kind == *kind);
        for kind in Kind::ALL.iter().filter(|kind| !tried(kind)) {
            lines.push(Line::heading(format!("{}: not tried", kind.name())));
        }
        lines.extend(self.outcome.verdict());
        lines
    }
}

impl Incident {
    fn lines(&self) -> Vec<Line> {
        let mut lines = vec![
            Line::heading(format!("{}: {}", self.kind.name(), self.told)),
            Line::fact("lasted", format!("{:.1} s", self.lasted)),
        ];
        lines.extend(self.recovery.lines());
        lines.push(Line::fact(
            "submissions meanwhile",
            format!(
                "{} accepted, {} unknown, {} not sent, the slowest answer after {:.1} s",
                self.accepted, self.unknown, self.unsent, self.slowest_answer
            ),
        ));
        lines
    }
}
