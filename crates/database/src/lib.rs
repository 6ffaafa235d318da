//! How a process connects to Postgres.
//!
//! Every connection, in a [`pool`] or beside it ([`connect`]), is prepared in the same way. It gets
//! the settings that correctness needs, whatever the server's defaults are, and it proves that its
//! server can write. A connection of a pool proves this again from time to time. So no session is
//! used that a proxy or a name has left on a standby.
//!
//! A URL may name several hosts. [`watch`] finds out which of them can write, and leads the pools
//! there. It also reports an outage, once for the whole process: see [`Trouble`].

mod clock;
mod errors;
mod find;
mod fit;
mod late;
mod outage;
mod plain;
mod pool;
pub mod scarcity;
mod session;
mod trim;
mod url;
mod watch;

pub use self::{
    clock::Clock,
    errors::{count_error, counted, expect_no_errors},
    find::Unreachable,
    fit::{Unfit, fit},
    late::{Late, late},
    outage::{Absence, Trouble},
    plain::{plain, words},
    pool::{PoolSettings, apart, for_command, pool},
    session::{Unwritable, connect},
    url::{Hosts, InvalidUrl},
    watch::{Watch, watch},
};
