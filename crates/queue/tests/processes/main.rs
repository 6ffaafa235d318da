//! The queue's promises, on real processes, a real Postgres and real signals: what happens when
//! processes are killed, stopped and disconnected. Each test's name begins with the number of its
//! case in `docs/reliability.md`.
//!
//! A worker process is this program itself, started again for its one test [`worker::process`]. The
//! long cases are ignored here; `make reliability` runs them and all others.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot be set up shall panic"
)]
#![expect(clippy::print_stderr, reason = "the long cases tell how far they are")]

mod claims;
mod connections;
mod crashes;
mod external_service;
mod failures;
mod harness;
mod jobs;
mod kills;
mod load;
mod lock_collisions;
mod postgres;
#[path = "../shared/proxy.rs"]
mod proxy;
mod restarts;
#[expect(dead_code, reason = "the tests of the whole service need more of it")]
#[path = "../shared/server.rs"]
mod server;
mod stalls;
mod tenants;
mod worker;
