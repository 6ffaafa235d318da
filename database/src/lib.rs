//! How a process connects to Postgres.
//!
//! Every connection, in a [`pool`] or beside it ([`connect`]), is prepared in the same way. It gets
//! the settings that correctness needs, whatever the server's defaults are, and it proves that its
//! server can write. A connection of a pool proves this again from time to time. So no session is
//! used that a proxy or a name has left on a standby.
//!
//! A URL may name several hosts. [`watch`] finds out which of them can write, and leads the pools
//! there.

mod clock;
mod errors;
mod find;
mod fit;
mod late;
mod pool;
mod session;
mod url;
mod watch;

pub use self::{
    clock::Clock,
    errors::{count_error, expect_no_errors},
    find::Unreachable,
    fit::{Unfit, fit},
    late::{Late, late},
    pool::{PoolSettings, apart, for_command, pool},
    session::{Unwritable, connect},
    url::{Hosts, InvalidUrl},
    watch::{Watch, watch},
};
