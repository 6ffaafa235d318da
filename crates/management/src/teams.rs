//! Teams: list, create, read, rename.

use domain::{
    audit::Action,
    id::{PlanId, TeamId},
    name::Name,
    scope::Scope,
};
use serde_json::json;
pub use store::team::Team;
use store::{page::Page, plan, team};

use crate::{Caller, Change, Noun, Refused, Session, boxed, difference, record};

/// Teams within the caller's reach, the oldest first.
///
/// # Errors
/// The caller may not do it.
#[boxed]
pub async fn list(caller: &Caller, page: Page) -> Result<Vec<Team>, Refused> {
    let mut session = caller.read(Scope::TeamsRead).await?;
    let reach = session.reach();
    Ok(team::list(session.conn(), reach, page).await?)
}

/// A team.
///
/// # Errors
/// The caller may not do it; there is no such team within reach.
#[boxed]
pub async fn get(caller: &Caller, team: TeamId) -> Result<Team, Refused> {
    let mut session = caller.read(Scope::TeamsRead).await?;
    session.require_team(team)?;
    let team = team::find(session.conn(), team).await?;
    team.ok_or(Refused::NotFound(Noun::Team))
}

/// Creates a team. It subscribes to a plan at once: without one, to the plan that every new
/// database has. Only operators may do this.
///
/// # Errors
/// The caller may not do it; there is no such plan.
#[boxed]
pub async fn create(caller: &Caller, name: &Name, plan: Option<PlanId>) -> Result<Team, Refused> {
    let mut session = caller.change(Scope::TeamsWrite).await?;
    let (team, change) = add(&mut session, name, plan).await?;
    session.commit(change).await?;
    Ok(team)
}

/// Creates a team in a session that has the scope for it.
pub(crate) async fn add(
    session: &mut Session,
    name: &Name,
    plan: Option<PlanId>,
) -> Result<(Team, Change), Refused> {
    session.require_operator()?;
    let plan = plan.unwrap_or(plan::UNLIMITED);
    let team = team::create(session.conn(), name, plan).await?;
    let details = json!({ "created": team, "plan_id": plan });
    let change = Change::new(Action::TeamCreate, team.id, team.id, details);
    Ok((team, change))
}

/// Renames a team: `edit` gets the present name and returns the new one, or `None` to keep it.
///
/// # Errors
/// The caller may not do it; there is no such team within reach.
pub async fn update(
    caller: &Caller,
    team: TeamId,
    edit: impl FnOnce(&str) -> Option<Name>,
) -> Result<Team, Refused> {
    let mut session = caller.change(Scope::TeamsWrite).await?;
    session.require_team(team)?;
    let before = team::lock(session.conn(), team).await?;
    let before = before.ok_or(Refused::NotFound(Noun::Team))?;
    let mut after = before.clone();
    if let Some(name) = edit(&before.name) {
        team::rename(session.conn(), team, &name).await?;
        after.name = name.into();
    }
    if let Some(details) = difference(&before, &after) {
        record(session, Action::TeamUpdate, team, team, details).await?;
    }
    Ok(after)
}
