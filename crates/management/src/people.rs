//! The people of a team, and operators: list, read, change, disable.
//!
//! Nobody gives or takes more than they have. To change a person, a caller needs every scope of the
//! person's role, and of the role that the person gets. So only owners make owners. A team keeps at
//! least one owner.

pub mod factor_removal;
pub mod invitations;
pub mod password_resets;
pub mod sessions;
pub mod sign_in_rules;
pub mod transfer_account;

use domain::{
    actor::Actor,
    audit::Action,
    id::{MemberId, SiteId, TeamId},
    reach::Reach,
    role::Role,
    scope::Scope,
    sign_in_limits::MOST_SITES,
};
use serde_json::json;
pub use store::person::Person;
use store::{
    PgConnection,
    page::Page,
    person::{self, Membership, one_time_link, session},
    team,
};

use crate::{Caller, Conflict, Forbidden, Noun, Refused, Session, boxed, difference, record};

/// The fields of a person that can be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The role.
    pub role: Role,
    /// The sites on which a moderator decides. None: all sites.
    pub sites: Option<Vec<SiteId>>,
}

/// People within the caller's reach. Those who joined first come first.
///
/// # Errors
/// The caller may not do it.
#[boxed]
pub async fn list(caller: &Caller, page: Page) -> Result<Vec<Person>, Refused> {
    let mut session = caller.read(Scope::PeopleRead).await?;
    let reach = session.reach();
    Ok(person::list(session.conn(), reach, page).await?)
}

/// A person.
///
/// # Errors
/// The caller may not do it; there is no such person within reach.
#[boxed]
pub async fn get(caller: &Caller, member: MemberId) -> Result<Person, Refused> {
    let mut session = caller.read(Scope::PeopleRead).await?;
    let reach = session.reach();
    let person = person::find(session.conn(), reach, member).await?;
    person.ok_or(Refused::NotFound(Noun::Person))
}

/// Whether a person is the only owner of the team, who cannot leave, be disabled or get another role.
///
/// # Errors
/// The caller may not do it; there is no such person within reach.
#[boxed]
pub async fn is_only_owner(caller: &Caller, member: MemberId) -> Result<bool, Refused> {
    let mut session = caller.read(Scope::PeopleRead).await?;
    let person = find(&mut session, member).await?;
    if !is_owner(&person) {
        return Ok(false);
    }
    Ok(person::count(session.conn(), person.team, Role::Owner).await? == 1)
}

/// Those of the teams that have no owner.
///
/// # Errors
/// The caller may not do it; a team is beyond reach.
#[boxed]
pub async fn without_owner(caller: &Caller, teams: &[TeamId]) -> Result<Vec<TeamId>, Refused> {
    let mut session = caller.read(Scope::PeopleRead).await?;
    for team in teams {
        session.require_team(*team)?;
    }
    Ok(person::teams_without(session.conn(), teams, Role::Owner).await?)
}

/// Changes what a person may do: `edit` gets the present fields and returns the wanted ones. It
/// takes effect at once. Links to a new password of this person stop working.
///
/// # Errors
/// The caller may not do it, or lacks a scope that the person has or would get; there is no such
/// person within reach; a site is not the team's; the team would have no owner.
pub async fn update(
    caller: &Caller,
    member: MemberId,
    edit: impl FnOnce(Standing) -> Standing,
) -> Result<Person, Refused> {
    let mut session = caller.change(Scope::PeopleWrite).await?;
    let before = lock(&mut session, member).await?;
    let wanted = edit(Standing {
        role: before.role,
        sites: before.sites.clone(),
    });
    require_scopes_of(&session, before.role)?;
    require_scopes_of(&session, wanted.role)?;
    let sites = check(session.conn(), before.team, &wanted).await?;
    if is_owner(&before) && wanted.role != Role::Owner {
        require_another_owner(&mut session, &before).await?;
    }
    let conn = session.conn();
    person::change(conn, member, wanted.role, sites.as_deref()).await?;
    one_time_link::cancel_resets(conn, before.user).await?;
    if wanted.role.beyond(before.role.scopes()).is_none() {
        // Links that the person has made with the higher role stop working.
        one_time_link::cancel_made_by(conn, &[Actor::Member(member)]).await?;
    }
    let after = find(&mut session, member).await?;
    if let Some(details) = difference(&before, &after) {
        record(session, Action::PersonUpdate, after.team, member, details).await?;
    }
    Ok(after)
}

/// Disables a person in the team, at once, until the person accepts another invitation. Open links
/// that the person has made stop working. Disabling a person again changes nothing.
///
/// # Errors
/// The caller may not do it, or lacks a scope of the person; there is no such person within reach;
/// the team would have no owner.
#[boxed]
pub async fn disable(caller: &Caller, member: MemberId) -> Result<(), Refused> {
    let mut session = caller.change(Scope::PeopleWrite).await?;
    let person = lock(&mut session, member).await?;
    require_scopes_of(&session, person.role)?;
    end_membership(session, person).await
}

