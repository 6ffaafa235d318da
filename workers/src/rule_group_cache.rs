//! Compiled rule groups, kept in memory within bounds. What was compiled never changes, so nothing here is ever out of date.
//!
//! Each group is compiled once, even if many jobs ask for it. When the job that asked gives up, the
//! compilation continues, and the job's next run finds the result. Teams take turns. A group that
//! needs more than its limits allow is remembered as too heavy and never judges.

mod team_cache;
#[cfg(test)]
pub(crate) mod tests;

use std::{
    collections::HashMap,
    error::Error,
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

use apalis::prelude::BoxDynError;
use cpu_pool::{Threads, thread_time};
use domain::{
    decision::Unchecked,
    id::{BacktestId, GroupVersionId, RuleGroupId, TeamId},
    rules::{CompiledGroup, Limits, Rule},
};
use fair_share::{Limit, Shares};
use store::{PgPool, backtest::slice, rule_group};
use tokio::sync::watch;
use tracing::{error, warn};

use self::team_cache::TeamCache;
use crate::lock;

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

/// Rules, and what compiling them needs.
struct Loaded {
    group: RuleGroupId,
    version: GroupVersionId,
    name: String,
    rules: Vec<Rule>,
}

impl Shared {
    /// Loads and compiles a group when it is the team's turn, and keeps the result.
    async fn compile(&self, team: TeamId, key: Key) -> Result<Compiled, BoxDynError> {
        let slot = self.slots.take(team, 1, Limit::Fair).await;
        // The rules may take megabytes, so they are loaded only now.
        let Loaded {
            group,
            version,
            name,
            rules,
        } = self.load(key).await?;
        let limits = self.limits;
        let compiling = self.compiler.run(move || {
            let compiled =
                CompiledGroup::compile_within(group, version, &rules, limits, &thread_time);
            drop(rules);
            drop(slot);
            compiled
        });
        let compiled = match compiling.await? {
            Ok(compiled) => Compiled::Ready(Arc::new(compiled)),
            Err(errors) if errors.is_too_heavy() => {
                warn!(%errors, rule_group.id = %group, version.id = %version,
                    "a rule group is too large to judge; its items follow their site's `on_failure`");
                Compiled::TooHeavy(Arc::new(TooHeavy { group, name }))
            }
            Err(errors) => {
                error!(%errors, rule_group.id = %group, version.id = %version, "stored rules do not compile");
                return Err(errors.into());
            }
        };
        let bytes = compiled.bytes();
        let evicted = lock(&self.kept).insert(key, team, compiled.clone(), bytes);
        // Freeing memory takes a while, so it happens without the lock.
        drop(evicted);
        Ok(compiled)
    }

    async fn load(&self, key: Key) -> Result<Loaded, BoxDynError> {
        match key {
            Key::Version(version) => {
                let found = rule_group::find_version(&self.pool, version).await?;
                let found =
                    found.ok_or_else(|| format!("there is no rule group version {version}"))?;
                Ok(Loaded {
                    group: found.group,
                    version,
                    name: found.name,
                    rules: found.rules,
                })
            }
            Key::Backtest(backtest) => {
                let replay = slice::rules(&self.pool, backtest).await?;
                let replay = replay.ok_or("there is no such backtest")?;
                Ok(Loaded {
                    group: replay.group,
                    version: replay.version,
                    name: String::new(),
                    rules: replay.rules,
                })
            }
        }
    }
}

/// The memory of an entry without its group, in bytes.
const ENTRY_BYTES: usize = 1 << 10;

/// What was compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// A version of a group.
    Version(GroupVersionId),
    /// The rules that a backtest tries.
    Backtest(BacktestId),
}

/// What became of a group's rules.
#[derive(Clone)]
pub(crate) enum Compiled {
    /// They can judge.
    Ready(Arc<CompiledGroup>),
    /// They cost more than a group may, so they judge nothing.
    TooHeavy(Arc<TooHeavy>),
}

/// A group that cannot judge.
#[derive(Debug)]
pub(crate) struct TooHeavy {
    pub(crate) group: RuleGroupId,
    name: String,
}

impl TooHeavy {
    /// The note on an item that it should have judged.
    pub(crate) fn unchecked(&self) -> Unchecked {
        Unchecked::RulesTooHeavy {
            group: self.group,
            name: self.name.clone(),
        }
    }
}

impl Compiled {
    /// The group.
    pub(crate) fn group(&self) -> RuleGroupId {
        match self {
            Self::Ready(group) => group.group(),
            Self::TooHeavy(heavy) => heavy.group,
        }
    }

    fn bytes(&self) -> usize {
        ENTRY_BYTES
            + match self {
                Self::Ready(group) => group.approx_bytes(),
                Self::TooHeavy(heavy) => heavy.name.len(),
            }
    }
}

/// A running compilation and its result. An error goes to all who wait, and is not kept.
type Flight = watch::Receiver<Option<Result<Compiled, Shareable>>>;

/// An error that several callers get.
#[derive(Clone, Debug)]
struct Shareable(Arc<dyn Error + Send + Sync>);

impl fmt::Display for Shareable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for Shareable {
    /// The original error: `is_outage` searches the chain of sources.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}

/// Ends a flight, even one that panicked.
struct Landing {
    shared: Arc<Shared>,
    key: Key,
}

impl Drop for Landing {
    fn drop(&mut self) {
        lock(&self.shared.flights).remove(&self.key);
    }
}
