//! What owners, moderators and operators can do. Each use case is written once, with its
//! authorisation, its checks and its entry in the audit log.
//!
//! The crate has several interfaces: the JSON interface (`api`) and the command line (`gatehouse
//! admin` and `gatehouse queue`). An interface parses the request into typed values, names the [`Caller`], calls one function,
//! and shows the result or the reason why it was [`Refused`]. Nothing here knows HTTP or SQL.
//!
//! Every use case runs in one transaction, a `Session`. It begins with a lookup of the caller's
//! credential. If something was changed, it ends with an entry in the audit log. Use cases of one request that only read
//! can share a transaction, a [`Snapshot`].

pub mod account;
pub mod audit_log;
pub mod closures;
mod connection_shares;
pub mod dead_jobs;
pub mod deliveries;
pub mod desk;
pub mod display_names;
mod endpoint_checks;
pub mod endpoints;
pub mod erasures;
mod error;
pub mod events;
pub mod exports;
pub mod hash_lists;
pub mod imports;
pub mod legal_holds;
pub mod media;
mod passwords;
pub mod people;
pub mod plans;
mod preview_pool;
pub mod providers;
pub mod provisioning;
pub mod queues;
mod rate_limit;
pub mod recoveries;
pub mod review_policies;
pub mod reviews;
pub mod rule_groups;
mod session;
mod sign_on;
pub mod site_keys;
pub mod sites;
mod stale_revision;
pub mod statistics;
pub mod subscriptions;
pub mod teams;
pub mod tokens;
mod trial_pool;
pub mod usage;
pub mod webhook_secrets;

// An async function is compiled again in each crate that awaits it, with all that it awaits. A boxed one is compiled here, once.
use async_recursion::async_recursion as boxed;
use queue::Queue;
use store::{PgPool, encryption::MasterKey};

pub(crate) use self::session::record;
pub use self::{
    endpoint_checks::{EndpointChecks, Judge, Ping},
    error::{Conflict, FieldFault, FieldProblem, Fields, Forbidden, NoImage, Noun, Refused},
    passwords::Passwords,
    preview_pool::{MakePreview, PreviewError, PreviewPool},
    rate_limit::{RateLimit, RateLimitSettings},
    session::{
        AnonymousCaller, Caller, Change, Credential, Doing, Session, Snapshot, created, difference,
    },
    sign_on::SignOn,
    stale_revision::{Changer, Outdated},
    trial_pool::{Analyse, Analysed, TrialPool},
};

/// What the use cases work with.
pub struct Management {
    /// The database.
    pub pool: PgPool,
    /// Tells the workers about new jobs.
    pub queue: Queue,
    /// Seals webhook secrets and headers. Commands that seal nothing need no key.
    pub master_key: Option<MasterKey>,
    /// Where rules are compiled and tried.
    pub trial_pool: TrialPool,
    /// Judges and tests webhook endpoints.
    pub endpoint_checks: EndpointChecks,
    /// Makes previews of images.
    pub preview_pool: PreviewPool,
    /// How many bytes of rules a team can store within 24 hours, in versions and backtests.
    pub rules_per_day: u64,
    /// Which archives of exports are read at the same time.
    pub exports: exports::ConcurrentReads,
    /// Counts requests.
    pub rate_limit: RateLimit,
    /// Hashes the passwords of people.
    pub passwords: Passwords,
    /// Where people sign in who need no password here. None: nowhere else.
    pub sign_on: Option<SignOn>,
}

impl Management {
    /// The key that seals secrets.
    ///
    /// # Errors
    /// It was not given.
    pub fn master_key(&self) -> Result<&MasterKey, Refused> {
        let missing = || Refused::Invalid("This needs the master key.".into());
        self.master_key.as_ref().ok_or_else(missing)
    }
}
