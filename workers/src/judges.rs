//! Whose turn it is to judge, and on which threads: few judgements at once, divided among the teams.
//!
//! A judgement is expected to be brief. One that is not, such as that of a long text by costly patterns, loses the priority of
//! its thread and makes its team slow. So does a team whose brief judgements together take much of a processor. Slow teams share
//! threads of a low priority, so that they delay neither the turns of others nor whatever else needs a processor.

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
use threads::{BriefThreads, Threads, thread_time};

use crate::{
    examined::Examined,
    groups::{Groups, Key},
};

/// The processor time of a brief judgement. An ordinary one takes less than a hundredth.
const BRIEF: Duration = Duration::from_millis(20);
/// A team may use so much of a processor in the long run without being slow. A thousand judgements a second of an ordinary text
/// by ten thousand rules take less.
const USUAL: f64 = 0.1;
/// It may be ahead of that by so much time.
const AHEAD: Duration = Duration::from_millis(100);
/// What it used beyond that is forgotten: after a hundred seconds, a team whose judgements are brief again is quick.
const MOST_OWED: Duration = Duration::from_secs(10);
/// How many teams are remembered; twice as many for a while.
const TEAMS: usize = 10_000;

/// Judges by rule groups, in turns. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Judges {
    groups: Groups,
    quick: Arc<Shares<TeamId>>,
    slow: Arc<Shares<TeamId>>,
    brief: Arc<BriefThreads>,
    long: Arc<Threads>,
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
    /// One turn of each kind for each processor, and at least two, so that one team leaves a turn to others.
    pub(crate) fn new(groups: Groups) -> Self {
        let processors = available_parallelism().map_or(1, NonZero::get);
        Self::at_once(groups, processors.max(2))
    }

    fn at_once(groups: Groups, judgements: usize) -> Self {
        Self {
            groups,
            quick: Shares::new(judgements),
            slow: Shares::new(judgements),
            brief: Arc::new(BriefThreads::new("judge", judgements)),
            long: Arc::new(Threads::start("slow-judge", judgements)),
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
        item: &Arc<ToJudge>,
        versions: &[GroupVersionId],
        instead: Option<Instead>,
    ) -> Result<Vec<Examined>, BoxDynError> {
        let mut sitting = Sitting {
            groups: self.groups.clone(),
            item: Arc::clone(item),
            left: versions.iter().copied().map(Key::Version).collect(),
            instead,
            joined: false,
            examined: Vec::with_capacity(versions.len() + 1),
        };
        loop {
            // Only a judgement with a turn holds a group, so no more groups are in use than there are turns.
            let turn = self.turn(team).await;
            let next = self.work(turn, move || sitting.go_on()).await?;
            match next {
                Next::Compile(key, rest) => {
                    sitting = rest;
                    drop(self.groups.compiled(team, key).await?);
                }
                Next::Done(examined) => return Ok(examined),
            }
        }
    }

    /// Waits for a turn.
    async fn turn(&self, team: TeamId) -> Turn {
        loop {
            let speed = self.speed(team);
            let of = match speed {
                Speed::Quick => &self.quick,
                Speed::Slow => &self.slow,
            };
            let share = of.take(team, 1, Limit::Fair).await;
            // While it waited, the team may have shown what it is.
            if self.speed(team) == speed {
                return Turn { team, speed, share };
            }
        }
    }

    /// Uses a turn, and remembers how long it took.
    async fn work<T: Send + 'static>(
        &self,
        turn: Turn,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, BoxDynError> {
        let Turn { team, speed, share } = turn;
        let paces = Arc::clone(&self.paces);
        // Whoever asked may have gone away before it is done.
        let share = Arc::new(Mutex::new(share));
        let held = Arc::clone(&share);
        let work = move || {
            let begun = thread_time();
            let done = work();
            let took = thread_time().saturating_sub(begun);
            lock(&paces).judged(team, took, Instant::now());
            drop(held);
            done
        };
        let done = match speed {
            Speed::Quick => {
                let lowered = || {
                    lock(&self.paces).judged(team, MOST_OWED, Instant::now());
                    // If the team has used up its share of the slow turns, it keeps this one: it never has more than half of both.
                    if let Ok(other) = self.slow.try_take(team, 1, Limit::Fair) {
                        *lock(&share) = other;
                    }
                };
                self.brief.run(BRIEF, work, lowered).await
            }
            Speed::Slow => self.long.run(work).await,
        };
        Ok(done?)
    }

    fn speed(&self, team: TeamId) -> Speed {
        lock(&self.paces).speed(team, Instant::now())
    }
}

/// A turn to judge.
struct Turn {
    team: TeamId,
    speed: Speed,
    share: Share<TeamId>,
}

/// What is known of a team's judgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speed {
    Quick,
    Slow,
}

/// An item before its judges.
struct Sitting {
    groups: Groups,
    item: Arc<ToJudge>,
    left: VecDeque<Key>,
    instead: Option<Instead>,
    /// Whether the other rules have had their turn.
    joined: bool,
    examined: Vec<Examined>,
}

/// How a turn ends.
enum Next {
    /// A group has to be compiled before the rest.
    Compile(Key, Sitting),
    Done(Vec<Examined>),
}

impl Sitting {
    /// Has all groups examine the item that are compiled already.
    fn go_on(mut self) -> Next {
        loop {
            let Some(key) = self.left.front().copied() else {
                match self.instead {
                    Some(other) if !mem::replace(&mut self.joined, true) => {
                        self.left.push_back(other.by);
                        continue;
                    }
                    Some(_) | None => return Next::Done(self.examined),
                }
            };
            let Some(mut found) = self.groups.kept(key) else {
                return Next::Compile(key, self);
            };
            if let Some(other) = self.instead
                && found.group() == other.group
                && key != other.by
            {
                found = match self.groups.kept(other.by) {
                    Some(found) => found,
                    None => return Next::Compile(other.by, self),
                };
                self.joined = true;
            }
            self.examined.push(Examined::of(&self.item, &found));
            self.left.pop_front();
        }
    }
}

/// How much processor time teams' judgements take. Teams that were not seen for long are forgotten.
#[derive(Debug, Default)]
struct Paces {
    recent: HashMap<TeamId, Pace>,
    older: HashMap<TeamId, Pace>,
}

#[derive(Clone, Copy, Debug)]
struct Pace {
    /// What its judgements took, less what it may use.
    owed: Duration,
    at: Instant,
}

impl Pace {
    fn owed(&self, now: Instant) -> Duration {
        let since = now.saturating_duration_since(self.at);
        self.owed.saturating_sub(since.mul_f64(USUAL))
    }
}

impl Paces {
    fn find(&self, team: TeamId) -> Option<&Pace> {
        self.recent.get(&team).or_else(|| self.older.get(&team))
    }

    fn speed(&self, team: TeamId, now: Instant) -> Speed {
        match self.find(team) {
            Some(pace) if pace.owed(now) > AHEAD => Speed::Slow,
            Some(_) | None => Speed::Quick,
        }
    }

    fn judged(&mut self, team: TeamId, took: Duration, now: Instant) {
        let before = self.find(team).copied().unwrap_or(Pace {
            owed: Duration::ZERO,
            at: now,
        });
        let pace = Pace {
            owed: MOST_OWED.min(before.owed(now) + took),
            at: now,
        };
        if self.recent.len() >= TEAMS && !self.recent.contains_key(&team) {
            self.older = mem::take(&mut self.recent);
        }
        self.recent.insert(team, pace);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics while it is locked.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
