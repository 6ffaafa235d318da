//! How many requests the management interface takes in a minute: of a token, of all tokens of a team together, and of an
//! address. The team is the unit: more tokens give it no more requests, and what it is refused costs its address nothing, so
//! that it uses up nothing of a team that shares one.
//!
//! A team's requests are also spread over the minute: after a burst they wait for their turn.
//!
//! Counted is in this process, in windows of a minute that begin and end for all at once. Valid tokens are remembered for
//! a window, so that one which is over its limit is refused without asking the database.

use std::{
    collections::HashMap,
    hash::Hash,
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use domain::{actor::Actor, id::TeamId, key::SecretHash};
use metrics::{Counter, counter};
use shares::{Pacer, Proxies, Rate, TooFar, client};
use store::token::Grant;
use tokio::time::sleep;

use crate::Refused;

const WINDOW: Duration = Duration::from_mins(1);
/// How many tokens, teams and addresses are counted in a window. Further ones are not: a client with so many addresses
/// gains nothing by it, because each address has a limit of its own.
const COUNTED: usize = 65_536;

/// Whatever its limit, a team's requests are not spread thinner than this.
const LEAST_PER_SECOND: f64 = 10.0;
/// The longest that a request waits for its turn.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Requests a minute, in each process.
#[derive(Clone, Debug)]
pub struct PaceSettings {
    /// Of one token.
    pub per_token: u32,
    /// Of all tokens of one team.
    pub per_team: u32,
    /// Of one address, with whatever tokens, those included that are not valid.
    pub per_address: u32,
    /// Whose addresses stand for many clients, so that they are not counted.
    pub proxies: Proxies,
}

impl Default for PaceSettings {
    /// One team never uses up the limit of an address that it shares with another.
    fn default() -> Self {
        Self {
            per_token: 600,
            per_team: 1_200,
            per_address: 2_400,
            proxies: Proxies::default(),
        }
    }
}

/// Counts requests.
pub struct Pace {
    settings: PaceSettings,
    window: Mutex<Window>,
    pacer: Pacer<TeamId>,
    refused: [Counter; 3],
    waited: Counter,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    Token,
    Team,
    Address,
}

/// Whose limit is used up, and in how many seconds there are requests again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Spent(Whose, u32);

struct Window {
    began: Instant,
    holders: HashMap<SecretHash, (Actor, Option<TeamId>)>,
    tokens: HashMap<Actor, u32>,
    teams: HashMap<TeamId, u32>,
    addresses: HashMap<IpAddr, u32>,
}

impl Pace {
    /// Counts from now on.
    pub fn new(settings: PaceSettings) -> Self {
        let refused = ["management_token", "management_team", "management_address"].map(|policy| {
            let counter = counter!("gatehouse_rate_limited_total", "policy" => policy);
            counter.increment(0);
            counter
        });
        let waited = counter!("gatehouse_paced_requests_total", "policy" => "management_team");
        waited.increment(0);
        Self {
            settings,
            window: Mutex::new(Window::new(Instant::now())),
            pacer: Pacer::new(),
            refused,
            waited,
        }
    }

    /// Counts a request from an address, before anything is done for it, and waits for its turn among those of its team, if
    /// the token is a known one.
    ///
    /// # Errors
    /// The token, its team or the address has had its requests of this minute, or too many of the team's wait already.
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
    /// The token or its team has had its requests of this minute.
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

    /// The team, if the token is a known one.
    fn arrive(
        &mut self,
        settings: &PaceSettings,
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
        settings: &PaceSettings,
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

/// Counts one more, if there may be one.
fn count<K: Eq + Hash>(counts: &mut HashMap<K, u32>, key: K, limit: u32) -> bool {
    if counts.len() >= COUNTED && !counts.contains_key(&key) {
        return true;
    }
    let made = counts.entry(key).or_default();
    let admitted = *made < limit;
    *made += u32::from(admitted);
    admitted
}

#[cfg(test)]
mod tests {
    use domain::{key::ManagementToken, reach::Reach};
    use futures::FutureExt as _;
    use uuid::Uuid;

    use super::*;

    const SETTINGS: fn() -> PaceSettings = || PaceSettings {
        per_token: 3,
        per_team: 5,
        per_address: 20,
        proxies: Proxies::new(["10.0.0.0/8".parse().unwrap()]),
    };

    fn hash(n: u128) -> SecretHash {
        ManagementToken::generate(std::iter::repeat(u8::try_from(n).unwrap())).hash()
    }

    fn actor(n: u128) -> Actor {
        Actor::Token(Uuid::from_u128(n).into())
    }

    /// What the interface does with a request of a valid token.
    fn ask(window: &mut Window, address: &str, token: u128, team: Option<u128>) -> Option<Whose> {
        let settings = SETTINGS();
        let team = team.map(|team| Uuid::from_u128(team).into());
        window
            .arrive(&settings, Some(address.parse().unwrap()), Some(hash(token)))
            .and_then(|_| window.admit(&settings, hash(token), actor(token), team))
            .err()
            .map(|Spent(whose, _)| whose)
    }

    #[test]
    fn a_token_a_team_and_an_address_have_their_requests_and_the_next_minute_more() {
        let mut window = Window::new(Instant::now());
        for _ in 0..3 {
            assert_eq!(ask(&mut window, "192.0.2.1", 1, Some(7)), None);
        }
        assert_eq!(
            ask(&mut window, "192.0.2.1", 1, Some(7)),
            Some(Whose::Token)
        );
        for _ in 0..2 {
            assert_eq!(ask(&mut window, "192.0.2.1", 2, Some(7)), None);
        }
        assert_eq!(ask(&mut window, "192.0.2.2", 2, Some(7)), Some(Whose::Team));
        // Another team behind the same address is not concerned.
        assert_eq!(ask(&mut window, "192.0.2.1", 3, Some(8)), None);
        window.turn(window.began + WINDOW);
        assert_eq!(ask(&mut window, "192.0.2.1", 1, Some(7)), None);
    }

    #[test]
    fn what_a_team_is_refused_costs_its_address_nothing() {
        let mut window = Window::new(Instant::now());
        for _ in 0..1_000 {
            for token in [1, 2, 3] {
                ask(&mut window, "192.0.2.1", token, Some(7));
            }
        }
        for token in [4, 5, 6] {
            assert_eq!(ask(&mut window, "192.0.2.1", token, Some(8)), None);
        }
    }

    #[test]
    fn tokens_that_are_not_valid_count_for_their_address() {
        let mut window = Window::new(Instant::now());
        let mut guess = |n| {
            let address = Some("192.0.2.1".parse().unwrap());
            window.arrive(&SETTINGS(), address, (n > 10).then(|| hash(n)))
        };
        for n in 0..20 {
            assert!(guess(n).is_ok());
        }
        assert!(matches!(guess(20), Err(Spent(Whose::Address, 1..=60))));
        assert_eq!(ask(&mut window, "192.0.2.1", 1, None), Some(Whose::Address));
        assert_eq!(ask(&mut window, "192.0.2.2", 1, None), None);
    }

    #[tokio::test]
    async fn a_team_waits_for_its_turns_after_a_burst_whatever_its_tokens() {
        // 10 a second, 20 at once.
        let pace = Pace::new(PaceSettings {
            per_team: 600,
            ..PaceSettings::default()
        });
        for (token, team) in [(1, 7), (2, 7), (3, 8)] {
            let grant = Grant {
                actor: actor(token),
                reach: Reach::Team(Uuid::from_u128(team).into()),
                scopes: Vec::new(),
                expires_at: None,
                generation: 0,
            };
            pace.admit(hash(token), &grant).ok().unwrap();
        }
        let address = "192.0.2.1".parse().unwrap();
        let arrive = |token| pace.arrive(address, Some(hash(token)));
        let began = Instant::now();
        for number in 0..25 {
            arrive(1 + number % 2).await.ok().unwrap();
        }
        let took = began.elapsed();
        assert!(took >= Duration::from_millis(500), "{took:?}");
        // A turn that nobody waits for is lost, so these are further and further away.
        let refused = (0..100).any(|_| arrive(1).now_or_never().is_some_and(|turn| turn.is_err()));
        assert!(refused, "nobody waits for more than {LONGEST_WAIT:?}");
        let other = arrive(3).now_or_never();
        assert!(other.is_some_and(|turn| turn.is_ok()), "another team waits");
    }

    #[test]
    fn the_table_is_bounded() {
        let mut counts = HashMap::new();
        for key in 0..2 * COUNTED {
            assert!(count(&mut counts, key, 1));
        }
        assert_eq!(counts.len(), COUNTED);
        assert!(
            !count(&mut counts, 0, 1),
            "those that are counted still are"
        );
    }
}
