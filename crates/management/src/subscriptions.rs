//! A team's subscription: read, replace.

use domain::{audit::Action, id::TeamId, scope::Scope};
use store::subscription;
pub use store::subscription::{Subscription, Wanted};

use crate::{Caller, Noun, Refused, boxed, difference, record};

/// A team's subscription.
///
/// # Errors
/// The caller may not do it; there is no such team within reach.
#[boxed]
pub async fn get(caller: &Caller, team: TeamId) -> Result<Subscription, Refused> {
    let mut session = caller.read(Scope::SubscriptionsRead).await?;
    session.require_team(team)?;
    let found = subscription::find(session.conn(), team).await?;
    found.ok_or(Refused::NotFound(Noun::Team))
}

/// Replaces a team's subscription. It applies at once. Only operators may do this.
///
/// # Errors
/// The caller may not do it; there is no such team, or no such plan.
#[boxed]
pub async fn replace(
    caller: &Caller,
    team: TeamId,
    wanted: Wanted,
) -> Result<Subscription, Refused> {
    let mut session = caller.change(Scope::SubscriptionsWrite).await?;
    session.require_operator()?;
    let before = subscription::lock(session.conn(), team).await?;
    let before = before.ok_or(Refused::NotFound(Noun::Team))?;
    let after = subscription::change(session.conn(), team, wanted).await?;
    if let Some(details) = difference(&before, &after) {
        record(session, Action::SubscriptionUpdate, team, team, details).await?;
    }
    Ok(after)
}
