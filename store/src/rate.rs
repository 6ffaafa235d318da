//! Rate limits of site keys, exact over all processes together.
//!
//! Postgres keeps, for each key and limit, how much of the present minute has been given out. A process takes a share and
//! spends it without asking again, so that a busy key costs a statement now and then. Once somebody wants more than is
//! left, the window is *scarce*: everybody gets only what he needs at that moment, and whoever still holds a part of an
//! earlier share gives it back when he is told to. A request is therefore refused only when nothing is left anywhere;
//! what a process that died held is lost until the minute ends.
//!
//! A share also proves its key: it is given only for one that works. What it proves is as old as the share, which is why
//! the accepting and the reading statements check the key again.

mod asker;
mod listener;
mod shares;
mod windows;

use std::sync::Arc;

use domain::{
    key::SecretHash,
    limit::{RatePolicy, RateWindow},
};
use metrics::counter;
use sqlx::PgPool;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use self::{
    asker::Asker,
    shares::{Shares, Spent},
};
use crate::{
    Error,
    gather::{Bounds, Gather},
};

/// What is limited: the use of a key for one thing.
type Limited = (SecretHash, RatePolicy);

/// Whether a request may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It is within the limit, and counted.
    Admitted(RateWindow),
    /// The limit is reached.
    Refused(RateWindow),
    /// There is no such key, or it is disabled.
    UnknownKey,
}

/// The rate limits as one process sees them.
#[derive(Clone)]
pub struct Rates {
    shares: Arc<Shares>,
    gather: Gather<Limited, Result<Admission, Error>>,
    /// Ends the listener with the last clone.
    _listening: Arc<DropGuard>,
}

const BOUNDS: Bounds = Bounds {
    waiting: 8_192,
    waiting_bytes: 1 << 20,
    batch: 512,
    batch_bytes: 1 << 20,
    // Shares are taken one statement at a time anyway: see `Asker`.
    runners: 1,
};

impl Rates {
    /// Starts with nothing in hand, and listens for processes that need what this one will hold.
    pub fn start(pool: PgPool) -> Self {
        for policy in RatePolicy::ALL {
            refused(*policy, 0);
        }
        let shares = Arc::new(Shares::default());
        let asker = Arc::new(Asker::new(pool, Arc::clone(&shares)));
        let stop = CancellationToken::new();
        tokio::spawn(
            stop.clone()
                .run_until_cancelled_owned(listener::run(Arc::clone(&asker))),
        );
        Self {
            shares,
            gather: Gather::start(BOUNDS, move |batch| Arc::clone(&asker).answer(batch)),
            _listening: Arc::new(stop.drop_guard()),
        }
    }

    /// Counts a request against the limit of its key, or refuses it.
    pub async fn admit(&self, key: SecretHash, policy: RatePolicy) -> Result<Admission, Error> {
        let limited = (key, policy);
        let admission = match self.shares.spend(limited, Instant::now()) {
            Spent::One(window) => Admission::Admitted(window),
            Spent::Nothing(window) => Admission::Refused(window),
            Spent::Unknown => self.gather.ask(limited, size_of::<Limited>()).await??,
        };
        if matches!(admission, Admission::Refused(_)) {
            refused(policy, 1);
        }
        Ok(admission)
    }
}

fn refused(policy: RatePolicy, requests: u64) {
    counter!("gatehouse_rate_limited_total", "policy" => policy.as_str()).increment(requests);
}
