//! All faults, and what each may result in.

mod body;
mod connection;
mod http;
mod score;
mod status;

use super::Fault;

/// What a fault may result in: the reason of an error, [`UNSCORED`] or [`RIGHT`].
pub(crate) type Ends = &'static [&'static str];
/// There is an answer without the score.
pub(crate) const UNSCORED: &str = "unscored";
/// The score is right: the answer is unusual, but what it says is correct.
pub(crate) const RIGHT: &str = "right";

const MALFORMED: Ends = &["malformed"];
const AWAY: Ends = &["unreachable"];
const LATE: Ends = &["timed_out"];
const ENDLESS: Ends = &["timed_out", "unreachable", "malformed"];
const REFUSED: Ends = &["refused"];
const DENIED: Ends = &["denied"];
const LIMITED: Ends = &["limited"];
const FAILED: Ends = &["failed"];

impl Fault {
    /// All faults with their names, and what each may result in.
    pub(crate) fn all() -> impl Iterator<Item = &'static (&'static str, Self, Ends)> {
        let tables = [
            connection::CONNECTION,
            http::HTTP,
            status::STATUS,
            body::BODY,
            score::SCORE,
        ];
        tables.into_iter().flatten()
    }
}
