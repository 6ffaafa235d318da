//! Checks the URLs of endpoints that tenants name, and sends test pings to them.
//! Only a few tests run at a time, so that nobody can use the service to probe other machines.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use domain::id::{EndpointId, TeamId};
use futures::future::BoxFuture;
use store::endpoint::{Pinged, Target};
use url::Url;

use crate::{Refused, boxed};

/// Checks a URL of a team by its text. The error says why it would not be contacted, and what to
/// do.
pub type Judge = Arc<dyn Fn(TeamId, &Url) -> Result<(), String> + Send + Sync>;

/// Sends a test. `None`: nothing was sent, because the team has no free connection now.
pub type Ping = Arc<dyn Fn(Target) -> BoxFuture<'static, Option<Pinged>> + Send + Sync>;

/// The interface to the egress guard and the HTTP client.
pub struct EndpointChecks {
    judge: Judge,
    ping: Option<Ping>,
    turns: Mutex<TestLimits>,
}

impl EndpointChecks {
    /// Checks and tests with these functions.
    pub fn new(judge: Judge, ping: Ping) -> Self {
        Self {
            judge,
            ping: Some(ping),
            turns: Mutex::new(TestLimits::new(Instant::now())),
        }
    }

    /// Checks without tests, for commands without a client for webhooks.
    pub fn without_tests(judge: Judge) -> Self {
        Self {
            judge,
            ping: None,
            turns: Mutex::new(TestLimits::new(Instant::now())),
        }
    }

    /// Checks a URL of a team by its text.
    ///
    /// # Errors
    /// Why it would not be contacted, and what to do.
    pub fn judge(&self, team: TeamId, url: &Url) -> Result<(), String> {
        (self.judge)(team, url)
    }

    /// Sends a test and waits for its end.
    ///
    /// # Errors
    /// Too many tests are running, the endpoint was tested too often in the last minute, or the
    /// team has no free connection.
    #[boxed]
    pub async fn ping(&self, target: Target) -> Result<Pinged, Refused> {
        let no_client = || Refused::Invalid("Endpoints cannot be tested from here.".into());
        let ping = self.ping.as_ref().ok_or_else(no_client)?;
        let team = target.team;
        self.with_turns(|turns| turns.take(Instant::now(), team, target.endpoint))
            .map_err(|seconds| Refused::TooManyPings { seconds })?;
        let _turn = Turn {
            endpoint_checks: self,
            team,
        };
        let pinged = ping(target).await;
        pinged.ok_or_else(|| Refused::TooManyPings { seconds: SOON })
    }

    fn with_turns<T>(&self, change: impl FnOnce(&mut TestLimits) -> T) -> T {
        change(&mut self.turns.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// How many tests run at once.
const AT_ONCE: usize = 16;

/// How many of them one team can have.
const TEAMS_AT_ONCE: usize = 2;

/// How many tests of one endpoint can begin within a window.
const IN_WINDOW: u32 = 6;

const WINDOW: Duration = Duration::from_mins(1);

/// In how many seconds to try again when too many tests are running.
const SOON: u32 = 5;

/// A running test. Dropping it ends the test: nobody waits for it any more.
struct Turn<'a> {
    endpoint_checks: &'a EndpointChecks,
    team: TeamId,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.endpoint_checks
            .with_turns(|turns| turns.give_back(self.team));
    }
}

/// The tests that run, and the times of recent tests.
struct TestLimits {
    running: HashMap<TeamId, usize>,
    window_began: Instant,
    in_window: HashMap<EndpointId, u32>,
}

impl TestLimits {
    fn new(now: Instant) -> Self {
        Self {
            running: HashMap::new(),
            window_began: now,
            in_window: HashMap::new(),
        }
    }

    /// Begins a test, or says in how many seconds one can begin.
    fn take(&mut self, now: Instant, team: TeamId, endpoint: EndpointId) -> Result<(), u32> {
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
