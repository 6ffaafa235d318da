//! One incident after another, while customers continue.

use std::{
    cell::RefCell,
    mem,
    time::{Duration, Instant},
};

use super::{
    incidents::{Kind, Past, Scene},
    recovery::{Observer, Recovery},
    table::Incident,
};
use crate::chaos::{
    client::{Customers, Ledger},
    random_kills::RandomKills,
};

/// Before the first incident, and after each.
const QUIET: Duration = Duration::from_secs(5);

/// Runs the incidents one after another.
pub(super) async fn run_incidents(
    mut scene: Scene<'_>,
    customers: &Customers,
    ledger: &RefCell<Ledger>,
    random_kills: &mut RandomKills,
) -> anyhow::Result<(Recovery, Vec<Incident>)> {
    let observer = Observer::new(customers, ledger);
    let mut incidents = Vec::new();
    tokio::time::sleep(QUIET).await;
    let undisturbed = observer.observe(scene.stack, Instant::now()).await?;
    for kind in Kind::ALL {
        if kind == Kind::FullDisk && scene.stack.environment.cluster.disk().is_none() {
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
        random_kills.watch(scene.stack).await?;
        let told = match &scene.databases.standby {
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
