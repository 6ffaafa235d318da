//! What owners, moderators and operators may do. Each use case is written once, with its authorisation, its checks and its
//! row in the audit log.
//!
//! The crate has several faces: the JSON interface (`api`) and the command line (`gatehouse admin`). A face turns what
//! it was asked into typed values, names the [`Caller`], calls one function, and shows the result or why it was
//! [`Refused`]. Nothing here knows HTTP or SQL.
//!
//! Every use case runs in one transaction, a `Session`. It begins by looking the caller's credential up. If
//! something was changed, it ends by recording that.

pub mod account;
mod caller;
mod outlet;
mod pace;
mod passwords;
pub mod people;
mod refused;
mod session;
pub mod sites;
mod visitor;
mod workbench;

pub use self::{
    caller::{Caller, Credential},
    outlet::{Judge, Outlet, Ping},
    pace::{Pace, PaceSettings},
    passwords::Passwords,
    refused::{Conflict, FieldFault, FieldProblem, Fields, Forbidden, Noun, Refused},
    session::{Change, Doing, Session, created, difference},
    visitor::Visitor,
    workbench::{Analyse, Analysed, Checked, Holder, Workbench},
};

use queue::Queue;
use store::{PgPool, seal::MasterKey};

/// What the use cases work with.
pub struct Management {
    /// The database.
    pub pool: PgPool,
    /// Tells the workers about new jobs.
    pub queue: Queue,
    /// Seals the webhook secrets of new sites.
    pub master_key: MasterKey,
    /// Where rules are compiled and tried.
    pub workbench: Workbench,
    /// Judges and tests webhook endpoints.
    pub outlet: Outlet,
    /// Bytes of rules that a team may store within 24 hours, in versions and backtests.
    pub rules_per_day: u64,
    /// Counts requests.
    pub pace: Pace,
    /// Hashes the passwords of people.
    pub passwords: Passwords,
}
