//! A Postgres server for one test, which can be stopped, crashed and started again.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
    time::Duration,
};

use sqlx::{PgPool, postgres::PgPoolOptions};

use crate::harness::prepare;

/// A server that `scripts/with-postgres` started. It ends with the test, however the test ends.
pub(crate) struct Postgres {
    /// The script; it stops the server when its input ends.
    script: Child,
    /// The command that `stop` or `start` is appended to.
    control: String,
    pub(crate) pool: PgPool,
}

impl Postgres {
    /// Starts a server whose commits survive its crash, with the queue's tables and those of the
    /// tests.
    pub(crate) async fn start() -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/with-postgres");
        let tell = "echo \"$DATABASE_URL\"; echo \"$PG_CTL\"; cat >/dev/null";
        let mut script = Command::new(script)
            .args(["sh", "-c", tell])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut told = BufReader::new(script.stdout.take().unwrap()).lines();
        let mut tell = || told.next().expect("Postgres did not start").unwrap();
        let (url, control) = (tell(), tell());
        let pool = PgPoolOptions::new()
            .acquire_timeout(Duration::from_secs(1))
            .max_connections(4)
            .connect_lazy(&url)
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
        Self {
            script,
            control,
            pool,
        }
    }

    /// Ends its sessions, writes everything, stops.
    pub(crate) fn stop(&self) {
        self.control("stop -m fast");
    }

    /// Stops as if the power had failed, as far as a process can: data that was not written is
    /// lost.
    pub(crate) fn crash(&self) {
        self.control("stop -m immediate");
    }

    /// Starts again, on the same port.
    pub(crate) fn start_again(&self) {
        self.control("start");
    }

    fn control(&self, what: &str) {
        let ran = Command::new("sh")
            .args(["-c", &format!("{} {what}", self.control)])
            .current_dir("/")
            .stdout(Stdio::null())
            .status();
        assert!(ran.unwrap().success(), "pg_ctl {what} failed");
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        drop(self.script.stdin.take());
        let _ = self.script.wait();
    }
}
