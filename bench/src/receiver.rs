//! A receiver of webhooks. It verifies everything that a receiver can verify, remembers what came
//! when, and can fail or be slow on purpose.

mod arrivals;
mod read;
mod serve;
#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use domain::signature::WebhookSecret;
use rand::{SeedableRng as _, rngs::StdRng};
use tokio::net::TcpListener;

pub(crate) use self::arrivals::{Arrival, Arrivals, Key};
use self::serve::listen;

/// How badly the receiver behaves.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Manners {
    /// The share of requests that are answered with a 500, from 0 to 1.
    pub(crate) failing: f64,
    /// How long every answer takes.
    pub(crate) delay: Duration,
    /// Accepts everything, and only counts it.
    pub(crate) careless: bool,
    /// Can be killed, because everything comes through a relay.
    pub(crate) mortal: bool,
}

struct Shared {
    manners: Manners,
    secrets: Mutex<Vec<WebhookSecret>>,
    random: Mutex<StdRng>,
    /// Sites that are answered later than others.
    slow: Mutex<HashMap<usize, Duration>>,
    seen: Mutex<Arrivals>,
}

/// A running receiver.
pub(crate) struct Receiver {
    address: SocketAddr,
    /// The address in its URLs.
    public: SocketAddr,
    shared: Arc<Shared>,
}

impl Receiver {
    /// Listens on a free port of this machine.
    pub(crate) async fn start(manners: Manners, seed: u64) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            manners,
            secrets: Mutex::default(),
            random: Mutex::new(StdRng::seed_from_u64(seed)),
            slow: Mutex::default(),
            seen: Mutex::default(),
        });
        tokio::spawn(listen(listener, Arc::clone(&shared)));
        Ok(Self {
            address,
            public: address,
            shared,
        })
    }

    /// Where it listens.
    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on, its URLs have this address, which passes requests on to it.
    pub(crate) const fn move_behind(&mut self, public: SocketAddr) {
        self.public = public;
    }

    /// The URL for webhooks that are signed with this secret. Sites are counted from 0.
    pub(crate) fn url_for(&self, secret: WebhookSecret) -> String {
        let mut secrets = lock(&self.shared.secrets);
        secrets.push(secret);
        format!("http://{}/{}", self.public, secrets.len() - 1)
    }

    /// From now on, answers to these sites only after these delays, and to all others as before.
    pub(crate) fn slow_down(&self, sites: impl IntoIterator<Item = (usize, Duration)>) {
        *lock(&self.shared.slow) = sites.into_iter().collect();
    }

    /// What came so far.
    pub(crate) fn seen(&self) -> MutexGuard<'_, Arrivals> {
        lock(&self.shared.seen)
    }

    /// Forgets what came.
    pub(crate) fn clear(&self) {
        *self.seen() = Arrivals::default();
    }
}

/// A panic elsewhere ends the benchmark anyway.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
