//! Looks up names, a limited number at a time.
//!
//! The operating system's resolver blocks a thread, up to half a minute without an answer, and
//! cannot be interrupted. So a lookup keeps its place until the resolver returns, even if its
//! caller has gone. Names that never resolve use up their own team's places, and never the threads
//! that others need.

use std::{
    fmt, io,
    net::{IpAddr, ToSocketAddrs as _},
    sync::Arc,
    time::Duration,
};

use domain::id::TeamId;
use fair_share::{Limit, Shares};
use tokio::{task::spawn_blocking, time::timeout};

use super::{Busy, OutboundError};

/// How long a lookup waits for its team's turn.
const PATIENCE: Duration = Duration::from_secs(5);

/// Looks up a name, on a thread that may block.
pub(super) type Resolver = dyn Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync;

/// The resolver of a process.
pub(super) struct Dns {
    resolver: Arc<Resolver>,
    places: Arc<Shares<TeamId>>,
}

impl Dns {
    /// Looks up at most `bound` names at once.
    pub(super) fn new(bound: usize, resolver: Arc<Resolver>) -> Self {
        Self {
            resolver,
            places: Shares::new(bound),
        }
    }

    /// All addresses of a name.
    pub(super) async fn look_up(
        &self,
        team: TeamId,
        name: &str,
    ) -> Result<Vec<IpAddr>, OutboundError> {
        let place = timeout(PATIENCE, self.places.take(team, 1, Limit::Fair))
            .await
            .map_err(|_| OutboundError::Busy(Busy))?;
        let (resolver, name) = (Arc::clone(&self.resolver), name.to_owned());
        let answer = spawn_blocking(move || {
            let _place = place;
            resolver(&name)
        });
        let answer = answer.await.unwrap_or_else(|error| Err(error.into()));
        answer.map_err(OutboundError::connecting)
    }
}

impl fmt::Debug for Dns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dns")
            .field("places", &self.places)
            .finish_non_exhaustive()
    }
}

/// The operating system's resolver.
pub(super) fn system() -> Arc<Resolver> {
    Arc::new(|name| {
        Ok((name, 0)
            .to_socket_addrs()?
            .map(|found| found.ip())
            .collect())
    })
}
