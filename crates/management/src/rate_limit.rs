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

use std::{
    collections::HashMap,
    hash::Hash,
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use domain::{actor::Actor, id::TeamId, key::SecretHash};
use fair_share::{Pacer, Proxies, Rate, TooFar, client};
use metrics::{Counter, counter};
use store::token::Grant;
use tokio::time::sleep;

use crate::{Refused, boxed, connection_shares::ConnectionShares};

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
    #[boxed]
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

struct Window {
    began: Instant,
    holders: HashMap<SecretHash, (Actor, Option<TeamId>)>,
    tokens: HashMap<Actor, u32>,
    teams: HashMap<TeamId, u32>,
    addresses: HashMap<IpAddr, u32>,
}

impl Window {
    fn new(now: Instant) -> Self {
        Self {
            began: now,
            holders: HashMap::new(),
            tokens: HashMap::new(),
            teams: HashMap::new(),
            addresses: HashMap::new(),
        }
    }

    /// Begins the next window if this one is over.
    fn turn(&mut self, now: Instant) {
        if now.duration_since(self.began) >= WINDOW {
            *self = Self::new(now);
        }
    }

    /// The team, if the token is known.
    fn arrive(
        &mut self,
        settings: &RateLimitSettings,
        address: Option<IpAddr>,
        token: Option<SecretHash>,
    ) -> Result<Option<TeamId>, Spent> {
        let holder = token.and_then(|token| self.holders.get(&token).copied());
        if let Some((token, team)) = holder {
            let has_more = |counts: Option<&u32>, limit| counts.is_none_or(|made| *made < limit);
            if !has_more(self.tokens.get(&token), settings.per_token) {
                return Err(self.spent(Whose::Token));
            }
            if let Some(team) = team
                && !has_more(self.teams.get(&team), settings.per_team)
            {
                return Err(self.spent(Whose::Team));
            }
        }
        match address.map(client) {
            Some(address) if !count(&mut self.addresses, address, settings.per_address) => {
                Err(self.spent(Whose::Address))
            }
            Some(_) | None => Ok(holder.and_then(|(_, team)| team)),
        }
    }

    fn admit(
        &mut self,
        settings: &RateLimitSettings,
        hash: SecretHash,
        token: Actor,
        team: Option<TeamId>,
    ) -> Result<(), Spent> {
        if self.holders.len() < COUNTED {
            self.holders.insert(hash, (token, team));
        }
        if !count(&mut self.tokens, token, settings.per_token) {
            return Err(self.spent(Whose::Token));
        }
        match team {
            Some(team) if !count(&mut self.teams, team, settings.per_team) => {
                Err(self.spent(Whose::Team))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn spent(&self, whose: Whose) -> Spent {
        let rest = WINDOW.saturating_sub(self.began.elapsed());
        Spent(whose, u32::try_from(rest.as_secs()).unwrap_or(0) + 1)
    }
}

/// Counts one more, unless the limit is reached.
fn count<K: Eq + Hash>(counts: &mut HashMap<K, u32>, key: K, limit: u32) -> bool {
    if counts.len() >= COUNTED && !counts.contains_key(&key) {
        return true;
    }
    let made = counts.entry(key).or_default();
    let admitted = *made < limit;
    *made += u32::from(admitted);
    admitted
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    Token,
    Team,
    Address,
}

/// Whose limit is used up, and in how many seconds requests are accepted again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Spent(Whose, pub(super) u32);

/// How many tokens, teams and addresses are counted in a window. Further ones are not counted: a
/// client with so many addresses gains nothing, because each address has its own limit.
const COUNTED: usize = 65_536;

#[cfg(test)]
mod tests;
