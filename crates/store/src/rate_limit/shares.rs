//! What a process holds of each window, and what it knows of the rest.

mod balances;
mod share;

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use domain::{
    id::TeamId,
    rate_limit::{RateScope, RateStanding},
};
use tokio::time::Instant;

use self::{
    balances::Held,
    share::{Share, standing},
};
use super::{
    Holder, Limited, Request,
    windows::{Taken, Wanted},
};

/// How long a window that has nothing left is refused without asking Postgres. Meanwhile the key
/// may have been disabled, and a process that did not answer may have given back its share.
const SURE: Duration = Duration::from_secs(1);

/// The shares of this process. Those of past minutes are forgotten once a minute, so there are
/// never more entries than keys and teams used in two minutes.
#[derive(Default)]
pub(super) struct Shares(Mutex<Held>);

/// What [`Shares::spend`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spent {
    /// The request is paid for.
    One(RateStanding),
    /// Nothing is left anywhere of this limit.
    Nothing(RateStanding, RateScope),
    /// Only Postgres knows.
    Unknown,
}

impl Shares {
    /// Pays for one request, out of both windows or out of neither.
    pub(super) fn spend(&self, request: Request, now: Instant) -> Spent {
        self.lock().spend(request, now)
    }

    /// The same for a request after Postgres was asked. The request is refused once nothing is left
    /// anywhere of one of its windows, and then other requests are refused for a moment too. It is
    /// also refused if this process holds nothing of the window and has waited long enough.
    pub(super) fn settle(&self, request: Request, now: Instant, waited: bool) -> Spent {
        let mut held = self.lock();
        let spent = held.spend(request, now);
        if spent != Spent::Unknown {
            return spent;
        }
        let Some((key, team)) = held.pair(request) else {
            return Spent::Unknown;
        };
        let is_over = |share: &Share| {
            let is_certain = share.expires > now && share.rest == 0 && !share.others;
            share.left == 0 && (waited || is_certain)
        };
        let scope = if is_over(key) {
            key.spent_until = Some(now + SURE);
            RateScope::Key
        } else if is_over(team) {
            team.spent_until = Some(now + SURE);
            RateScope::Team
        } else {
            return Spent::Unknown;
        };
        Spent::Nothing(standing(request.1, key, team, now), scope)
    }

    /// The team of a request's key, if it has been asked for lately.
    pub(super) fn team(&self, request: Request) -> Option<TeamId> {
        Some(self.lock().keys.get(&request)?.0)
    }

    /// What to ask Postgres for so many requests.
    pub(super) fn wanted(&self, request: Request, requests: u32, now: Instant) -> Wanted {
        let mut held = self.lock();
        let current = |share: &Share| (share.expires > now).then_some(share.left);
        let known = held
            .pair(request)
            .and_then(|(key, team)| Some((current(key)?, current(team))));
        let (held, team_held) = known.unwrap_or((0, None));
        Wanted {
            request,
            requests,
            held,
            team_held,
        }
    }

    /// Which of the two windows of a request this process holds nothing of.
    pub(super) fn lacking(&self, request: Request) -> Vec<Limited> {
        let (key, policy) = request;
        let mut held = self.lock();
        let Some((team, share)) = held.keys.get(&request).copied() else {
            return vec![(Holder::Key(key), policy)];
        };
        let mut lacking = Vec::new();
        if share.left == 0 {
            lacking.push((Holder::Key(key), policy));
        }
        if held
            .share((Holder::Team(team), policy))
            .is_none_or(|share| share.left == 0)
        {
            lacking.push((Holder::Team(team), policy));
        }
        lacking
    }

    /// Keeps what Postgres gave to a statement that began at this time. So a share ends here no
    /// later than in Postgres, whatever the clocks say.
    pub(super) fn put(&self, taken: &Taken, asked_at: Instant) {
        let now = Instant::now();
        let mut held = self.lock();
        held.sweep(now);
        for ((key, policy), (team, given)) in &taken.keys {
            if let Some(given) = given {
                let before = held.share((Holder::Key(*key), *policy)).copied();
                if let Some(share) = Share::joined(before, *given, asked_at, now) {
                    held.keys.insert((*key, *policy), (*team, share));
                }
            }
        }
        for ((team, policy), given) in &taken.teams {
            let before = held.share((Holder::Team(*team), *policy)).copied();
            if let Some(share) = Share::joined(before, *given, asked_at, now) {
                held.teams.insert((*team, *policy), share);
            }
        }
    }

    /// Takes out what is unspent.
    pub(super) fn surrender(&self, limited: Limited, now: Instant) -> u32 {
        match self.lock().share(limited) {
            Some(share) if share.expires > now => std::mem::take(&mut share.left),
            Some(_) | None => 0,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
