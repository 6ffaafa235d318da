//! Plans: list, create, read, change.

pub use domain::plan::Terms;
use domain::{
    audit::Action,
    id::{PlanId, TeamId},
    scope::Scope,
};
pub use store::plan::Plan;
use store::{page::Page, plan};

use crate::{Caller, Noun, Refused, boxed, created, difference, record};

/// Plans within the caller's reach, the oldest first. A team reaches only the plan that it subscribes to.
///
/// # Errors
/// The caller may not do it.
#[boxed]
pub async fn list(caller: &Caller, page: Page) -> Result<Vec<Plan>, Refused> {
    let mut session = caller.read(Scope::PlansRead).await?;
    let reach = session.reach();
    Ok(plan::list(session.conn(), reach, page).await?)
}

/// A plan.
///
/// # Errors
/// The caller may not do it; there is no such plan within reach.
#[boxed]
pub async fn get(caller: &Caller, plan: PlanId) -> Result<Plan, Refused> {
    let mut session = caller.read(Scope::PlansRead).await?;
    let reach = session.reach();
    let plan = plan::find(session.conn(), reach, plan).await?;
    plan.ok_or(Refused::NotFound(Noun::Plan))
}

/// Creates a plan. Only operators may do this.
///
/// # Errors
/// The caller may not do it; the name is taken.
#[boxed]
pub async fn create(caller: &Caller, terms: Terms) -> Result<Plan, Refused> {
    let mut session = caller.change(Scope::PlansWrite).await?;
    session.require_operator()?;
    let plan = plan::create(session.conn(), terms).await?;
    let action = Action::PlanCreate;
    record(session, action, None::<TeamId>, plan.id, created(&plan)).await?;
    Ok(plan)
}

/// Changes what a plan allows: `edit` gets the present terms and returns the new ones. The change
/// applies at once to all teams that subscribe to the plan. A team keeps what it has beyond a
/// lowered limit, and can create nothing more. Only operators may do this.
///
/// # Errors
/// The caller may not do it; there is no such plan; the name is taken.
pub async fn update(
    caller: &Caller,
    plan: PlanId,
    edit: impl FnOnce(Terms) -> Terms,
) -> Result<Plan, Refused> {
    let mut session = caller.change(Scope::PlansWrite).await?;
    session.require_operator()?;
    let before = plan::lock(session.conn(), plan).await?;
    let before = before.ok_or(Refused::NotFound(Noun::Plan))?;
    let after = Plan {
        terms: edit(before.terms.clone()),
        ..before.clone()
    };
    if let Some(details) = difference(&before, &after) {
        plan::change(session.conn(), plan, &after.terms).await?;
        record(session, Action::PlanUpdate, None::<TeamId>, plan, details).await?;
    }
    Ok(after)
}
