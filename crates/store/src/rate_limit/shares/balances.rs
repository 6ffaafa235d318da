//! What is left of the shares that a process has, by key and by team.

use std::{collections::HashMap, time::Duration};

use domain::{
    id::TeamId,
    key::SecretHash,
    rate_limit::{RatePolicy, RateScope, WINDOW_SECONDS},
};
use tokio::time::Instant;

use super::{
    Spent,
    share::{Share, standing},
};
use crate::rate_limit::{Holder, Limited, Request};

#[derive(Default)]
pub(super) struct Held {
    pub(super) keys: HashMap<(SecretHash, RatePolicy), (TeamId, Share)>,
    pub(super) teams: HashMap<(TeamId, RatePolicy), Share>,
    pub(super) sweep_at: Option<Instant>,
}

impl Held {
    pub(super) fn spend(&mut self, request: Request, now: Instant) -> Spent {
        let Some((key, team)) = self.pair(request) else {
            return Spent::Unknown;
        };
        if key.expires <= now || team.expires <= now {
            return Spent::Unknown;
        }
        if key.left > 0 && team.left > 0 {
            key.left -= 1;
            team.left -= 1;
            return Spent::One(standing(request.1, key, team, now));
        }
        let is_spent =
            |share: &Share| share.left == 0 && share.spent_until.is_some_and(|until| until > now);
        let scope = if is_spent(key) {
            RateScope::Key
        } else if is_spent(team) {
            RateScope::Team
        } else {
            return Spent::Unknown;
        };
        Spent::Nothing(standing(request.1, key, team, now), scope)
    }

    /// The shares of a key and of its team.
    pub(super) fn pair(&mut self, request: Request) -> Option<(&mut Share, &mut Share)> {
        let (team, key) = self.keys.get_mut(&request)?;
        let team = self.teams.get_mut(&(*team, request.1))?;
        Some((key, team))
    }

    pub(super) fn share(&mut self, (holder, policy): Limited) -> Option<&mut Share> {
        match holder {
            Holder::Key(key) => self.keys.get_mut(&(key, policy)).map(|(_, share)| share),
            Holder::Team(team) => self.teams.get_mut(&(team, policy)),
        }
    }

    pub(super) fn sweep(&mut self, now: Instant) {
        if self.sweep_at.is_none_or(|at| at <= now) {
            self.keys.retain(|_, (_, share)| share.expires > now);
            self.teams.retain(|_, share| share.expires > now);
            self.sweep_at = Some(now + Duration::from_secs(WINDOW_SECONDS.into()));
        }
    }
}
