//! A team's rules for signing in.

use domain::{audit::Action, id::TeamId, scope::Scope};
use serde::Serialize;
use store::{person, team};

use crate::{Caller, Noun, Refused, boxed, difference, record};

/// A team's rules for signing in. The audit log shows them as the management interface does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Rules {
    /// Whether everybody in the team needs a second factor. Admins and owners need one in any case.
    pub factor_required: bool,
}

/// The rules of a team.
///
/// # Errors
/// The caller may not do it; there is no such team within reach.
#[boxed]
pub async fn get(caller: &Caller, team: TeamId) -> Result<Rules, Refused> {
    let mut session = caller.read(Scope::PeopleRead).await?;
    session.require_team(team)?;
    if !team::exists(session.conn(), team).await? {
        return Err(Refused::NotFound(Noun::Team));
    }
    let factor_required = person::requires_factor(session.conn(), team).await?;
    Ok(Rules { factor_required })
}

/// Changes the rules of a team: `edit` gets the present rules. The new ones apply at once, also to
/// people who are signed in.
///
/// # Errors
/// The caller may not do it; there is no such team within reach.
pub async fn update(
    caller: &Caller,
    team: TeamId,
    edit: impl FnOnce(Rules) -> Rules,
) -> Result<Rules, Refused> {
    let mut session = caller.change(Scope::PeopleWrite).await?;
    session.require_team(team)?;
    let locked = team::lock(session.conn(), team).await?;
    locked.ok_or(Refused::NotFound(Noun::Team))?;
    let before = Rules {
        factor_required: person::requires_factor(session.conn(), team).await?,
    };
    let after = edit(before);
    if let Some(details) = difference(&before, &after) {
        person::require_factor(session.conn(), team, after.factor_required).await?;
        record(session, Action::SignInUpdate, team, team, details).await?;
    }
    Ok(after)
}
