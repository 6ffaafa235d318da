//! Signing in with the provider of single sign-on, proving it again there, and connecting an account.
//!
//! Each begins with an attempt, which sends the browser to the provider, and ends when the browser comes back. In between,
//! the browser keeps the attempt, sealed with the master key. So nothing is stored for strangers, and the answer counts only
//! in the browser that began.

mod account;
mod encrypted_attempt;
mod identity_claims;
mod memberships;

use chrono::Utc;
use domain::{
    audit::Action,
    key::{LinkSecret, SecretHash},
};
use oidc::{Ask, Attempt, Failed};
use serde_json::json;
use store::person::{session, sso_identity};
use tracing::{error, info, warn};
use url::Url;

use self::{account::Wish, encrypted_attempt::EncryptedAttempt, identity_claims::IdentityClaims};
use super::{Outcome, SignedIn};
use crate::{AnonymousCaller, Management, Refused, SignOn, boxed};

pub use self::encrypted_attempt::Purpose;

/// An attempt that has begun.
#[derive(Debug)]
pub struct Begun {
    /// Where to send the browser.
    pub address: Url,
    /// What the browser keeps until it comes back: letters, digits, `-` and `_`.
    pub kept: String,
}

/// What the provider put into the address with which the browser came back. Empty: nothing.
#[derive(Clone, Copy, Debug)]
pub struct Returned<'a> {
    /// Which attempt this answers.
    pub state: &'a str,
    /// The code to redeem.
    pub code: &'a str,
    /// Why there is no code.
    pub error: &'a str,
    /// Who says so.
    pub issuer: &'a str,
}

/// How an attempt ended.
#[derive(Debug)]
pub enum Finished {
    /// The person is signed in.
    Entered(SignedIn),
    /// The person is signed in, and can accept the invitation of this link.
    Joining(SignedIn, LinkSecret),
    /// The person has authenticated again, which allows delicate changes for 10 minutes.
    ProvedAgain,
    /// The account is connected with the provider.
    Connected,
}

/// Begins an attempt.
///
/// # Errors
/// There is no provider, or it cannot be asked. For other purposes than signing in: the session is over or lacks its second
/// factor; and for connecting, the password was given too long ago.
#[boxed]
pub async fn begin(
    management: &Management,
    anonymous_caller: &AnonymousCaller,
    purpose: Purpose,
) -> Result<Begun, NotSignedOn> {
    let sign_on = provider(management)?;
    let ask = match &purpose {
        Purpose::Enter | Purpose::TakeAddress | Purpose::Join(_) => Ask::SignIn,
        Purpose::ProveAgain(session) => {
            management.own(*session).await?;
            Ask::Again
        }
        Purpose::Connect(session) => {
            management.own(*session).await?.require_recent_password()?;
            Ask::SignIn
        }
    };
    let attempt = Attempt::begin(ask, Utc::now());
    let turn = sign_on.turn(anonymous_caller.address).await?;
    let address = sign_on.provider.address(&attempt).await;
    drop(turn);
    let address = address.map_err(|failed| refusal_of(&failed, anonymous_caller))?;
    let kept = EncryptedAttempt { attempt, purpose }.seal(management.master_key()?);
    Ok(Begun { address, kept })
}

/// Ends an attempt: the browser came back, with what it kept. `held` is its session.
///
/// # Errors
/// This browser began no such attempt, or too long ago, or has ended it already; the provider refused it, cannot be asked, or
/// its answer cannot be trusted; the person may not sign in. Nothing was changed, except that roles were taken away that the
/// provider no longer grants.
pub async fn finish(
    management: &Management,
    anonymous_caller: &AnonymousCaller,
    held: Option<SecretHash>,
    kept: &str,
    returned: Returned<'_>,
) -> Result<Finished, NotSignedOn> {
    let finished = finish_attempt(management, anonymous_caller, held, kept, returned).await;
    match &finished {
        Ok(Finished::Entered(_) | Finished::Joining(..)) => Outcome::SignOn.count(),
        Err(NotSignedOn::Refused(Refused::Overloaded)) => Outcome::Overloaded.count(),
        // No sign-in, a session that was over, or a failure of the database.
        Ok(Finished::ProvedAgain | Finished::Connected)
        | Err(NotSignedOn::Refused(_) | NotSignedOn::NotSetUp) => {}
        Err(_) => Outcome::SignOnFailed.count(),
    }
    finished
}

