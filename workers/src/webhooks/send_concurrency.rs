//! Limits how many jobs of a process send at once, and divides them among the teams.
//!
//! A job has a *place* until its request turns out to be slow. So thousands of fast requests do not
//! delay each other, and jobs that only wait for a receiver leave their places to others. A job
//! loads several bodies at once only while it has a place, which limits their memory.

use std::{sync::Arc, time::Duration};

use fair_share::{Limit, Share, Shares};
use queue::Waits;
use store::delivery::Asker;
use tokio::time::timeout;

/// How long a job waits for a place. Then it goes back to the queue.
const PATIENCE: Duration = Duration::from_secs(20);

/// A request that takes longer than this is slow,
const SLOW: Duration = Duration::from_millis(50);
/// or longer than this while the process is busy, because then the delay may be our own.
const SLOW_FOR_THE_BUSY: Duration = Duration::from_millis(200);

/// The process is calm while at most one in this number of places is taken.
const CALM: usize = 16;

/// The places of a process.
#[derive(Clone)]
pub(super) struct SendConcurrency {
    places: Arc<Shares<Asker>>,
    /// Jobs that wait while all places are taken.
    for_any: Waits,
    /// Jobs that wait because their team has as many places as it may have.
    for_own: Waits,
}

/// The right to send requests.
pub(super) type SendPlace = Share<Asker>;

impl SendConcurrency {
    pub(super) fn new(places: usize, for_any: Waits, for_own: Waits) -> Self {
        Self {
            places: Shares::new(places),
            for_any,
            for_own,
        }
    }

    /// Waits for a place that this team may have. None: none became free in time.
    pub(super) async fn place(&self, team: Asker) -> Option<SendPlace> {
        let is_full = self.places.in_use() >= self.places.capacity();
        let waits = if is_full {
            &self.for_any
        } else {
            &self.for_own
        };
        let _waiting = waits.begin();
        let place = self.places.take(team, 1, Limit::Fair);
        timeout(PATIENCE, place).await.ok()
    }

    /// Whether the process is calm, so that more may be sent at once.
    pub(super) fn is_calm(&self) -> bool {
        self.places.in_use() * CALM <= self.places.capacity()
    }

    /// After how long a request counts as slow.
    pub(super) fn slow(&self) -> Duration {
        if self.is_calm() {
            SLOW
        } else {
            SLOW_FOR_THE_BUSY
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use domain::id::TeamId;
    use futures::FutureExt as _;
    use uuid::Uuid;

    use super::*;

    #[tokio::test]
    async fn who_waits_says_whether_for_any_place_or_for_one_of_its_team() {
        let (any, own) = (Waits::default(), Waits::default());
        let waiting = || (any.any(), own.any());
        let concurrency = SendConcurrency::new(2, any.clone(), own.clone());
        let [greedy, other] = [1, 2].map(|team| Some(TeamId::from(Uuid::from_u128(team))));

        let _first = concurrency.place(greedy).await.unwrap();
        assert_eq!(waiting(), (false, false));
        {
            let mut second = pin!(concurrency.place(greedy));
            assert!(
                second.as_mut().now_or_never().is_none(),
                "a team has used up its share"
            );
            assert_eq!(waiting(), (false, true));
        }
        assert_eq!(waiting(), (false, false), "it gave up");
        let _theirs = concurrency.place(other).await.unwrap();
        let mut second = pin!(concurrency.place(other));
        assert!(second.as_mut().now_or_never().is_none(), "all are taken");
        assert_eq!(waiting(), (true, false));
    }
}