/// Takes the caller out of the team in which the caller acts.
///
/// # Errors
/// The caller is not a person, gave the password too long ago, or is the only owner.
#[boxed]
pub async fn leave(caller: &Caller) -> Result<(), Refused> {
    let mut session = caller.change_own().await?;
    session.require_recent_password()?;
    let Some(member) = session.person().map(|person| person.member) else {
        return Err(Refused::NotFound(Noun::Person));
    };
    let person = lock(&mut session, member).await?;
    end_membership(session, person).await
}

async fn end_membership(mut session: Session, person: Person) -> Result<(), Refused> {
    if is_owner(&person) {
        require_another_owner(&mut session, &person).await?;
    }
    let conn = session.conn();
    if !person::disable(conn, person.id).await? {
        return Ok(());
    }
    one_time_link::cancel_made_by(conn, &[Actor::Member(person.id)]).await?;
    one_time_link::cancel_resets(conn, person.user).await?;
    if person::memberships(conn, person.user).await?.is_empty() {
        session::end_all(conn, person.user, None).await?;
    }
    let details = json!({ "email": person.email, "role": person.role });
    let action = Action::PersonDisable;
    record(session, action, person.team, person.id, details).await
}

/// A person whom nobody else changes until the transaction ends.
///
/// The account is locked first. So a link to a new password is made either before the change, which
/// withdraws it, or after it, with the new role. Then the team is locked: if two owners leave at
/// the same time, the second one sees that the first has left.
async fn lock(session: &mut Session, member: MemberId) -> Result<Person, Refused> {
    let person = find(session, member).await?;
    let reach = session.reach();
    let conn = session.conn();
    person::lock_account(conn, person.user).await?;
    if let Some(team) = person.team {
        team::lock(conn, team).await?;
    }
    let person = person::lock(conn, reach, member).await?;
    person.ok_or(Refused::NotFound(Noun::Person))
}

async fn find(session: &mut Session, member: MemberId) -> Result<Person, Refused> {
    let reach = session.reach();
    let person = person::find(session.conn(), reach, member).await?;
    person.ok_or(Refused::NotFound(Noun::Person))
}

/// Refuses a caller who lacks a scope of the role.
fn require_scopes_of(session: &Session, role: Role) -> Result<(), Refused> {
    if role == Role::Operator && session.reach() != Reach::Everything {
        return Err(Refused::Forbidden(
            Forbidden::OperatorsOnly,
            "Only operators make operators.".into(),
        ));
    }
    match role.beyond(&session.grant().scopes) {
        Some(scope) => Err(Refused::beyond(role, scope)),
        None => Ok(()),
    }
}

/// Refuses a caller who lacks a scope that the person has in any team, or who cannot see all of
/// these teams.
fn require_everything_of(session: &Session, memberships: &[Membership]) -> Result<(), Refused> {
    for membership in memberships {
        if session
            .only_team()
            .is_some_and(|only| membership.team != Some(only))
        {
            return Err(Refused::conflict(
                Conflict::InOtherTeams,
                "This person is in other teams, too: ask the operator.",
            ));
        }
        require_scopes_of(session, membership.role)?;
    }
    Ok(())
}

fn is_owner(person: &Person) -> bool {
    person.disabled_at.is_none() && person.role == Role::Owner
}

async fn require_another_owner(session: &mut Session, person: &Person) -> Result<(), Refused> {
    if person::count(session.conn(), person.team, Role::Owner).await? > 1 {
        return Ok(());
    }
    Err(Refused::conflict(
        Conflict::LastOwner,
        "This is the team's only owner: make somebody else an owner first.",
    ))
}

/// Checks the fields that a person would get, and returns the sites as they are stored.
async fn check(
    conn: &mut PgConnection,
    team: Option<TeamId>,
    wanted: &Standing,
) -> Result<Option<Vec<SiteId>>, Refused> {
    match (team, wanted.role) {
        (None, Role::Operator) => {}
        (None, _) => {
            return Err(Refused::field("role", "must be operator without a team"));
        }
        (Some(_), Role::Operator) => {
            return Err(Refused::field("role", "must not be operator in a team"));
        }
        (Some(_), _) => {}
    }
    let Some(sites) = &wanted.sites else {
        return Ok(None);
    };
    if !wanted.role.has_sites() {
        let message = "must be null: only moderators are limited to some sites";
        return Err(Refused::field("site_ids", message));
    }
    if !(1..=MOST_SITES).contains(&sites.len()) {
        let message = format!("must have 1 to {MOST_SITES}");
        return Err(Refused::field("site_ids", message));
    }
    let Some(team) = team else {
        return Ok(None);
    };
    let own = person::own_sites(conn, team, sites).await?;
    if let Some(place) = sites.iter().position(|site| !own.contains(site)) {
        let field = format!("site_ids[{place}]");
        return Err(Refused::field(field, "is no site of the team"));
    }
    let mut sites = sites.clone();
    sites.sort_unstable();
    sites.dedup();
    Ok(Some(sites))
}
