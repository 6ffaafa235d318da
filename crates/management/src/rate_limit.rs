//! How many requests a minute the management interface accepts from a token, from all tokens of a
//! team, and from an address. The team is the unit: more tokens give it no more requests. Its
//! refused requests do not count for its address, so a team cannot use up the limit of an address
//! that it shares with another team.
//!
//! A team's requests are also spread over the minute: after a burst, they wait for their turn.
//!
//! Each process counts for itself, in windows of a minute that begin and end for everybody at the
//! same time. Valid tokens are remembered for a window. So a token that is over its limit is
//! refused without a query.

mod window;

use std::{
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use domain::{id::TeamId, key::SecretHash};
use fair_share::{Pacer, Proxies, Rate, TooFar};
use metrics::{Counter, counter};
use store::token::Grant;
use tokio::time::sleep;

use crate::{Refused, connection_shares::ConnectionShares};
use window::{Spent, Whose, Window};

const WINDOW: Duration = Duration::from_mins(1);

/// Requests a second. Even with a lower limit, a team's requests are not delayed to fewer than
/// this.
const LEAST_PER_SECOND: f64 = 10.0;
/// The longest that a request waits for its turn.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Requests a minute, in each process.
#[derive(Clone, Debug)]
pub struct RateLimitSettings {
    /// From one token.
    pub per_token: u32,
    /// From all tokens of one team.
    pub per_team: u32,
    /// From one address, with any tokens, including invalid ones.
    pub per_address: u32,
    /// Requests of all teams that use the database at the same time. It is the number of connections. One team has at
    /// most as many as remain free.
    pub at_once: u32,
    /// How long a request waits until its team may use the database.
    pub patience: Duration,
    /// Proxies, whose addresses stand for many clients and are not counted.
    pub proxies: Proxies,
}

impl Default for RateLimitSettings {
    /// One team never uses up the limit of an address that it shares with another.
    fn default() -> Self {
        Self {
            per_token: 600,
            per_team: 1_200,
            per_address: 2_400,
            at_once: 4,
            patience: Duration::from_secs(10),
            proxies: Proxies::default(),
        }
    }
}

/// Counts requests.
pub struct RateLimit {
    settings: RateLimitSettings,
    window: Mutex<Window>,
    pacer: Pacer<TeamId>,
    pub(crate) turns: ConnectionShares,
    refused: [Counter; 3],
    waited: Counter,
}

impl RateLimit {
    /// Begins to count now.
    pub fn new(settings: RateLimitSettings) -> Self {
        let refused = ["management_token", "management_team", "management_address"].map(|policy| {
            let counter = counter!("gatehouse_rate_limited_total", "policy" => policy);
            counter.increment(0);
            counter
        });
        let waited = counter!("gatehouse_paced_requests_total", "policy" => "management_team");
        waited.increment(0);
        Self {
            turns: ConnectionShares::new(settings.at_once as usize, settings.patience),
            settings,
            window: Mutex::new(Window::new(Instant::now())),
            pacer: Pacer::new(),
            refused,
            waited,
        }
    }

    /// Counts a request from an address before anything is done for it. If the token is known,
    /// waits for its turn among the requests of its team.
    ///
    /// # Errors
    /// The token, its team or the address has used up its requests of this minute, or too many
    /// requests of the team are waiting.
    pub async fn arrive(&self, address: IpAddr, token: Option<SecretHash>) -> Result<(), Refused> {
        let address = Some(address).filter(|address| !self.settings.proxies.contain(*address));
        let team = self.judged(|window| window.arrive(&self.settings, address, token))?;
        let Some(team) = team else { return Ok(()) };
        let per_second = f64::from(self.settings.per_team) / WINDOW.as_secs_f64();
        let rate = Rate::per_second(per_second.max(LEAST_PER_SECOND));
        let turn = self.pacer.turn(team, rate, LONGEST_WAIT);
        let wait = turn.map_err(|TooFar(wait)| {
            let seconds = u32::try_from(wait.as_secs()).unwrap_or(u32::MAX);
            self.refusal(Spent(Whose::Team, seconds.max(1)))
        })?;
        if !wait.is_zero() {
            self.waited.increment(1);
            sleep(wait).await;
        }
        Ok(())
    }

    /// Counts a request of a valid token.
    ///
    /// # Errors
    /// The token or its team has used up its requests of this minute.
    pub(crate) fn admit(&self, token: SecretHash, grant: &Grant) -> Result<(), Refused> {
        self.judged(|window| window.admit(&self.settings, token, grant.actor, grant.reach.team()))
    }

    fn judged<T>(&self, judge: impl FnOnce(&mut Window) -> Result<T, Spent>) -> Result<T, Refused> {
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        window.turn(Instant::now());
        let judged = judge(&mut window);
        drop(window);
        judged.map_err(|spent| self.refusal(spent))
    }

    fn refusal(&self, Spent(whose, wait): Spent) -> Refused {
        let (counter, name, limit) = match whose {
            Whose::Token => (0, "this token", self.settings.per_token),
            Whose::Team => (1, "this token's team", self.settings.per_team),
            Whose::Address => (2, "your address", self.settings.per_address),
        };
        self.refused[counter].increment(1);
        Refused::RateLimited {
            whose: name,
            limit,
            seconds: wait,
        }
    }
}

#[cfg(test)]
mod tests;
