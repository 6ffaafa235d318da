//! The connections that requests of tenants may have open at the same time, divided among the teams.

use std::{sync::Arc, time::Duration};

use domain::id::TeamId;
use fair_share::{Limit, Share, Shares};
use futures::FutureExt as _;
use metrics::{counter, gauge};
use tokio::time::timeout;

/// How long a request waits for a connection that its team may open. Then its job goes back to the
/// queue.
const PATIENCE: Duration = Duration::from_secs(5);

/// The connections of a process.
#[derive(Debug)]
pub(super) struct Sockets(Arc<Shares<TeamId>>);

/// The right of a team to one open connection, for one request. It is given back when dropped, so drop the connection first.
#[derive(Debug)]
pub struct Socket {
    team: TeamId,
    _share: Share<TeamId>,
}

/// The team has all the connections open that it may have, and none became free in time. This is
/// not the receiver's fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the team's other requests use all connections of its share")]
pub struct Busy;

impl Sockets {
    pub(super) fn new(bound: usize) -> Self {
        // Set to 0 at the start. Otherwise Prometheus would not see the first increase.
        gauge!("gatehouse_outbound_connections").increment(0.0);
        for outcome in ["served", "gave_up"] {
            waited(outcome).increment(0);
        }
        Self(Shares::new(bound))
    }

    /// How many there are.
    pub(super) fn bound(&self) -> usize {
        self.0.capacity()
    }

    /// Waits for a turn, for a limited time.
    pub(super) async fn take(&self, team: TeamId) -> Result<Socket, Busy> {
        let mut taken = std::pin::pin!(self.0.take(team, 1, Limit::Fair));
        if let Some(share) = taken.as_mut().now_or_never() {
            return Ok(Socket::new(team, share));
        }
        if let Ok(share) = timeout(PATIENCE, taken).await {
            waited("served").increment(1);
            Ok(Socket::new(team, share))
        } else {
            waited("gave_up").increment(1);
            Err(Busy)
        }
    }

    /// Another socket, if the team may have it now.
    pub(super) fn spare(&self, team: TeamId) -> Option<Socket> {
        let share = self.0.try_take(team, 1, Limit::Fair).ok()?;
        Some(Socket::new(team, share))
    }
}

impl Socket {
    fn new(team: TeamId, share: Share<TeamId>) -> Self {
        gauge!("gatehouse_outbound_connections").increment(1.0);
        Self {
            team,
            _share: share,
        }
    }

    /// The team that has it.
    pub(super) fn team(&self) -> TeamId {
        self.team
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        gauge!("gatehouse_outbound_connections").decrement(1.0);
    }
}

fn waited(outcome: &'static str) -> metrics::Counter {
    counter!("gatehouse_outbound_waits_total", "outcome" => outcome)
}
