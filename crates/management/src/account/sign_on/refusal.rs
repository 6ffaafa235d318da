//! Why somebody was not signed in by the provider, for the person; and for the log.

use oidc::Failed;
use tracing::{error, warn};

use crate::{AnonymousCaller, Refused};

/// How much of a provider's code of an error is logged.
const LONGEST_CODE: usize = 60;

/// Why somebody was not signed in by the provider.
#[derive(Debug, thiserror::Error)]
pub enum NotSignedOn {
    /// Nobody configured a provider.
    #[error("Single sign-on is not set up here.")]
    NotSetUp,
    /// This browser began no such attempt, or more than 10 minutes ago, or has ended it.
    #[error(
        "This sign-in was not begun in this browser, or more than 10 minutes ago, or it was used already. Please begin again."
    )]
    Lost,
    /// The provider cannot be asked.
    #[error(
        "The sign-in service does not answer at the moment. Please try again later. If you have a password here, you can sign in with it."
    )]
    Outage,
    /// The provider refused it, or the person did.
    #[error("The sign-in service did not let you in, or you cancelled the sign-in.")]
    Denied,
    /// The answer cannot be trusted.
    #[error(
        "The answer of the sign-in service could not be trusted. Please try again. If it happens again, tell the operator: the log has the reason."
    )]
    Untrusted,
    /// The provider does not tell an address.
    #[error(
        "The sign-in service does not say which e-mail address you have, or has not verified it. Ask its administrator."
    )]
    NoEmail,
    /// There is another account with the address.
    #[error(
        "There is an account with your e-mail address already. Sign in with its password. Then connect it under “Your account”."
    )]
    KnownEmail,
    /// There is another account with the address, which belongs to the provider, and nobody has proved to own the account.
    #[error(
        "There is an account with your e-mail address already, and nobody has proved that the address is theirs. If it is your account, sign in with its password. Then connect it under “Your account”. If you have never had an account here, take the address: nobody can sign in to that account any more then, and you get an account of your own."
    )]
    Unproven,
    /// The link invites somebody else, or nobody any more.
    #[error(
        "This invitation is for another e-mail address than the one that the sign-in service has of you, or it was used or withdrawn."
    )]
    NotInvited,
    /// The provider's person belongs to another account, or the account to another person.
    #[error(
        "Your account is connected with somebody else at the sign-in service, or this person there has another account here. You can disconnect it under “Your account”."
    )]
    KnownPerson,
    /// Neither the provider nor anybody here gives the person a role.
    #[error(
        "You have no role here. Ask the administrator of the sign-in service for one, or ask an admin of your team to invite you."
    )]
    NoRole,
    /// Somebody else authenticated again.
    #[error("You signed in there as somebody else. Sign in as the person who is signed in here.")]
    OtherPerson,
    /// Another reason.
    #[error(transparent)]
    Refused(#[from] Refused),
}

/// What a person is told about a failure, which is logged.
pub(super) fn of(failed: &Failed, anonymous_caller: &AnonymousCaller) -> NotSignedOn {
    let reason: &dyn std::error::Error = failed;
    if matches!(failed, Failed::Resting) {
        // The failure before it was logged. Strangers can cause many of these.
        NotSignedOn::Outage
    } else if failed.is_outage() {
        error!(
            error = reason,
            "the provider of single sign-on cannot be asked"
        );
        NotSignedOn::Outage
    } else {
        warn!(address = %anonymous_caller.address, error = reason, "a sign-in by the provider was refused");
        NotSignedOn::Untrusted
    }
}

/// The code of an error, as it may be logged.
pub(super) fn code(error: &str) -> &str {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    if error.len() <= LONGEST_CODE && error.bytes().all(known) {
        error
    } else {
        "not a code"
    }
}
