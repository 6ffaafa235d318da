//! How a process connects to Postgres.
//!
//! Every connection, in a [`pool`] or beside it ([`connect`]), is prepared in the same way. It gets
//! the settings that correctness needs, whatever the server's defaults are, and it proves that its
//! server can write. A connection of a pool proves this again from time to time. So no session is
//! used that a proxy or a name has left on a standby.
//!
//! A URL may name several hosts. [`watch`] finds out which of them can write, and leads the pools
//! there. It also reports an outage, once for the whole process: see [`Trouble`].

mod connection_setup;
pub mod connection_shortage;
mod errors;
mod outage;
mod pool;
mod primary;
mod server_check;
mod url;
mod watch;

pub use self::{
    connection_setup::connect,
    errors::{
        DeadlineExceeded, Unwritable, count_error, counted, deadline_exceeded, error_message,
        expect_no_errors, plain_error,
    },
    outage::{Absence, Trouble},
    pool::{PoolSettings, for_command, pool, separate_pool},
    primary::Unreachable,
    server_check::{UnsuitableServer, check_server},
    url::{Hosts, InvalidUrl},
    watch::{Clock, Watch, watch},
};
