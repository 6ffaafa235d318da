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

mod jobs;
mod claims;
mod lock_collisions;
mod connections;
mod crashes;
mod failures;
mod harness;
mod kills;
mod load;
mod postgres;
#[path = "../shared/proxy.rs"]
mod proxy;
mod restarts;
#[expect(dead_code, reason = "the tests of the whole service need more of it")]
#[path = "../shared/server.rs"]
mod server;
mod stalls;
mod tenants;
mod external_service;
mod worker;
