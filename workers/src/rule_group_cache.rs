//! Compiled rule groups, kept in memory within bounds. What was compiled never changes, so nothing here is ever out of date.
//!
//! Each group is compiled once, even if many jobs ask for it. When the job that asked gives up, the
//! compilation continues, and the job's next run finds the result. Teams take turns. A group that
//! needs more than its limits allow is remembered as too heavy and never judges.

mod compile;
mod compiled;
mod single_flight;
mod team_cache;
#[cfg(test)]
pub(crate) mod tests;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use apalis::prelude::BoxDynError;
use cpu_pool::Threads;
use domain::{id::TeamId, rules::Limits};
use fair_share::Shares;
use store::PgPool;
use tokio::sync::watch;

pub(crate) use self::compiled::{Compiled, Key};
use self::{
    compiled::ENTRY_BYTES,
    single_flight::{Flight, Landing, Shareable},
    team_cache::TeamCache,
};
use crate::lock::lock;

/// Groups that are compiled at once. Compiling needs memory in addition to the groups that are
/// kept.
const COMPILATIONS: usize = 1;
/// A version compiled within the time limit when it was defined. A slower or busier machine must
/// not refuse it later, so workers allow this many times as much.
const TIME_FACTOR: u32 = 10;
/// The most groups that wait to be compiled.
const MOST_WAITING: usize = 10_000;
/// The longest that a job waits for a group or a turn. Then it goes back to the queue. It did not
/// cause the wait, so it is not charged an attempt.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The bounds of compiled groups in a worker.
#[derive(Clone, Copy, Debug)]
pub struct RuleSettings {
    /// What one group may cost where it is defined.
    pub limits: Limits,
    /// Memory for all compiled groups, in bytes. The largest group always fits.
    pub kept_bytes: usize,
}

impl Default for RuleSettings {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            kept_bytes: 128 << 20,
        }
    }
}

/// The groups of a process. Clones are the same ones.
#[derive(Clone)]
pub(crate) struct RuleGroupCache {
    shared: Arc<Shared>,
}

struct Shared {
    pool: PgPool,
    limits: Limits,
    kept: Mutex<TeamCache<Key, Compiled>>,
    flights: Mutex<HashMap<Key, Flight>>,
    slots: Arc<Shares<TeamId>>,
    /// One thread, so that each compilation reuses the memory of the last one.
    compiler: Threads,
}

impl RuleGroupCache {
    /// Nothing is compiled yet.
    pub(crate) fn new(pool: PgPool, settings: RuleSettings) -> Self {
        let RuleSettings { limits, kept_bytes } = settings;
        Self {
            shared: Arc::new(Shared {
                pool,
                limits: Limits {
                    time: limits.time.saturating_mul(TIME_FACTOR),
                    ..limits
                },
                kept: Mutex::new(TeamCache::new(kept_bytes.max(limits.bytes + ENTRY_BYTES))),
                flights: Mutex::new(HashMap::new()),
                slots: Shares::new(COMPILATIONS),
                compiler: Threads::start("compiler", COMPILATIONS),
            }),
        }
    }

    /// A group that is in memory already. Hold it only while it judges, because it keeps its memory
    /// in use.
    pub(crate) fn kept(&self, key: Key) -> Option<Compiled> {
        lock(&self.shared.kept).get(&key)
    }

    /// Waits until a team's group is compiled.
    pub(crate) async fn compiled(&self, team: TeamId, key: Key) -> Result<Compiled, BoxDynError> {
        if let Some(found) = self.kept(key) {
            return Ok(found);
        }
        let mut flight = {
            let mut flights = lock(&self.shared.flights);
            if let Some(flight) = flights.get(&key) {
                flight.clone()
            } else if let Some(found) = self.kept(key) {
                // Its compilation ended a moment ago.
                return Ok(found);
            } else if flights.len() >= MOST_WAITING {
                return Err("too many rule groups wait to be compiled".into());
            } else {
                let (end, flight) = watch::channel(None);
                flights.insert(key, flight.clone());
                let landing = Landing {
                    shared: Arc::clone(&self.shared),
                    key,
                };
                tokio::spawn(async move {
                    let outcome = landing.shared.compile(team, key).await;
                    drop(landing);
                    end.send_replace(Some(outcome.map_err(|error| Shareable(error.into()))));
                });
                flight
            }
        };
        let ended = flight.wait_for(Option::is_some).await;
        let ended = ended.map_err(|_| "compiling the rules failed")?;
        match &*ended {
            Some(Ok(compiled)) => Ok(compiled.clone()),
            Some(Err(error)) => Err(error.clone().into()),
            None => Err("compiling the rules has no end".into()),
        }
    }
}
