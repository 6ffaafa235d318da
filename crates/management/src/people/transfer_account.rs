//! Handing an account to the owner of its address, after somebody else had it.

use domain::{audit::Action, email::Email, scope::Scope};
use store::person::{
    self,
    credentials::{self, Ended},
    one_time_link::{self, Issued},
};

use super::{factor_removal::with_email, require_everything_of};
use crate::{Caller, Change, Noun, Refused, boxed, passwords};

/// An account that was handed over.
#[derive(Debug)]
pub struct TransferredAccount {
    /// The link with which its owner sets a password.
    pub link: Issued,
    /// What could sign in to the account, and was ended.
    pub ended: Ended,
    /// Whether it had a second factor, which was removed.
    pub had_factor: bool,
    /// How many tokens work that were created with the account. They go on.
    pub tokens: i64,
}

/// Ends everything that can sign in to the account with this e-mail address: its password, its second factor, sessions,
/// identities at providers of single sign-on, recovery codes, links to a new password, and links that were made with the
/// account. Makes a link to a new password for the owner of the address. The account may be in no team.
///
/// Anyone with the link has the account. So this is for the command line only. Every team of the account has it in the
/// audit log.
///
/// # Errors
/// The caller may not do it, or lacks a scope of the person; there is no such account.
#[boxed]
pub async fn transfer_account(
    caller: &Caller,
    email: &Email,
) -> Result<TransferredAccount, Refused> {
    let mut session = caller.change(Scope::PeopleWrite).await?;
    session.require_operator()?;
    let account = person::account(session.conn(), email).await?;
    let user = account.ok_or(Refused::NotFound(Noun::Person))?.user;
    person::lock_account(session.conn(), user).await?;
    let memberships = person::memberships(session.conn(), user).await?;
    require_everything_of(&session, &memberships)?;
    let nobody = passwords::of_nobody();
    let (ended, had_factor) = credentials::clear(session.conn(), user, &nobody).await?;
    let tokens = credentials::tokens(session.conn(), user).await?;
    let by = session.actor();
    let link = one_time_link::reset(session.conn(), user, by).await?;
    let mut details = with_email(email.as_str(), ended);
    details["had_factor"] = had_factor.into();
    let told = memberships.iter().map(|one| (one.team, one.id.as_uuid()));
    let mut told: Vec<_> = told.collect();
    if told.is_empty() {
        // Then only operators are told.
        told.push((None, user.as_uuid()));
    }
    let changes = told
        .into_iter()
        .map(|(team, target)| Change::new(Action::AccountHandOver, team, target, details.clone()));
    session.commit_all(changes.collect()).await?;
    Ok(TransferredAccount {
        link,
        ended,
        had_factor,
        tokens,
    })
}
