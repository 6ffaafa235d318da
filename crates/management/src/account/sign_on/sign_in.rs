//! Signing in with the provider.

use domain::{audit::Action, key::SecretHash};
use oidc::Attempt;
use serde_json::json;
use store::{
    PgConnection,
    person::{
        self,
        one_time_link::{self, Purpose},
        session::{self, Proved},
        sso_identity,
    },
};
use tracing::warn;

use super::{
    NotSignedOn, account, encrypted_attempt, identity_claims::IdentityClaims, memberships,
};
use crate::{
    AnonymousCaller, Management, SignOn,
    account::{SignedIn, enter_by_provider, record},
};

/// What somebody wants who signs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// To sign in.
    Enter,
    /// To take the address from an account that nobody has proved to own it.
    TakeAddress,
    /// To accept the invitation of this link, once signed in.
    Join(SecretHash),
}

/// Signs in. What the provider grants is brought up to date first.
pub(super) async fn enter(
    management: &Management,
    anonymous_caller: &AnonymousCaller,
    sign_on: &SignOn,
    attempt: &Attempt,
    claims: &IdentityClaims,
    wish: Wish,
) -> Result<SignedIn, NotSignedOn> {
    let mut tx = management.begin().await?;
    if !sso_identity::use_up(&mut tx, encrypted_attempt::key(attempt)).await? {
        return Err(NotSignedOn::Lost);
    }
    let user = account::find_or_create(&mut tx, anonymous_caller, sign_on, claims, wish).await?;
    let account = person::lock_account(&mut tx, user).await?;
    // Checked under the lock, because an operation that ends all sign-ins holds the same lock.
    let (issuer, subject) = (sign_on.issuer(), &claims.subject);
    let known = sso_identity::sign_in(&mut tx, issuer, subject, user, claims.address()).await?;
    let identity = known.ok_or(NotSignedOn::Lost)?;
    memberships::bring_up_to_date(&mut tx, anonymous_caller, user, &claims.wanted).await?;
    let is_invited = match wish {
        Wish::Join(link) => {
            if !invites(&mut tx, link, &account.email).await? {
                return Err(NotSignedOn::NotInvited);
            }
            true
        }
        Wish::Enter | Wish::TakeAddress => false,
    };
    if !is_invited && !person::is_somebody(&mut tx, user).await? {
        // What was taken away stays away.
        session::end_all(&mut tx, user, None).await?;
        tx.commit().await.map_err(store::Error::from)?;
        warn!(address = %anonymous_caller.address, "the provider knows a person who has no role here");
        return Err(NotSignedOn::NoRole);
    }
    let proved = Proved {
        identity,
        authenticated_at: claims.authenticated_at,
        is_strong: claims.is_strong,
    };
    let signed_in = enter_by_provider(&mut tx, anonymous_caller, &account, proved).await?;
    let details = json!({ "address": anonymous_caller.address, "issuer": issuer });
    let (action, target) = (Action::SessionCreate, signed_in.session.as_uuid());
    record(&mut tx, user, anonymous_caller, action, target, &details).await?;
    tx.commit().await.map_err(store::Error::from)?;
    Ok(signed_in)
}

/// Whether the link is an open invitation of this address.
pub(super) async fn invites(
    conn: &mut PgConnection,
    link: SecretHash,
    email: &str,
) -> Result<bool, store::Error> {
    let found = one_time_link::find(conn, link).await?;
    Ok(matches!(found, Some(Purpose::Invitation(invitation)) if invitation.email == email))
}
