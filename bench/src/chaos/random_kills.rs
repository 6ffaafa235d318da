//! Random kills: at random, but the same for the same seed, a process is killed with SIGKILL and started again a little later,
//! and Postgres is restarted.

use std::{
    cell::{Cell, RefCell},
    ops::Range,
    time::{Duration, Instant},
};

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng, seq::IndexedMutRandom as _};
use serde::Serialize;

use super::client::Ledger;
use crate::{cluster::Stop, processes::Process, stack::Stack, tcp_relay::Relay};

/// The share of kills that hit a worker.
const WORKERS_SHARE: f64 = 0.7;
/// At how many eighths of the texts Postgres is restarted, and how.
const RESTARTS: [(u64, Stop); 4] = [
    (1, Stop::Fast),
    (3, Stop::Immediate),
    (5, Stop::Fast),
    (7, Stop::Immediate),
];
/// How long, in milliseconds, the receiver lives and is dead each time.
const RECEIVER_LIVES: Range<u64> = 100..20_000;
const RECEIVER_IS_DEAD: Range<u64> = 50..15_000;
const WATCH: Duration = Duration::from_millis(100);

/// The plan of the kills.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) items: u64,
    pub(crate) restart_postgres: bool,
}

/// What was done, and what else happened.
#[derive(Debug, Default, Serialize)]
pub(crate) struct RandomKills {
    pub(crate) workers_killed: u32,
    pub(crate) apis_killed: u32,
    pub(crate) receivers_killed: u32,
    pub(crate) postgres_restarts: u32,
    /// Processes that ended by themselves.
    pub(crate) deaths: Vec<String>,
}

impl RandomKills {
    /// Notes processes that ended by themselves, and starts them again.
    pub(crate) async fn watch(&mut self, stack: &mut Stack) -> anyhow::Result<()> {
        for process in stack.processes() {
            if let Some(death) = process.death() {
                eprintln!("{death}");
                self.deaths.push(death);
                process.start().await?;
            }
        }
        if stack.environment.cluster.has_died() {
            anyhow::bail!("Postgres ended by itself");
        }
        Ok(())
    }

    async fn strike(&mut self, process: &mut Process, pause: Duration) -> anyhow::Result<()> {
        eprintln!("killing {}", process.name());
        if let Some(death) = process.death() {
            self.deaths.push(death);
        } else {
            process.kill().await?;
        }
        tokio::time::sleep(pause).await;
        process.start().await
    }
}

/// Continues until the submissions are finished. Then every process runs.
pub(crate) async fn kill_and_restart(
    stack: &mut Stack,
    plan: Plan,
    ledger: &RefCell<Ledger>,
    finished: &Cell<bool>,
) -> anyhow::Result<RandomKills> {
    let mut random = StdRng::seed_from_u64(plan.seed);
    let mut random_kills = RandomKills::default();
    let mut restarts = RESTARTS.iter().filter(|_| plan.restart_postgres).peekable();
    while !finished.get() {
        let quiet = Duration::from_millis(random.random_range(800..3_000));
        let start = Instant::now();
        while start.elapsed() < quiet && !finished.get() {
            random_kills.watch(stack).await?;
            let accepted = ledger.borrow().accepted.len() as u64;
            if let Some((_, stop)) =
                restarts.next_if(|(eighth, _)| accepted * 8 >= plan.items * eighth)
            {
                eprintln!("restarting Postgres, mode {stop:?}");
                stack.environment.cluster.restart(*stop).await?;
                random_kills.postgres_restarts += 1;
            }
            tokio::time::sleep(WATCH).await;
        }
        if finished.get() {
            break;
        }
        let pause = Duration::from_millis(random.random_range(50..1_500));
        let hits_worker = random.random_bool(WORKERS_SHARE);
        let (victims, count) = if hits_worker {
            (&mut stack.workers, &mut random_kills.workers_killed)
        } else {
            (&mut stack.apis, &mut random_kills.apis_killed)
        };
        *count += 1;
        if let Some(victim) = victims.choose_mut(&mut random) {
            random_kills.strike(victim, pause).await?;
        }
    }
    Ok(random_kills)
}

/// Kills the receiver again and again, if there is a relay, until the submissions are finished.
/// Returns how often. Afterwards it runs.
pub(crate) async fn kill_relay(
    relay: Option<&mut Relay>,
    seed: u64,
    finished: &Cell<bool>,
) -> anyhow::Result<u32> {
    let mut kills = 0;
    let Some(relay) = relay else {
        return Ok(kills);
    };
    let mut random = StdRng::seed_from_u64(seed);
    loop {
        let alive = Duration::from_millis(random.random_range(RECEIVER_LIVES));
        let start = Instant::now();
        while start.elapsed() < alive {
            if finished.get() {
                return Ok(kills);
            }
            tokio::time::sleep(WATCH).await;
        }
        let dead = Duration::from_millis(random.random_range(RECEIVER_IS_DEAD));
        eprintln!("killing the receiver for {:.1} s", dead.as_secs_f64());
        relay.kill().await?;
        kills += 1;
        tokio::time::sleep(dead).await;
        relay.revive().await?;
    }
}
