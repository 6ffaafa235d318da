//! Removing a person's second factor: the way back for people who have lost the app and all
//! recovery codes.

use domain::{audit::Action, email::Email, scope::Scope};
use serde_json::{Value, json};
use store::person::{
    self,
    credentials::{self, Ended},
    second_factor,
};

use super::require_everything_of;
use crate::{Caller, Change, Noun, Refused, boxed};

/// What removing a second factor did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Whether there was a second factor. Without one, nothing was changed.
    pub had_factor: bool,
    /// What else could sign in to the account, and was ended.
    pub ended: Ended,
    /// Whether the person must set up another factor at the next sign-in.
    pub must_set_up: bool,
}

/// Removes the second factor of the person with this e-mail address, and ends everything that could sign in to the account
/// beside its password: sessions, identities at providers of single sign-on, recovery codes, and links. The password stays.
///
/// From then on, the password alone opens the account. So this is for the command line only, and no
/// other interface offers it. Every team of the person has it in the audit log.
///
/// # Errors
/// The caller may not do it, or lacks a scope of the person; there is no such person.
#[boxed]
pub async fn remove(caller: &Caller, email: &Email) -> Result<Removed, Refused> {
    let mut session = caller.change(Scope::PeopleWrite).await?;
    let account = person::account(session.conn(), email).await?;
    let user = account.ok_or(Refused::NotFound(Noun::Person))?.user;
    let account = person::lock_account(session.conn(), user).await?;
    let memberships = person::memberships(session.conn(), user).await?;
    if memberships.is_empty() {
        return Err(Refused::NotFound(Noun::Person));
    }
    require_everything_of(&session, &memberships)?;
    let must_set_up = person::needs_factor(session.conn(), user).await?;
    if !account.has_factor {
        return Ok(Removed {
            had_factor: false,
            ended: Ended::default(),
            must_set_up,
        });
    }
    let ended = credentials::end_all(session.conn(), user).await?;
    second_factor::remove(session.conn(), user).await?;
    let changes = memberships.iter().map(|one| {
        let details = with_email(&account.email, ended);
        Change::new(Action::FactorDelete, one.team, one.id, details)
    });
    session.commit_all(changes.collect()).await?;
    Ok(Removed {
        had_factor: true,
        ended,
        must_set_up,
    })
}

/// What was ended, and whose it was.
pub(super) fn with_email(email: &str, ended: Ended) -> Value {
    let mut details = json!(ended);
    details["email"] = json!(email);
    details
}
