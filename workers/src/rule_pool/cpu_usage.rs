//! How much processor time teams' judgements take. Slow teams share threads with a low priority.

use std::{
    collections::HashMap,
    mem,
    time::{Duration, Instant},
};

use domain::id::TeamId;

/// The part of a processor that a team may use in the long run without being slow. A thousand
/// judgements a second of an ordinary text by ten thousand rules take less.
const USUAL: f64 = 0.1;
/// How much processor time it may use in advance.
const AHEAD: Duration = Duration::from_millis(100);
/// The most processor time that is held against a team. A team whose judgements are brief again is
/// quick after a hundred seconds.
pub(super) const MOST_OWED: Duration = Duration::from_secs(10);
/// How many teams are remembered. For a while there can be twice as many.
const TEAMS: usize = 10_000;

/// Whether a team's judgements are brief.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speed {
    Quick,
    Slow,
}

/// How much processor time teams' judgements take. Teams that were not seen for long are forgotten.
#[derive(Debug, Default)]
pub(super) struct CpuUsage {
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

    pub(super) fn speed(&self, team: TeamId, now: Instant) -> Speed {
        match self.find(team) {
            Some(pace) if pace.owed(now) > AHEAD => Speed::Slow,
            Some(_) | None => Speed::Quick,
        }
    }

    pub(super) fn judged(&mut self, team: TeamId, took: Duration, now: Instant) {
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

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn team(number: u128) -> TeamId {
        Uuid::from_u128(number).into()
    }

    #[test]
    fn case_40_a_team_is_slow_whose_judgements_take_much_of_a_processor() {
        let (mut paces, start) = (CpuUsage::default(), Instant::now());
        assert_eq!(paces.speed(team(1), start), Speed::Quick);
        // For ten seconds, a hundred a second that take 50 us each, and now and then one that takes longer.
        let mut now = start;
        for number in 0..1_000 {
            now += Duration::from_millis(10);
            let took = Duration::from_micros(if number % 500 == 0 { 50_000 } else { 50 });
            paces.judged(team(1), took, now);
            assert_eq!(paces.speed(team(1), now), Speed::Quick);
        }
        // As many that take 3 ms each are none of them long, and together a third of a processor.
        for _ in 0..1_000 {
            now += Duration::from_millis(10);
            paces.judged(team(1), Duration::from_millis(3), now);
        }
        assert_eq!(paces.speed(team(1), now), Speed::Slow);
        paces.judged(team(1), Duration::from_mins(1), now);
        let after = |seconds| now + Duration::from_secs(seconds);
        assert_eq!(paces.speed(team(1), after(90)), Speed::Slow);
        assert_eq!(paces.speed(team(1), after(100)), Speed::Quick);
    }

    #[test]
    fn case_40_only_so_many_teams_are_remembered_and_the_latest_ones() {
        let (mut paces, now) = (CpuUsage::default(), Instant::now());
        for number in 0..5 * TEAMS as u128 {
            paces.judged(team(number), Duration::ZERO, now);
            assert!(paces.recent.len() <= TEAMS && paces.older.len() <= TEAMS);
        }
        assert!(paces.find(team(0)).is_none());
        assert!(paces.find(team(5 * TEAMS as u128 - 1)).is_some());
    }
}
