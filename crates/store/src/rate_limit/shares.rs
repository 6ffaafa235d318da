//! What a process holds of each window, and what it knows of the rest.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use domain::{
    id::TeamId,
    key::SecretHash,
    rate_limit::{RatePolicy, RateScope, RateStanding, RateWindow, WINDOW_SECONDS},
};
use tokio::time::Instant;

use super::{
    Holder, Limited, Request,
    windows::{Taken, Wanted},
};
use crate::rate_limit::windows::Given;

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

/// A part of a window.
#[derive(Clone, Copy, Debug)]
struct Share {
    /// The minute as Postgres counts it, in seconds since 1970.
    minute: i64,
    expires: Instant,
    limit: u32,
    left: u32,
    /// What was not given out when Postgres was asked last.
    rest: u32,
    /// Whether other processes held parts then.
    others: bool,
    /// Until when nothing is certainly left anywhere.
    spent_until: Option<Instant>,
}

impl Share {
    /// What was held and what was given, as one. None: the minute is over already.
    fn joined(before: Option<Self>, given: Given, asked_at: Instant, now: Instant) -> Option<Self> {
        let valid = Duration::from_millis(u64::try_from(given.ends_in_ms).unwrap_or(0));
        let expires = asked_at + valid;
        let kept = before.filter(|share| share.minute == given.minute && share.expires > now);
        (expires > now).then(|| Self {
            minute: given.minute,
            expires,
            limit: given.limit,
            left: given.share + kept.map_or(0, |share| share.left),
            rest: given.rest,
            others: given.others,
            spent_until: None,
        })
    }

    fn window(&self, name: &'static str, now: Instant) -> RateWindow {
        let seconds = self
            .expires
            .saturating_duration_since(now)
            .as_secs_f64()
            .ceil();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and the length of a window"
        )]
        let resets_in = (seconds as u32).max(1);
        RateWindow {
            name,
            limit: self.limit,
            remaining: self.left + self.rest,
            resets_in,
        }
    }
}

fn standing(policy: RatePolicy, key: &Share, team: &Share, now: Instant) -> RateStanding {
    RateStanding {
        key: key.window(policy.name(RateScope::Key), now),
        team: team.window(policy.name(RateScope::Team), now),
    }
}

#[derive(Default)]
struct Held {
    keys: HashMap<(SecretHash, RatePolicy), (TeamId, Share)>,
    teams: HashMap<(TeamId, RatePolicy), Share>,
    sweep_at: Option<Instant>,
}

impl Held {
    fn spend(&mut self, request: Request, now: Instant) -> Spent {
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
    fn pair(&mut self, request: Request) -> Option<(&mut Share, &mut Share)> {
        let (team, key) = self.keys.get_mut(&request)?;
        let team = self.teams.get_mut(&(*team, request.1))?;
        Some((key, team))
    }

    fn share(&mut self, (holder, policy): Limited) -> Option<&mut Share> {
        match holder {
            Holder::Key(key) => self.keys.get_mut(&(key, policy)).map(|(_, share)| share),
            Holder::Team(team) => self.teams.get_mut(&(team, policy)),
        }
    }

    fn sweep(&mut self, now: Instant) {
        if self.sweep_at.is_none_or(|at| at <= now) {
            self.keys.retain(|_, (_, share)| share.expires > now);
            self.teams.retain(|_, share| share.expires > now);
            self.sweep_at = Some(now + Duration::from_secs(WINDOW_SECONDS.into()));
        }
    }
}

#[cfg(test)]
mod tests;
