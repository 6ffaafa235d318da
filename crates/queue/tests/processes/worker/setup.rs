//! What a worker process is told.

use std::time::Duration;

use queue::Config;
use serde::{Deserialize, Serialize};
use sqlx::{
    ConnectOptions as _, PgPool,
    postgres::{PgConnectOptions, PgSslMode},
};

use crate::{external_service::ExternalService, proxy::Proxy};

/// What a worker process is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Setup {
    pub(crate) database: String,
    pub(crate) witness: u16,
    pub(crate) concurrency: usize,
    pub(crate) prefetch: usize,
    pub(crate) lane_cap: Option<u32>,
    pub(crate) time_out_ms: u64,
    pub(crate) lease_ms: u64,
    pub(crate) poll_ms: u64,
    pub(crate) sweep_ms: u64,
    pub(crate) deadline_ms: u64,
}

impl Setup {
    /// Quick settings, on this database.
    pub(crate) fn on(pool: &PgPool) -> Self {
        Self {
            database: pool.connect_options().to_url_lossy().to_string(),
            witness: 0,
            concurrency: 16,
            prefetch: 32,
            lane_cap: None,
            time_out_ms: 30_000,
            // A process that waits for its turn on a busy machine keeps its lease.
            lease_ms: 2_500,
            poll_ms: 200,
            sweep_ms: 100,
            deadline_ms: 2_000,
        }
    }

    /// The same database, seen through a proxy.
    pub(crate) fn through(pool: &PgPool, proxy: &Proxy) -> Self {
        let options: PgConnectOptions = (*pool.connect_options()).clone();
        let options = options
            .host("127.0.0.1")
            .port(proxy.port)
            .ssl_mode(PgSslMode::Disable);
        Self {
            database: options.to_url_lossy().to_string(),
            ..Self::on(pool)
        }
    }

    /// Whom its jobs call.
    pub(crate) fn calling(self, witness: &ExternalService) -> Self {
        Self {
            witness: witness.port,
            ..self
        }
    }

    pub(super) fn config(&self) -> Config {
        let lease = Duration::from_millis(self.lease_ms);
        Config {
            lease,
            heartbeat: lease / 6,
            sweep: Duration::from_millis(self.sweep_ms),
            poll: Duration::from_millis(self.poll_ms),
            deadline: Duration::from_millis(self.deadline_ms),
            ..Config::default()
        }
    }
}
