//! Checks the URLs of endpoints that tenants name, and sends test pings to them.
//! Only a few tests run at a time, so that nobody can use the service to probe other machines.

mod test_limits;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use domain::id::TeamId;
use futures::future::BoxFuture;
use store::endpoint::{Pinged, Target};
use url::Url;

use crate::Refused;
use test_limits::{SOON, TestLimits, Turn};

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
