//! Which tests can run at once, and how often one endpoint can be tested.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use domain::id::{EndpointId, TeamId};

use super::EndpointChecks;

/// How many tests run at once.
pub(super) const AT_ONCE: usize = 16;

/// How many of them one team can have.
pub(super) const TEAMS_AT_ONCE: usize = 2;

/// How many tests of one endpoint can begin within a window.
pub(super) const IN_WINDOW: u32 = 6;

pub(super) const WINDOW: Duration = Duration::from_mins(1);

/// In how many seconds to try again when too many tests are running.
pub(super) const SOON: u32 = 5;

/// A running test. Dropping it ends the test: nobody waits for it any more.
pub(super) struct Turn<'a> {
    pub(super) endpoint_checks: &'a EndpointChecks,
    pub(super) team: TeamId,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.endpoint_checks
            .with_turns(|turns| turns.give_back(self.team));
    }
}

/// The tests that run, and the times of recent tests.
pub(super) struct TestLimits {
    running: HashMap<TeamId, usize>,
    window_began: Instant,
    in_window: HashMap<EndpointId, u32>,
}

impl TestLimits {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            running: HashMap::new(),
            window_began: now,
            in_window: HashMap::new(),
        }
    }

    /// Begins a test, or says in how many seconds one can begin.
    pub(super) fn take(
        &mut self,
        now: Instant,
        team: TeamId,
        endpoint: EndpointId,
    ) -> Result<(), u32> {
        let running: usize = self.running.values().sum();
        let teams = self.running.get(&team).copied().unwrap_or(0);
        if running >= AT_ONCE || teams >= TEAMS_AT_ONCE {
            return Err(SOON);
        }
        if now.duration_since(self.window_began) >= WINDOW {
            self.window_began = now;
            self.in_window.clear();
        }
        let begun = self.in_window.entry(endpoint).or_default();
        if *begun >= IN_WINDOW {
            let rest = WINDOW.saturating_sub(now.duration_since(self.window_began));
            return Err(u32::try_from(rest.as_secs()).unwrap_or(SOON) + 1);
        }
        *begun += 1;
        *self.running.entry(team).or_default() += 1;
        Ok(())
    }

    fn give_back(&mut self, team: TeamId) {
        if let Some(running) = self.running.get_mut(&team) {
            *running -= 1;
            if *running == 0 {
                self.running.remove(&team);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn team(n: u128) -> TeamId {
        Uuid::from_u128(n).into()
    }

    fn endpoint(n: u128) -> EndpointId {
        Uuid::from_u128(n).into()
    }

    #[test]
    fn one_team_never_takes_all_turns_and_all_together_take_no_more_than_there_are() {
        let now = Instant::now();
        let mut turns = TestLimits::new(now);
        let mut taken = 0;
        for one in 0..20 {
            for n in 0..5 {
                taken += usize::from(turns.take(now, team(one), endpoint(10 * one + n)).is_ok());
            }
            assert!(taken <= TEAMS_AT_ONCE * (usize::try_from(one).unwrap() + 1));
        }
        assert_eq!(taken, AT_ONCE);
        turns.give_back(team(0));
        assert_eq!(turns.take(now, team(1), endpoint(1_000)), Err(SOON));
        assert_eq!(turns.take(now, team(0), endpoint(1_000)), Ok(()));
    }

    #[test]
    fn an_endpoint_is_tested_a_few_times_a_minute() {
        let now = Instant::now();
        let mut turns = TestLimits::new(now);
        let mut test = |at: Instant, tested: u128| {
            let turn = turns.take(at, team(1), endpoint(tested));
            if turn.is_ok() {
                turns.give_back(team(1));
            }
            turn
        };
        for _ in 0..IN_WINDOW {
            assert_eq!(test(now, 1), Ok(()));
        }
        let later = now + Duration::from_secs(20);
        assert_eq!(test(later, 1), Err(41));
        assert_eq!(test(later, 2), Ok(()));
        assert_eq!(test(now + WINDOW, 1), Ok(()));
    }
}
