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
mod error_counts;
mod primary;
mod server_check;
mod deadline;
mod outage;
mod error_text;
mod pool;
pub mod connection_shortage;
mod connection_setup;
mod idle_connections;
mod url;
mod watch;

pub use self::{
    clock::Clock,
    error_counts::{count_error, counted, expect_no_errors},
    primary::Unreachable,
    server_check::{UnsuitableServer, check_server},
    deadline::{DeadlineExceeded, deadline_exceeded},
    outage::{Absence, Trouble},
    error_text::{plain_error, error_message},
    pool::{PoolSettings, separate_pool, for_command, pool},
    connection_setup::{Unwritable, connect},
    url::{Hosts, InvalidUrl},
    watch::{Watch, watch},
};
