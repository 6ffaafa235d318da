//! A Postgres server for one test, with the queue's tables.

use std::ops::Deref;

use sqlx::{PgPool, postgres::PgPoolOptions};

use crate::{
    harness::{PATIENCE, prepare},
    server::Server,
};

/// The server, and a pool of the test.
pub(crate) struct Postgres {
    server: Server,
    pub(crate) pool: PgPool,
}

impl Postgres {
    /// Starts a server whose commits survive its crash, with the queue's tables and those of the
    /// tests.
    pub(crate) async fn start() -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/with-postgres");
        let server = Server::start(script);
        let pool = PgPoolOptions::new()
            .acquire_timeout(PATIENCE)
            .max_connections(4)
            .connect_lazy(&server.url)
            .unwrap();
        for setting in [
            "alter system set synchronous_commit = on",
            // Data that does not wait for the disk must not get there by itself before a crash.
            "alter system set wal_writer_delay = '10s'",
            "select pg_reload_conf()",
        ] {
            sqlx::raw_sql(setting).execute(&pool).await.unwrap();
        }
        queue::MIGRATOR.run(&pool).await.unwrap();
        prepare(&pool).await;
        Self { server, pool }
    }
}

impl Deref for Postgres {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}
