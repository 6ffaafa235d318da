//! Connections to the database, divided among teams. A team whose use cases take long has at most as many connections as
//! remain free. So it never has them all, and another team always finds one.
//!
//! Looking up a credential needs none of them: only then the team is known.

use std::{sync::Arc, time::Duration};

use domain::id::TeamId;
use fair_share::{Limit, Share, Shares};
use tokio::time::timeout;

use crate::Refused;

/// The holder of connections: a team, or the operators.
pub(crate) type Holder = Option<TeamId>;

/// A connection of a team, until it is dropped.
pub(crate) type ConnectionShare = Share<Holder>;

/// The connections.
pub(crate) struct ConnectionShares {
    connections: Arc<Shares<Holder>>,
    /// How long a request waits for its turn.
    patience: Duration,
}

impl ConnectionShares {
    pub(crate) fn new(connections: usize, patience: Duration) -> Self {
        Self {
            connections: Shares::new(connections),
            patience,
        }
    }

    /// A connection for this holder, if it can have one at once.
    pub(crate) fn at_once(&self, holder: Holder) -> Option<ConnectionShare> {
        self.connections.try_take(holder, 1, Limit::Fair).ok()
    }

    /// Waits for a connection for this holder.
    ///
    /// # Errors
    /// Its turn did not come in time.
    pub(crate) async fn wait(&self, holder: Holder) -> Result<ConnectionShare, Refused> {
        let taking = self.connections.take(holder, 1, Limit::Fair);
        timeout(self.patience, taking)
            .await
            .map_err(|_| Refused::Overloaded)
    }
}
