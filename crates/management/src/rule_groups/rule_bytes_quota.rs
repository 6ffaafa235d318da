//! How many bytes of rules a team can store in a day.

use domain::id::TeamId;
use store::rule_group;

use crate::{Conflict, Management, Refused, Session};

/// Refuses a team that has stored the allowed amount of rules within 24 hours.
pub(super) async fn require(
    management: &Management,
    session: &mut Session,
    team: TeamId,
) -> Result<(), Refused> {
    let stored = rule_group::stored_of_late(session.conn(), team).await?;
    let most = management.rules_per_day;
    if u64::try_from(stored).unwrap_or(0) < most {
        return Ok(());
    }
    let mib = most >> 20;
    let detail = format!(
        "The team has stored {mib} MiB of rules, in versions and backtests, within the last 24 hours, which is the most: try again later."
    );
    Err(Refused::conflict(Conflict::LimitReached, detail))
}
