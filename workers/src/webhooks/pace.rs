//! How many jobs of a process send at once, divided among the teams.
//!
//! A job has a *place* until its request turns out to take long. So requests that are answered at once do not wait for
//! each other in thousands, and jobs that only wait for a receiver leave their places to others. A job loads several bodies at once
//! only while it has a place: that bounds their memory.

use std::{sync::Arc, time::Duration};

use shares::{Limit, Share, Shares};
use store::delivery::Asker;
use tokio::time::timeout;

/// How long a job waits for a place. Then it makes way for others and comes again later.
const PATIENCE: Duration = Duration::from_secs(20);

/// A request that takes longer than this is a slow one,
const SLOW: Duration = Duration::from_millis(50);
/// or than this, while the process has much to do: then the fault may be ours.
const SLOW_FOR_THE_BUSY: Duration = Duration::from_millis(200);

/// The process has little to do as long as no more than one of so many places is taken.
const CALM: usize = 16;

/// The places of a process.
#[derive(Clone)]
pub(super) struct Pace(Arc<Shares<Asker>>);

/// The right to send requests.
pub(super) type Place = Share<Asker>;

impl Pace {
    pub(super) fn new(places: usize) -> Self {
        Self(Shares::new(places))
    }

    /// Waits for a place that this team may have. None: none became free in time.
    pub(super) async fn place(&self, team: Asker) -> Option<Place> {
        timeout(PATIENCE, self.0.take(team, 1, Limit::Fair))
            .await
            .ok()
    }

    /// Whether so little is under way that more may be sent at once.
    pub(super) fn is_calm(&self) -> bool {
        self.0.in_use() * CALM <= self.0.capacity()
    }

    /// After how long a request is a slow one.
    pub(super) fn slow(&self) -> Duration {
        if self.is_calm() {
            SLOW
        } else {
            SLOW_FOR_THE_BUSY
        }
    }
}
