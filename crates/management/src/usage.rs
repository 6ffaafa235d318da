//! How much of its plan a team has used.

use domain::{id::TeamId, scope::Scope};
use store::usage;
pub use store::usage::Period;

use crate::{Caller, Noun, Refused, boxed};

/// Ten years.
const PERIODS: i64 = 120;

/// The current billing period of a team, and then the past periods with submissions: the latest
/// first, 120 at most.
///
/// # Errors
/// The caller may not do it; there is no such team within reach.
#[boxed]
pub async fn periods(caller: &Caller, team: TeamId) -> Result<Vec<Period>, Refused> {
    let mut session = caller.read(Scope::UsageRead).await?;
    session.require_team(team)?;
    let periods = usage::periods(session.conn(), team, PERIODS).await?;
    if periods.is_empty() {
        return Err(Refused::NotFound(Noun::Team));
    }
    Ok(periods)
}
