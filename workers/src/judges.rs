//! Whose turn it is to judge: as many judgements at once as there are processors, divided among the teams.
//!
//! A team whose judgements are quick may use all processors. One whose judgements are slow, such as long texts against costly
//! patterns, has only as much as it leaves free, so that it leaves a processor to everybody else.

use std::{
    collections::{HashMap, VecDeque},
    mem,
    num::NonZero,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::available_parallelism,
    time::{Duration, Instant},
};

use apalis::prelude::BoxDynError;
use domain::id::{GroupVersionId, RuleGroupId, TeamId};
use shares::{Limit, Share, Shares};
use store::verdict::ToJudge;
use tokio::task::block_in_place;

use crate::{
    groups::{Groups, Key},
    rules::Examined,
    thread_time::thread_time,
};

/// What a judgement may take without being slow.
const QUICK: Duration = Duration::from_millis(5);
/// A team that owes more time than this is slow.
const MOST_OWED: Duration = Duration::from_millis(50);
/// How much of each second is forgiven: a team is slow for a minute and a half after one second too much.
const FORGIVEN_PER_SECOND: f64 = 0.01;
/// A team is slow until it has shown by so many judgements that it is not.
const SHOWN: u32 = 16;
/// How many teams are remembered; twice as many for a while.
const TEAMS: usize = 10_000;

/// Judges by rule groups, in turns. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Judges {
    groups: Groups,
    slots: Arc<Shares<TeamId>>,
    paces: Arc<Mutex<Paces>>,
}

/// Rules in the place of a group's own, or beside the others where the group does not judge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instead {
    /// The group.
    pub(crate) group: RuleGroupId,
    /// The rules.
    pub(crate) by: Key,
}

impl Judges {
    /// One for each processor.
    pub(crate) fn new(groups: Groups) -> Self {
        Self::at_once(groups, available_parallelism().map_or(1, NonZero::get))
    }

    fn at_once(groups: Groups, judgements: usize) -> Self {
        Self {
            groups,
            slots: Shares::new(judgements),
            paces: Arc::default(),
        }
    }

    /// The groups.
    pub(crate) fn groups(&self) -> &Groups {
        &self.groups
    }

    /// Examines an item by versions of groups, one after another, with other rules in the place of one's own.
    pub(crate) async fn examine(
        &self,
        team: TeamId,
        item: &ToJudge,
        versions: &[GroupVersionId],
        instead: Option<Instead>,
    ) -> Result<Vec<Examined>, BoxDynError> {
        let mut left: VecDeque<Key> = versions.iter().copied().map(Key::Version).collect();
        let mut examined = Vec::with_capacity(left.len() + 1);
        let mut joined = false;
        loop {
            // Only whoever has a turn holds a group, so the groups in use are as few as the turns.
            let missing = self.turn(team).await.work(|| {
                while let Some(key) = left.front().copied() {
                    let Some(found) = self.groups.kept(key) else {
                        return Some(key);
                    };
                    let found = match instead {
                        Some(other) if found.group() == other.group && key != other.by => {
                            let Some(found) = self.groups.kept(other.by) else {
                                return Some(other.by);
                            };
                            joined = true;
                            found
                        }
                        Some(_) | None => found,
                    };
                    examined.push(Examined::of(item, &found));
                    left.pop_front();
                }
                None
            });
            match (missing, instead) {
                (Some(key), _) => drop(self.groups.compiled(team, key).await?),
                (None, Some(other)) if !joined => {
                    joined = true;
                    left.push_back(other.by);
                }
                (None, _) => return Ok(examined),
            }
        }
    }

    /// Waits for a turn.
    async fn turn(&self, team: TeamId) -> Turn {
        loop {
            let limit = self.limit(team);
            let share = self.slots.take(team, 1, limit).await;
            // While it waited, the team may have shown that it is slow.
            if limit == Limit::Fair || self.limit(team) == limit {
                return Turn {
                    team,
                    paces: Arc::clone(&self.paces),
                    _share: share,
                };
            }
        }
    }

    fn limit(&self, team: TeamId) -> Limit {
        if lock(&self.paces).is_quick(team, Instant::now()) {
            Limit::Capacity
        } else {
            Limit::Fair
        }
    }
}

/// A turn to judge.
struct Turn {
    team: TeamId,
    paces: Arc<Mutex<Paces>>,
    _share: Share<TeamId>,
}

impl Turn {
    /// Judges, and remembers how long it took.
    fn work<T>(self, work: impl FnOnce() -> T) -> T {
        // A long text against thousands of rules takes milliseconds, a hostile one more: other tasks move to other threads.
        block_in_place(|| {
            let begun = thread_time();
            let done = work();
            let took = thread_time().saturating_sub(begun);
            lock(&self.paces).judged(self.team, took, Instant::now());
            done
        })
    }
}

/// How quickly teams' judgements go. Teams that were not seen for long are forgotten.
#[derive(Debug, Default)]
struct Paces {
    recent: HashMap<TeamId, Pace>,
    older: HashMap<TeamId, Pace>,
}

#[derive(Clone, Copy, Debug)]
struct Pace {
    judged: u32,
    /// By how much its judgements took longer than quick ones, less what was forgiven.
    owed: Duration,
    at: Instant,
}

impl Pace {
    fn owed(&self, now: Instant) -> Duration {
        let forgiven = now.saturating_duration_since(self.at);
        self.owed
            .saturating_sub(forgiven.mul_f64(FORGIVEN_PER_SECOND))
    }
}

impl Paces {
    fn find(&self, team: TeamId) -> Option<&Pace> {
        self.recent.get(&team).or_else(|| self.older.get(&team))
    }

    fn is_quick(&self, team: TeamId, now: Instant) -> bool {
        self.find(team)
            .is_some_and(|pace| pace.judged >= SHOWN && pace.owed(now) <= MOST_OWED)
    }

    fn judged(&mut self, team: TeamId, took: Duration, now: Instant) {
        let before = self.find(team).copied().unwrap_or(Pace {
            judged: 0,
            owed: Duration::ZERO,
            at: now,
        });
        let pace = Pace {
            judged: before.judged.saturating_add(1),
            owed: before.owed(now) + took.saturating_sub(QUICK),
            at: now,
        };
        if self.recent.len() >= TEAMS && !self.recent.contains_key(&team) {
            self.older = mem::take(&mut self.recent);
        }
        self.recent.insert(team, pace);
    }
}

fn lock(paces: &Mutex<Paces>) -> MutexGuard<'_, Paces> {
    paces.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
