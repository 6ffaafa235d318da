//! The requests of one minute, counted by token, team and address.

use std::{collections::HashMap, hash::Hash, net::IpAddr, time::Instant};

use domain::{actor::Actor, id::TeamId, key::SecretHash};
use fair_share::client;

use super::{RateLimitSettings, WINDOW};

pub(super) struct Window {
    began: Instant,
    holders: HashMap<SecretHash, (Actor, Option<TeamId>)>,
    tokens: HashMap<Actor, u32>,
    teams: HashMap<TeamId, u32>,
    addresses: HashMap<IpAddr, u32>,
}

impl Window {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            began: now,
            holders: HashMap::new(),
            tokens: HashMap::new(),
            teams: HashMap::new(),
            addresses: HashMap::new(),
        }
    }

    /// Begins the next window if this one is over.
    pub(super) fn turn(&mut self, now: Instant) {
        if now.duration_since(self.began) >= WINDOW {
            *self = Self::new(now);
        }
    }

    /// The team, if the token is known.
    pub(super) fn arrive(
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

    pub(super) fn admit(
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
pub(super) fn count<K: Eq + Hash>(counts: &mut HashMap<K, u32>, key: K, limit: u32) -> bool {
    if counts.len() >= COUNTED && !counts.contains_key(&key) {
        return true;
    }
    let made = counts.entry(key).or_default();
    let admitted = *made < limit;
    *made += u32::from(admitted);
    admitted
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    Token,
    Team,
    Address,
}

/// Whose limit is used up, and in how many seconds requests are accepted again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spent(pub(super) Whose, pub(super) u32);

/// How many tokens, teams and addresses are counted in a window. Further ones are not counted: a
/// client with so many addresses gains nothing, because each address has its own limit.
pub(super) const COUNTED: usize = 65_536;

#[cfg(test)]
mod tests {
    use super::*;

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
