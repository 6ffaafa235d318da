//! How a process connects to Postgres.
//!
//! Every connection, in a [`pool`] or beside it ([`connect`]), is prepared the same way: it is given the settings that
//! correctness needs, whatever the server's defaults are, and it proves that its server can write. A connection of a pool
//! proves it again while it lives. So a session that a proxy or a name left on a standby is not used.
//!
//! A URL may name several hosts. [`watch`] finds out which of them can write, and leads the pools there.

mod clock;
mod find;
mod fit;
mod pool;
mod session;
mod url;
mod watch;

use std::{io, time::Duration};

pub use self::{
    clock::Clock,
    find::Unreachable,
    fit::{Unfit, fit},
    pool::{PoolSettings, apart, for_command, pool},
    session::{Unwritable, connect},
    url::{Hosts, InvalidUrl},
    watch::{Watch, watch},
};

/// The error of a statement that had no answer in time.
pub fn late(patience: Duration) -> sqlx::Error {
    let told = format!("no answer within {patience:?}");
    sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, told))
}
