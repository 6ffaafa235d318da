//! Policies of the review desk: list, create, read, change, delete.

use domain::{
    audit::Action,
    id::{ReviewPolicyId, TeamId},
    review::MOST_POLICIES,
    scope::Scope,
};
use serde_json::json;
use store::review_policy::{self, Taken};
pub use store::{
    page::Page,
    review_policy::{ReviewPolicy, Settings},
};

use crate::{
    Caller, Conflict, Noun, Outdated, Refused, Session, boxed, created, difference, record,
};

/// The most categories of a policy, and the most names of rules.
pub const MOST_SUGGESTED: usize = 50;

/// Policies within the caller's reach, the oldest first.
///
/// # Errors
/// The caller may not do it.
#[boxed]
pub async fn list(caller: &Caller, page: Page) -> Result<Vec<ReviewPolicy>, Refused> {
    let mut session = caller.read(Scope::ReviewsRead).await?;
    let reach = session.reach();
    Ok(review_policy::list(session.conn(), reach, page).await?)
}

/// The policies of the caller's team: first those with a key, in the order of keys.
///
/// # Errors
/// The caller may not do it, or belongs to no team.
#[boxed]
pub async fn of_team(caller: &Caller) -> Result<Vec<ReviewPolicy>, Refused> {
    let mut session = caller.read(Scope::ReviewsRead).await?;
    match session.only_team() {
        Some(team) => Ok(review_policy::all(session.conn(), team).await?),
        None => Ok(Vec::new()),
    }
}

/// A policy.
///
/// # Errors
/// The caller may not do it; there is no such policy within reach.
#[boxed]
pub async fn get(caller: &Caller, policy: ReviewPolicyId) -> Result<ReviewPolicy, Refused> {
    let mut session = caller.read(Scope::ReviewsRead).await?;
    find(&mut session, policy).await
}

/// Creates a policy. If no team is named, it belongs to the team of the caller.
///
/// # Errors
/// The caller may not do it; the team does not exist; another policy of the team has the code or the
/// key; the team has [`MOST_POLICIES`] already.
#[boxed]
pub async fn create(
    caller: &Caller,
    team: Option<TeamId>,
    settings: &Settings,
) -> Result<ReviewPolicy, Refused> {
    let mut session = caller.change(Scope::ReviewsManage).await?;
    let team = session.named_team(team).await?;
    let team = team.ok_or_else(|| Refused::field("team_id", "is required"))?;
    require_few(settings)?;
    if review_policy::count(session.conn(), team).await? >= MOST_POLICIES {
        return Err(Refused::conflict(
            Conflict::LimitReached,
            format!("The team has {MOST_POLICIES} policies already, which is the most."),
        ));
    }
    let id = review_policy::create(session.conn(), team, settings).await?;
    let policy = find(&mut session, id.map_err(taken)?).await?;
    let details = created(&policy);
    record(session, Action::PolicyCreate, team, policy.id, details).await?;
    Ok(policy)
}

/// Changes a policy: `edit` gets the present settings and returns the new ones. The severity counts
/// for items that come to the desk afterwards.
///
/// # Errors
/// The caller may not do it; there is no such policy within reach; another policy of the team has
/// the code or the key.
pub async fn update(
    caller: &Caller,
    policy: ReviewPolicyId,
    edit: impl FnOnce(Settings) -> Settings,
) -> Result<ReviewPolicy, Refused> {
    let (session, before) = locked(caller, policy).await?;
    let settings = edit(before.settings.clone());
    change(session, before, settings).await
}

/// The same for a caller who has seen the settings before. If others are in force by now, nothing is
/// changed.
///
/// # Errors
/// As for [`update`].
pub async fn update_seen(
    caller: &Caller,
    policy: ReviewPolicyId,
    is_seen: impl FnOnce(&Settings) -> bool,
    settings: Settings,
) -> Result<Result<ReviewPolicy, Outdated>, Refused> {
    let (mut session, before) = locked(caller, policy).await?;
    if !is_seen(&before.settings) {
        let (action, id) = (Action::PolicyUpdate, before.id.as_uuid());
        return Ok(Err(session.outdated(action, id, "").await?));
    }
    change(session, before, settings).await.map(Ok)
}

/// Deletes a policy. What was decided by it still names it.
///
/// # Errors
/// The caller may not do it; there is no such policy within reach.
#[boxed]
pub async fn delete(caller: &Caller, policy: ReviewPolicyId) -> Result<(), Refused> {
    let (mut session, before) = locked(caller, policy).await?;
    review_policy::delete(session.conn(), before.id).await?;
    let details =
        json!({ "deleted": { "code": before.settings.code, "name": before.settings.name } });
    let action = Action::PolicyDelete;
    record(session, action, before.team, before.id, details).await
}

async fn locked(
    caller: &Caller,
    policy: ReviewPolicyId,
) -> Result<(Session, ReviewPolicy), Refused> {
    let mut session = caller.change(Scope::ReviewsManage).await?;
    let reach = session.reach();
    let before = review_policy::lock(session.conn(), reach, policy).await?;
    let before = before.ok_or(Refused::NotFound(Noun::Policy))?;
    Ok((session, before))
}

async fn change(
    mut session: Session,
    before: ReviewPolicy,
    settings: Settings,
) -> Result<ReviewPolicy, Refused> {
    require_few(&settings)?;
    let changed = review_policy::change(session.conn(), before.id, &settings).await?;
    changed.map_err(taken)?;
    let after = find(&mut session, before.id).await?;
    if let Some(details) = difference(&before, &after) {
        record(session, Action::PolicyUpdate, after.team, after.id, details).await?;
    }
    Ok(after)
}

async fn find(session: &mut Session, policy: ReviewPolicyId) -> Result<ReviewPolicy, Refused> {
    let reach = session.reach();
    let policy = review_policy::find(session.conn(), reach, policy).await?;
    policy.ok_or(Refused::NotFound(Noun::Policy))
}

fn taken(taken: Taken) -> Refused {
    match taken {
        Taken::Code => Refused::field("code", "is that of another policy of the team"),
        Taken::Key => Refused::field("key", "is that of another policy of the team"),
    }
}

fn require_few(settings: &Settings) -> Result<(), Refused> {
    let most = |field: &str, number: usize| {
        if number > MOST_SUGGESTED {
            let message = format!("must have at most {MOST_SUGGESTED} members");
            return Err(Refused::field(field, message));
        }
        Ok(())
    };
    most("categories", settings.categories.len())?;
    most("rules", settings.rules.len())
}
