//! Slots for the items that a process judges at once. A team may have at most as many as remain
//! free. So a team whose items take long, or wait for heavy rules, leaves slots to others.
//!
//! An item that does not get a slot soon goes back to the queue, because its job would occupy a
//! slot that others need. It waits about as long as the items before it take, so each item goes
//! back once or twice, not many times.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use domain::id::TeamId;
use fair_share::{Limit, Share, Shares};
use tokio::time::timeout;

use crate::lock;

/// How long an item waits for a slot. Meanwhile its job takes a slot of its queue, too.
const PATIENCE: Duration = Duration::from_millis(20);
/// The estimate of how long an item takes, until one has ended.
const FIRST_GUESS: Duration = Duration::from_millis(50);
/// The shortest and the longest time for which an item goes back.
const SHORTEST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_mins(1);
/// The weight of the latest item in the average.
const LATEST: f64 = 0.2;
/// How many teams are remembered after their last item came back.
const TEAMS: usize = 10_000;

/// The slots of a process. Clones are the same ones.
#[derive(Clone)]
pub(crate) struct JudgingSlots {
    shares: Arc<Shares<TeamId>>,
    lines: Arc<Mutex<HashMap<TeamId, Line>>>,
}

/// The items of a team that went back to the queue.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// How long its items keep a slot, on average.
    average: Duration,
    /// When an item last left its slot. The items take at least the time since then.
    ended_at: Instant,
    /// When it is the turn of the last item that went back.
    last: Instant,
}

/// A slot, until dropped.
pub(crate) struct JudgingSlot {
    of: JudgingSlots,
    team: TeamId,
    since: Instant,
    _share: Share<TeamId>,
}

impl JudgingSlots {
    /// So many slots.
    pub(crate) fn new(slots: usize) -> Self {
        Self {
            shares: Shares::new(slots),
            lines: Arc::default(),
        }
    }

    /// A slot for an item of a team.
    ///
    /// # Errors
    /// No slot is free. Try again after the returned time.
    pub(crate) async fn take(&self, team: TeamId) -> Result<JudgingSlot, Duration> {
        let share = timeout(PATIENCE, self.shares.take(team, 1, Limit::Fair)).await;
        let now = Instant::now();
        let share = share.map_err(|_| self.put_back(team, now))?;
        Ok(JudgingSlot {
            of: self.clone(),
            team,
            since: now,
            _share: share,
        })
    }

    fn put_back(&self, team: TeamId, now: Instant) -> Duration {
        let mut lines = lock(&self.lines);
        if lines.len() >= TEAMS {
            lines.retain(|_, line| line.last > now);
        }
        let line = lines.entry(team).or_insert(Line {
            average: FIRST_GUESS,
            ended_at: now,
            last: now,
        });
        // A single team has half of the slots. Twice as many items come back as end, so that no
        // slot stays empty.
        let slots = u32::try_from(self.shares.capacity())
            .unwrap_or(u32::MAX)
            .max(1);
        let average = line
            .average
            .max(now.saturating_duration_since(line.ended_at));
        line.last = line.last.max(now) + average / slots;
        line.last
            .saturating_duration_since(now)
            .clamp(SHORTEST, LONGEST)
    }

    fn ended(&self, team: TeamId, took: Duration, now: Instant) {
        // Only for teams that need it. Most never wait.
        if let Some(line) = lock(&self.lines).get_mut(&team) {
            line.ended_at = now;
            line.average = line.average.mul_f64(1.0 - LATEST) + took.mul_f64(LATEST);
        }
    }
}

impl Drop for JudgingSlot {
    fn drop(&mut self) {
        let now = Instant::now();
        self.of.ended(self.team, now - self.since, now);
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[tokio::test]
    async fn case_40_a_team_whose_items_stay_leaves_places_to_others() {
        let slots = JudgingSlots::new(8);
        let (slow, other) = (TeamId::from(Uuid::now_v7()), TeamId::from(Uuid::now_v7()));
        let mut held = Vec::new();
        let mut away = Vec::new();
        for _ in 0..40 {
            match slots.take(slow).await {
                Ok(taken) => held.push(taken),
                Err(delay) => away.push(delay),
            }
        }
        assert_eq!(held.len(), 4, "as many as remain free");
        assert!(
            away.iter()
                .all(|delay| (SHORTEST..=LONGEST).contains(delay))
        );
        assert!(away.is_sorted(), "one after another: {away:?}");
        assert!(slots.take(other).await.is_ok(), "there is a slot");
        held.pop();
        assert!(
            slots.take(slow).await.is_ok(),
            "and one that was free again"
        );
    }

    #[tokio::test]
    async fn items_that_take_longer_stay_away_for_longer() {
        let slots = JudgingSlots::new(8);
        let team = TeamId::from(Uuid::now_v7());
        let now = Instant::now();
        slots.put_back(team, now);
        for _ in 0..50 {
            slots.ended(team, Duration::from_secs(8), now);
        }
        let delays: Vec<_> = (0..10).map(|_| slots.put_back(team, now)).collect();
        let last = delays.last().unwrap();
        assert!(
            *last > Duration::from_secs(8),
            "{last:?} for ten items of a second each"
        );
        for _ in 0..1_000 {
            assert!(slots.put_back(team, now) <= LONGEST);
        }
        // Before any item has ended, the estimate is the time since the first one began.
        let stuck = TeamId::from(Uuid::now_v7());
        assert_eq!(slots.put_back(stuck, now), SHORTEST);
        let later = now + Duration::from_secs(8);
        assert!(slots.put_back(stuck, later) >= Duration::from_secs(1));
        // A team is forgotten when none of its items is waiting.
        let later = now + Duration::from_hours(1);
        for _ in 0..2 * TEAMS {
            slots.put_back(TeamId::from(Uuid::now_v7()), later);
        }
        assert!(lock(&slots.lines).get(&team).is_none());
    }
}
