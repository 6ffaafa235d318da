//! Signing in with the provider of single sign-on, proving it again there, and connecting an account.
//!
//! Each begins with an attempt, which sends the browser to the provider, and ends when the browser comes back. In between,
//! the browser keeps the attempt, sealed with the master key. So nothing is stored for strangers, and the answer counts only
//! in the browser that began.

mod account;
mod grants;
mod memberships;
mod refusal;
mod sealed;

use chrono::Utc;
use domain::{audit::Action, key::SecretHash};
use oidc::{Ask, Attempt, Identity};
use serde_json::json;
use store::person::{
    self, identity,
    session::{self, Proved},
};
use tracing::{info, warn};
use url::Url;

use super::{SignedIn, enter_by_provider, outcome::Outcome, record};
use crate::{Management, Refused, SignOn, Visitor};

use sealed::Sealed;
pub use {refusal::NotSignedOn, sealed::Purpose};

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
pub async fn begin(
    management: &Management,
    visitor: &Visitor,
    purpose: Purpose,
) -> Result<Begun, NotSignedOn> {
    let sign_on = provider(management)?;
    let ask = match purpose {
        Purpose::Enter => Ask::SignIn,
        Purpose::ProveAgain(session) => {
            management.own(session).await?;
            Ask::Again
        }
        Purpose::Connect(session) => {
            management.own(session).await?.require_recent_password()?;
            Ask::SignIn
        }
    };
    let attempt = Attempt::begin(ask, Utc::now());
    let turn = sign_on.turn(visitor.address).await?;
    let address = sign_on.provider.address(&attempt).await;
    drop(turn);
    let address = address.map_err(|failed| refusal::of(&failed, visitor))?;
    let kept = Sealed { attempt, purpose }.seal(management.master_key()?);
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
    visitor: &Visitor,
    held: Option<SecretHash>,
    kept: &str,
    returned: Returned<'_>,
) -> Result<Finished, NotSignedOn> {
    let finished = finish_attempt(management, visitor, held, kept, returned).await;
    match &finished {
        Ok(Finished::Entered(_)) => Outcome::SignOn.count(),
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
    visitor: &Visitor,
    held: Option<SecretHash>,
    kept: &str,
    returned: Returned<'_>,
) -> Result<Finished, NotSignedOn> {
    let sign_on = provider(management)?;
    let now = Utc::now();
    let opened = Sealed::open(kept, management.master_key()?, now);
    let Some(Sealed { attempt, purpose }) =
        opened.filter(|sealed| sealed.attempt.state == returned.state)
    else {
        info!(address = %visitor.address, "a sign-in came back to a browser that did not begin it");
        return Err(NotSignedOn::Lost);
    };
    if !returned.error.is_empty() {
        info!(address = %visitor.address, error = refusal::code(returned.error), "the provider refused a sign-in");
        return Err(NotSignedOn::Denied);
    }
    let answer = oidc::Answer {
        code: returned.code,
        issuer: returned.issuer,
    };
    let turn = sign_on.turn(visitor.address).await?;
    let redeemed = sign_on.provider.redeem(&attempt, answer, now).await;
    drop(turn);
    let identity = redeemed.map_err(|failed| refusal::of(&failed, visitor))?;
    match purpose {
        Purpose::Enter => {
            let signed_in = enter(management, visitor, sign_on, &attempt, &identity).await;
            signed_in.map(Finished::Entered)
        }
        Purpose::ProveAgain(session) => {
            require_same(held, session)?;
            prove_again(management, sign_on, session, &attempt, &identity).await?;
            Ok(Finished::ProvedAgain)
        }
        Purpose::Connect(session) => {
            require_same(held, session)?;
            connect(management, visitor, sign_on, session, &attempt, &identity).await?;
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

/// Signs in. What the provider grants is brought up to date first.
async fn enter(
    management: &Management,
    visitor: &Visitor,
    sign_on: &SignOn,
    attempt: &Attempt,
    identity: &Identity,
) -> Result<SignedIn, NotSignedOn> {
    let wanted = grants::wanted(&identity.roles, &sign_on.prefix);
    let mut tx = management.begin().await?;
    if !identity::use_up(&mut tx, sealed::key(attempt)).await? {
        return Err(NotSignedOn::Lost);
    }
    let user = account::find_or_create(&mut tx, sign_on, identity, &wanted).await?;
    let account = person::lock_account(&mut tx, user).await?;
    memberships::bring_up_to_date(&mut tx, visitor, user, wanted).await?;
    if person::memberships(&mut tx, user).await?.is_empty() {
        // What was taken away stays away.
        session::end_all(&mut tx, user, None).await?;
        tx.commit().await.map_err(store::Error::from)?;
        warn!(address = %visitor.address, "the provider knows a person who has no role here");
        return Err(NotSignedOn::NoRole);
    }
    let proved = Proved {
        authenticated_at: identity.authenticated_at,
        is_strong: identity.is_strong,
    };
    let signed_in = enter_by_provider(&mut tx, visitor, &account, proved).await?;
    let details = json!({ "address": visitor.address, "issuer": sign_on.issuer() });
    let (action, target) = (Action::SessionCreate, signed_in.session.as_uuid());
    record(&mut tx, user, visitor, action, target, &details).await?;
    tx.commit().await.map_err(store::Error::from)?;
    Ok(signed_in)
}

/// Notes that the owner of the session has authenticated again.
async fn prove_again(
    management: &Management,
    sign_on: &SignOn,
    session: SecretHash,
    attempt: &Attempt,
    identity: &Identity,
) -> Result<(), NotSignedOn> {
    let mut own = management.own(session).await?;
    if !identity::use_up(&mut own.tx, sealed::key(attempt)).await? {
        return Err(NotSignedOn::Lost);
    }
    let user = identity::user(&mut own.tx, sign_on.issuer(), &identity.subject).await?;
    if user != Some(own.held.user) {
        return Err(NotSignedOn::OtherPerson);
    }
    session::note_password(&mut own.tx, own.held.id).await?;
    own.tx.commit().await.map_err(store::Error::from)?;
    Ok(())
}

/// Connects the owner of the session with the provider's person. The provider's roles count from the next sign-in there.
async fn connect(
    management: &Management,
    visitor: &Visitor,
    sign_on: &SignOn,
    session: SecretHash,
    attempt: &Attempt,
    identity: &Identity,
) -> Result<(), NotSignedOn> {
    let mut own = management.own(session).await?;
    own.require_recent_password()?;
    if !identity::use_up(&mut own.tx, sealed::key(attempt)).await? {
        return Err(NotSignedOn::Lost);
    }
    let (user, issuer) = (own.held.user, sign_on.issuer());
    if !identity::create(&mut own.tx, issuer, &identity.subject, user).await? {
        return Err(NotSignedOn::KnownPerson);
    }
    let (action, details) = (Action::IdentityCreate, json!({ "issuer": issuer }));
    own.done(visitor, action, user.as_uuid(), &details).await?;
    Ok(())
}

impl From<store::Error> for NotSignedOn {
    fn from(error: store::Error) -> Self {
        Self::Refused(Refused::from(error))
    }
}