async fn finish_attempt(
    management: &Management,
    anonymous_caller: &AnonymousCaller,
    held: Option<SecretHash>,
    kept: &str,
    returned: Returned<'_>,
) -> Result<Finished, NotSignedOn> {
    let sign_on = provider(management)?;
    let now = Utc::now();
    let opened = EncryptedAttempt::open(kept, management.master_key()?, now);
    let Some(EncryptedAttempt { attempt, purpose }) =
        opened.filter(|sealed| sealed.attempt.state == returned.state)
    else {
        info!(address = %anonymous_caller.address, "a sign-in came back to a browser that did not begin it");
        return Err(NotSignedOn::Lost);
    };
    if !returned.error.is_empty() {
        info!(address = %anonymous_caller.address, error = loggable(returned.error), "the provider refused a sign-in");
        return Err(NotSignedOn::Denied);
    }
    let answer = oidc::Answer {
        code: returned.code,
        issuer: returned.issuer,
    };
    let turn = sign_on.turn(anonymous_caller.address).await?;
    let redeemed = sign_on.provider.redeem(&attempt, answer, now).await;
    drop(turn);
    let identity = redeemed.map_err(|failed| refusal_of(&failed, anonymous_caller))?;
    let claims = IdentityClaims::of(&identity, sign_on, anonymous_caller)?;
    let enter = async |wish: Wish| {
        account::enter(
            management,
            anonymous_caller,
            sign_on,
            &attempt,
            &claims,
            wish,
        )
        .await
    };
    match purpose {
        Purpose::Enter => Ok(Finished::Entered(enter(Wish::Enter).await?)),
        Purpose::TakeAddress => Ok(Finished::Entered(enter(Wish::TakeAddress).await?)),
        Purpose::Join(link) => {
            let signed_in = enter(Wish::Join(link.hash())).await?;
            Ok(Finished::Joining(signed_in, link))
        }
        Purpose::ProveAgain(session) => {
            require_same(held, session)?;
            prove_again(management, sign_on, session, &attempt, &claims).await?;
            Ok(Finished::ProvedAgain)
        }
        Purpose::Connect(session) => {
            require_same(held, session)?;
            connect(
                management,
                anonymous_caller,
                sign_on,
                session,
                &attempt,
                &claims,
            )
            .await?;
            Ok(Finished::Connected)
        }
    }
}

fn provider(management: &Management) -> Result<&SignOn, NotSignedOn> {
    management.sign_on.as_ref().ok_or(NotSignedOn::NotSetUp)
}

/// The session with which an attempt ends is the one with which it began.
fn require_same(held: Option<SecretHash>, began: SecretHash) -> Result<(), NotSignedOn> {
    if held == Some(began) {
        Ok(())
    } else {
        Err(NotSignedOn::Lost)
    }
}

/// Notes that the owner of the session has authenticated again.
async fn prove_again(
    management: &Management,
    sign_on: &SignOn,
    session: SecretHash,
    attempt: &Attempt,
    claims: &IdentityClaims,
) -> Result<(), NotSignedOn> {
    let mut own = management.own(session).await?;
    if !sso_identity::use_up(&mut own.tx, encrypted_attempt::key(attempt)).await? {
        return Err(NotSignedOn::Lost);
    }
    let (user, issuer) = (own.held.user, sign_on.issuer());
    let known = sso_identity::sign_in(&mut own.tx, issuer, &claims.subject, user, claims.address());
    if known.await?.is_none() {
        return Err(NotSignedOn::OtherPerson);
    }
    session::note_password(&mut own.tx, own.held.id).await?;
    own.tx.commit().await.map_err(store::Error::from)?;
    Ok(())
}

/// Connects the owner of the session with the provider's person. The provider's roles count from the next sign-in there.
async fn connect(
    management: &Management,
    anonymous_caller: &AnonymousCaller,
    sign_on: &SignOn,
    session: SecretHash,
    attempt: &Attempt,
    claims: &IdentityClaims,
) -> Result<(), NotSignedOn> {
    let mut own = management.own(session).await?;
    own.require_recent_password()?;
    if !sso_identity::use_up(&mut own.tx, encrypted_attempt::key(attempt)).await? {
        return Err(NotSignedOn::Lost);
    }
    let (user, issuer) = (own.held.user, sign_on.issuer());
    let created =
        sso_identity::create(&mut own.tx, issuer, &claims.subject, user, claims.address());
    if created.await?.is_none() {
        return Err(NotSignedOn::KnownPerson);
    }
    let (action, details) = (Action::IdentityCreate, json!({ "issuer": issuer }));
    own.done(anonymous_caller, action, user.as_uuid(), &details)
        .await?;
    Ok(())
}

impl From<store::Error> for NotSignedOn {
    fn from(error: store::Error) -> Self {
        Self::Refused(Refused::from(error))
    }
}

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
fn refusal_of(failed: &Failed, anonymous_caller: &AnonymousCaller) -> NotSignedOn {
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
fn loggable(error: &str) -> &str {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    if error.len() <= LONGEST_CODE && error.bytes().all(known) {
        error
    } else {
        "not a code"
    }
}
