//! Links to a new password, for people who have lost theirs. The second factor stays.

use domain::{audit::Action, email::Email, id::MemberId, scope::Scope};
use serde_json::json;
use store::person::{
    self, Person,
    link::{self, Issued},
};

use super::{find, require_scopes_of};
use crate::{Caller, Change, Conflict, Management, Noun, Refused, Session};

/// Makes a link with which a person sets a new password. An earlier one can be used no more. Whoever has the link can act as the
/// person, unless there is a second factor. So its maker must have what the person has, in every team.
///
/// # Errors
/// The caller may not do it, or has less than the person has; there is nobody such within reach; the person is in other teams,
/// too, so that an operator must do it.
pub async fn create(
    management: &Management,
    caller: &Caller,
    member: MemberId,
) -> Result<Issued, Refused> {
    let mut session = management.change(caller, Scope::PeopleWrite).await?;
    let person = find(&mut session, member).await?;
    issue(session, person).await
}

/// The same, of the person with this address: for the command line.
///
/// # Errors
/// As for [`create`].
pub async fn create_of(
    management: &Management,
    caller: &Caller,
    email: &Email,
) -> Result<Issued, Refused> {
    let mut session = management.change(caller, Scope::PeopleWrite).await?;
    let account = person::account(session.conn(), email).await?;
    let account = account.ok_or(Refused::NotFound(Noun::Person))?;
    let memberships = person::memberships(session.conn(), account.user).await?;
    let first = memberships.first().ok_or(Refused::NotFound(Noun::Person))?;
    let person = find(&mut session, first.id).await?;
    issue(session, person).await
}

async fn issue(mut session: Session, person: Person) -> Result<Issued, Refused> {
    if person.disabled_at.is_some() {
        return Err(Refused::NotFound(Noun::Person));
    }
    // Nobody joins, and nobody's role changes, between this look and the link.
    person::lock_account(session.conn(), person.user).await?;
    for membership in person::memberships(session.conn(), person.user).await? {
        if session
            .only_team()
            .is_some_and(|only| membership.team != Some(only))
        {
            return Err(Refused::conflict(
                Conflict::InOtherTeams,
                "This person is in other teams, too: ask the operator for a link.",
            ));
        }
        require_scopes_of(&session, membership.role)?;
    }
    let by = session.actor();
    let issued = link::reset(session.conn(), person.user, by).await?;
    session
        .commit(Change {
            action: Action::PasswordResetCreate,
            team: person.team,
            target: person.id.as_uuid(),
            details: json!({ "email": person.email }),
        })
        .await?;
    Ok(issued)
}
