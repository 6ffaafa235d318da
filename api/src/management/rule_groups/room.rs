//! How much a team may store as rules in a day.

use domain::id::TeamId;
use store::rule_group;

use super::Management;
use crate::{
    management::session::Session,
    problem::{Code, Refusal},
};

/// Refuses what would store more rules, when the team has stored as much as it may within 24 hours.
pub(super) async fn require(
    management: &Management,
    session: &mut Session,
    team: TeamId,
) -> Result<(), Refusal> {
    let stored = rule_group::stored_of_late(session.conn(), team).await?;
    let most = management.rules_per_day;
    if u64::try_from(stored).unwrap_or(0) < most {
        return Ok(());
    }
    let mib = most >> 20;
    let detail = format!(
        "The team has stored {mib} MiB of rules, in versions and backtests, within the last 24 hours, which is the most: try again later."
    );
    Err(Refusal::new(Code::LimitReached, detail))
}
