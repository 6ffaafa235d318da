//! The statements about windows.

mod give_back;
mod take;

use std::collections::HashMap;

use domain::{id::TeamId, rate_limit::RatePolicy};

pub(super) use self::{
    give_back::{call_in, give_back},
    take::take,
};
use super::Request;

/// What waits for shares of its key and of its team.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) request: Request,
    /// How many such requests wait.
    pub(super) requests: u32,
    /// How many of them the process holds shares of the key for,
    pub(super) held: u32,
    /// and of the team; none if it holds no share of this minute, or does not know the team.
    pub(super) team_held: Option<u32>,
}

/// Postgres's answer to a request for a share of a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given {
    /// How many requests it covers; may be fewer or more than were wanted.
    pub(super) share: u32,
    /// The limit in force.
    pub(super) limit: u32,
    /// What was not given out.
    pub(super) rest: u32,
    /// Whether other processes may hold unspent shares.
    pub(super) others: bool,
    /// The minute that the share is of, in seconds since 1970.
    pub(super) minute: i64,
    /// Until the end of that minute; may be past.
    pub(super) ends_in_ms: i64,
}

/// What a statement took.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// For each key that works: its team, and its share, unless the process held enough.
    pub(super) keys: HashMap<Request, (TeamId, Option<Given>)>,
    /// For each team of which the process did not hold enough.
    pub(super) teams: HashMap<(TeamId, RatePolicy), Given>,
}

fn signed(n: u32) -> i32 {
    i32::try_from(n).unwrap_or(i32::MAX)
}
