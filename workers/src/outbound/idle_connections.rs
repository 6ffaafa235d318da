//! Idle connections, kept for the next request. Their total number is limited. At the limit, the
//! team with the most loses one.
//!
//! A connection belongs to the team for which it was opened, and teams never share one. So an
//! address that the operator opened for one team stays closed for others.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap, VecDeque},
    sync::{Arc, Mutex, Weak},
    time::Duration,
};

use domain::id::TeamId;
use metrics::gauge;
use tokio::time::{Instant, sleep};
use url::{Host, Url};

use super::connection::Connection;
use crate::lock;

/// Where a connection leads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Origin {
    pub(super) is_https: bool,
    pub(super) host: Host<String>,
    pub(super) port: u16,
}

/// All idle connections of a process.
#[derive(Debug)]
pub(super) struct IdleConnections {
    bound: usize,
    kept_for: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    shelves: HashMap<TeamId, Shelf>,
    kept: usize,
    /// The number of the next connection. Connections are numbered in the order in which they were
    /// put here.
    next: u64,
    is_swept: bool,
}

/// The idle connections of a team.
#[derive(Debug, Default)]
struct Shelf {
    /// By destination, the oldest first.
    lines: HashMap<Origin, VecDeque<(u64, Connection)>>,
    /// All of them, the oldest first.
    ages: BTreeMap<u64, (Instant, Origin)>,
}

impl Origin {
    /// None for a URL without a host.
    pub(super) fn of(url: &Url) -> Option<Self> {
        Some(Self {
            is_https: url.scheme() == "https",
            host: url.host()?.to_owned(),
            port: url.port_or_known_default()?,
        })
    }
}

impl IdleConnections {
    /// Keeps up to `bound` connections, each for at most `kept_for`.
    pub(super) fn new(bound: usize, kept_for: Duration) -> Arc<Self> {
        gauge!("gatehouse_outbound_idle_connections").increment(0.0);
        Arc::new(Self {
            bound,
            kept_for,
            state: Mutex::default(),
        })
    }

    /// The team's most recently used connection to this destination. It is the most likely to be
    /// still open.
    pub(super) fn take(&self, team: TeamId, origin: &Origin) -> Option<Connection> {
        lock(&self.state).take(team, origin)
    }

    /// Keeps a connection. If there is no room, the team with the most connections loses its least
    /// recently used one.
    ///
    /// The caller still holds the socket of the connection, so there are never more than the
    /// connections in use plus `bound`.
    pub(super) fn put(self: &Arc<Self>, team: TeamId, origin: Origin, connection: Connection) {
        if self.bound == 0 {
            return;
        }
        let (evicted, is_swept) = {
            let mut state = lock(&self.state);
            let evicted = (state.kept >= self.bound).then(|| state.evict());
            state.put(team, origin, connection);
            (evicted, std::mem::replace(&mut state.is_swept, true))
        };
        drop(evicted);
        if !is_swept {
            tokio::spawn(sweep(Arc::downgrade(self)));
        }
    }

    /// Closes connections that were idle for too long, and returns when to call it again. None if
    /// no connection is left.
    fn close_expired(&self) -> Option<Duration> {
        let now = Instant::now();
        let (expired, next) = {
            let mut state = lock(&self.state);
            let expired = state.take_older_than(now, self.kept_for);
            let next = state.oldest().map(|since| since + self.kept_for - now);
            state.is_swept = next.is_some();
            (expired, next)
        };
        drop(expired);
        next
    }
}

async fn sweep(idle: Weak<IdleConnections>) {
    while let Some(wait) = idle.upgrade().and_then(|idle| idle.close_expired()) {
        sleep(wait).await;
    }
}

impl State {
    fn take(&mut self, team: TeamId, origin: &Origin) -> Option<Connection> {
        let of_team = self.shelves.get_mut(&team)?;
        let line = of_team.lines.get_mut(origin)?;
        let (number, connection) = line.pop_back()?;
        if line.is_empty() {
            of_team.lines.remove(origin);
        }
        of_team.ages.remove(&number);
        self.forget_empty(team);
        self.count(-1);
        Some(connection)
    }

    fn put(&mut self, team: TeamId, origin: Origin, connection: Connection) {
        let number = self.next;
        self.next += 1;
        let of_team = self.shelves.entry(team).or_default();
        of_team
            .ages
            .insert(number, (Instant::now(), origin.clone()));
        let line = of_team.lines.entry(origin).or_default();
        line.push_back((number, connection));
        self.count(1);
    }

    /// Takes the oldest connection of the team with the most.
    fn evict(&mut self) -> Option<Connection> {
        let most = |(_, of_team): &(&TeamId, &Shelf)| {
            let oldest = of_team.ages.keys().next().copied();
            (of_team.ages.len(), Reverse(oldest))
        };
        let team = self
            .shelves
            .iter()
            .max_by_key(most)
            .map(|(team, _)| *team)?;
        self.take_oldest(team)
    }

    fn take_oldest(&mut self, team: TeamId) -> Option<Connection> {
        let of_team = self.shelves.get_mut(&team)?;
        let (_, (_, origin)) = of_team.ages.pop_first()?;
        let line = of_team.lines.get_mut(&origin)?;
        let (_, connection) = line.pop_front()?;
        if line.is_empty() {
            of_team.lines.remove(&origin);
        }
        self.forget_empty(team);
        self.count(-1);
        Some(connection)
    }

    fn take_older_than(&mut self, now: Instant, age: Duration) -> Vec<Connection> {
        let teams: Vec<TeamId> = self.shelves.keys().copied().collect();
        let mut expired = Vec::new();
        for team in teams {
            while let Some(since) = self.shelves.get(&team).and_then(Shelf::oldest)
                && now.duration_since(since) >= age
                && let Some(connection) = self.take_oldest(team)
            {
                expired.push(connection);
            }
        }
        expired
    }

    fn oldest(&self) -> Option<Instant> {
        self.shelves.values().filter_map(Shelf::oldest).min()
    }

    fn forget_empty(&mut self, team: TeamId) {
        if self
            .shelves
            .get(&team)
            .is_some_and(|of_team| of_team.ages.is_empty())
        {
            self.shelves.remove(&team);
        }
    }

    fn count(&mut self, change: i8) {
        self.kept = self.kept.saturating_add_signed(change.into());
        gauge!("gatehouse_outbound_idle_connections").increment(f64::from(change));
    }
}

impl Shelf {
    fn oldest(&self) -> Option<Instant> {
        self.ages.values().next().map(|(since, _)| *since)
    }
}

impl Drop for State {
    fn drop(&mut self) {
        #[expect(clippy::cast_precision_loss, reason = "a few hundred connections")]
        gauge!("gatehouse_outbound_idle_connections").decrement(self.kept as f64);
    }
}
