//! Sites: the applications that submit media.
//!
//! A site is created with a webhook secret ([`create()`]) and gets keys ([`keys`]). Its team
//! changes its [`settings`] and rotates its [`webhook_secret`]. Submissions see a cached copy of it
//! ([`Sites`]).

mod create;
mod imported;
pub mod keys;
mod list;
pub mod readiness;
pub mod settings;
mod snapshot;
pub mod webhook_secret;

/// Two sites of a team cannot have one name.
const NAME_KEY: &str = "sites_name_key";

pub use self::{
    create::{FoundSite, create, find_named, team_of},
    imported::{import, is_named},
    list::of_team,
    snapshot::{Judges, Site, Sites, Subscriber},
};
