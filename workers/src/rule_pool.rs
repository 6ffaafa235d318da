//! Decides whose turn it is to judge, and on which threads. Only a few judgements run at once, and
//! they are divided among the teams.
//!
//! A judgement should be brief. A long one (a long text, costly patterns) loses the priority of its
//! thread, and its team counts as slow. A team also counts as slow when its brief judgements
//! together use much of a processor. Slow teams share threads with a low priority, so that they
//! delay neither other teams nor other work.

#[cfg(test)]
mod tests;

use std::{
    collections::{HashMap, VecDeque},
    mem,
    num::NonZero,
    sync::{Arc, Mutex},
    thread::available_parallelism,
    time::{Duration, Instant},
};

use apalis::prelude::BoxDynError;
use cpu_pool::{BriefThreads, Threads, thread_time};
use domain::id::{GroupVersionId, RuleGroupId, TeamId};
use fair_share::{Limit, Share, Shares};
use store::verdict::ToJudge;

use crate::{
    findings::GroupFindings,
    lock,
    rule_group_cache::{Key, RuleGroupCache},
};

/// The processor time of a brief judgement. An ordinary one takes less than a hundredth.
const BRIEF: Duration = Duration::from_millis(20);

/// Judges by rule groups, in turns. Clones are the same one.
#[derive(Clone)]
pub(crate) struct RulePool {
    groups: RuleGroupCache,
    quick: Arc<Shares<TeamId>>,
    slow: Arc<Shares<TeamId>>,
    brief: Arc<BriefThreads>,
    long: Arc<Threads>,
    paces: Arc<Mutex<CpuUsage>>,
}

/// Rules that replace those of a group. If the group does not judge the item, they judge it in
/// addition to the other groups.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instead {
    /// The group.
    pub(crate) group: RuleGroupId,
    /// The rules.
    pub(crate) by: Key,
}

impl RulePool {
    /// One turn of each kind for each processor, and at least two, so that one team cannot have
    /// them all.
    pub(crate) fn new(groups: RuleGroupCache) -> Self {
        let processors = available_parallelism().map_or(1, NonZero::get);
        Self::at_once(groups, processors.max(2))
    }

    fn at_once(groups: RuleGroupCache, judgements: usize) -> Self {
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
    pub(crate) fn groups(&self) -> &RuleGroupCache {
        &self.groups
    }

    /// Examines an item with versions of groups, one after another. `instead` replaces the rules of
    /// one group.
    pub(crate) async fn examine(
        &self,
        team: TeamId,
        item: &Arc<ToJudge>,
        versions: &[GroupVersionId],
        instead: Option<Instead>,
    ) -> Result<Vec<GroupFindings>, BoxDynError> {
        let mut judgement =
            Judgement::new(self.groups.clone(), Arc::clone(item), versions, instead);
        loop {
            // Only a judgement with a turn holds a group, so no more groups are in use than there are turns.
            let turn = self.turn(team).await;
            let next = self.work(turn, move || judgement.go_on()).await?;
            match next {
                Next::Compile(key, rest) => {
                    judgement = rest;
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
            // While it waited, the team may have become slow or quick.
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
        // The caller may be gone before the work is done.
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

/// The state of an examination.
struct Judgement {
    groups: RuleGroupCache,
    item: Arc<ToJudge>,
    left: VecDeque<Key>,
    instead: Option<Instead>,
    /// Whether the other rules have had their turn.
    joined: bool,
    examined: Vec<GroupFindings>,
}

/// How a turn ends.
enum Next {
    /// A group must be compiled before the rest can judge.
    Compile(Key, Judgement),
    Done(Vec<GroupFindings>),
}

impl Judgement {
    fn new(
        groups: RuleGroupCache,
        item: Arc<ToJudge>,
        versions: &[GroupVersionId],
        instead: Option<Instead>,
    ) -> Self {
        Self {
            groups,
            item,
            left: versions.iter().copied().map(Key::Version).collect(),
            instead,
            joined: false,
            examined: Vec::with_capacity(versions.len() + 1),
        }
    }

    /// Examines the item with all groups that are compiled already.
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
            self.examined.push(GroupFindings::of(&self.item, &found));
            self.left.pop_front();
        }
    }
}

/// The part of a processor that a team may use in the long run without being slow. A thousand
/// judgements a second of an ordinary text by ten thousand rules take less.
const USUAL: f64 = 0.1;
/// How much processor time it may use in advance.
const AHEAD: Duration = Duration::from_millis(100);
/// The most processor time that is held against a team. A team whose judgements are brief again is
/// quick after a hundred seconds.
const MOST_OWED: Duration = Duration::from_secs(10);
/// How many teams are remembered. For a while there can be twice as many.
const TEAMS: usize = 10_000;

/// Whether a team's judgements are brief.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speed {
    Quick,
    Slow,
}

/// How much processor time teams' judgements take. Teams that were not seen for long are forgotten.
#[derive(Debug, Default)]
struct CpuUsage {
    recent: HashMap<TeamId, TeamUsage>,
    older: HashMap<TeamId, TeamUsage>,
}

#[derive(Clone, Copy, Debug)]
struct TeamUsage {
    /// The processor time that its judgements took, minus what it may use.
    owed: Duration,
    at: Instant,
}

impl TeamUsage {
    fn owed(&self, now: Instant) -> Duration {
        let since = now.saturating_duration_since(self.at);
        self.owed.saturating_sub(since.mul_f64(USUAL))
    }
}

impl CpuUsage {
    fn find(&self, team: TeamId) -> Option<&TeamUsage> {
        self.recent.get(&team).or_else(|| self.older.get(&team))
    }

    fn speed(&self, team: TeamId, now: Instant) -> Speed {
        match self.find(team) {
            Some(pace) if pace.owed(now) > AHEAD => Speed::Slow,
            Some(_) | None => Speed::Quick,
        }
    }

    fn judged(&mut self, team: TeamId, took: Duration, now: Instant) {
        let before = self.find(team).copied().unwrap_or(TeamUsage {
            owed: Duration::ZERO,
            at: now,
        });
        let pace = TeamUsage {
            owed: MOST_OWED.min(before.owed(now) + took),
            at: now,
        };
        if self.recent.len() >= TEAMS && !self.recent.contains_key(&team) {
            self.older = mem::take(&mut self.recent);
        }
        self.recent.insert(team, pace);
    }
}
