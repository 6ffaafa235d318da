//! Links to a new password, for people who have lost theirs. The second factor stays.

use domain::{audit::Action, email::Email, id::MemberId, scope::Scope};
use serde_json::json;
pub use store::person::one_time_link::Issued;
use store::person::{self, Person, one_time_link};

use super::{find, require_everything_of};
use crate::{Caller, Change, Noun, Refused, Session, boxed};

/// Makes a link with which a person sets a new password. An earlier one stops working. Using it ends everything else that
/// could sign in to the account but the second factor. Anyone with the link can act as the person, unless there is one. So the caller must have every
/// scope that the person has, in every team.
///
/// # Errors
/// The caller may not do it, or lacks a scope of the person; there is no such person within reach;
/// the person is in other teams, too, so that an operator must do it.
#[boxed]
pub async fn create(caller: &Caller, member: MemberId) -> Result<Issued, Refused> {
    let mut session = caller.change(Scope::PeopleWrite).await?;
    let person = find(&mut session, member).await?;
    issue(session, person).await
}

/// The same for the person with this e-mail address. The command line uses it.
///
/// # Errors
/// As for [`create`].
#[boxed]
pub async fn create_of(caller: &Caller, email: &Email) -> Result<Issued, Refused> {
    let mut session = caller.change(Scope::PeopleWrite).await?;
    let account = person::account(session.conn(), email).await?;
    let account = account.ok_or(Refused::NotFound(Noun::Person))?;
    let memberships = person::memberships(session.conn(), account.user).await?;
    let first = memberships.first().ok_or(Refused::NotFound(Noun::Person))?;
    let person = find(&mut session, first.id).await?;
    issue(session, person).await
}

async fn issue(mut session: Session, person: Person) -> Result<Issued, Refused> {
    // Until the link is stored, the person does not join a team, leave one, or get another role.
    person::lock_account(session.conn(), person.user).await?;
    let memberships = person::memberships(session.conn(), person.user).await?;
    if !memberships.iter().any(|one| one.id == person.id) {
        return Err(Refused::NotFound(Noun::Person));
    }
    require_everything_of(&session, &memberships)?;
    let by = session.actor();
    let issued = one_time_link::reset(session.conn(), person.user, by).await?;
    // The link leads into every team that the person is in, so each of them is told.
    let changes = memberships.iter().map(|one| {
        let details = json!({ "email": person.email });
        Change::new(Action::PasswordResetCreate, one.team, one.id, details)
    });
    session.commit_all(changes.collect()).await?;
    Ok(issued)
}
