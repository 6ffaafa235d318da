//! The account of somebody whom the provider knows.

use domain::{
    audit::Action,
    email::Email,
    id::{IdentityId, UserId},
    key::SecretHash,
};
use oidc::Attempt;
use serde_json::json;
use store::{
    PgConnection,
    person::{
        self, Account, credentials,
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
    AnonymousCaller, Management, Refused, SignOn,
    account::{SignedIn, enter_by_provider, record},
    passwords,
};

/// The account of the issuer's subject. A person with a role or an invitation gets one at the first sign-in. An account is
/// never found by its e-mail address: anyone who can change the address at the provider would get the account.
pub(super) async fn find_or_create(
    conn: &mut PgConnection,
    anonymous_caller: &AnonymousCaller,
    sign_on: &SignOn,
    claims: &IdentityClaims,
    wish: Wish,
) -> Result<UserId, NotSignedOn> {
    let issuer = sign_on.issuer();
    if let Some(user) = sso_identity::user(conn, issuer, &claims.subject).await? {
        return Ok(user);
    }
    let email = claims.email.as_ref().ok_or(NotSignedOn::NoEmail)?;
    let known = person::account(conn, email).await?;
    let is_taken = known.is_some();
    if let Some(known) = known {
        if !can_take(conn, sign_on, claims, email, &known).await? {
            return Err(NotSignedOn::KnownEmail);
        }
        if wish != Wish::TakeAddress {
            return Err(NotSignedOn::Unproven);
        }
        give_up(conn, anonymous_caller, issuer, &known).await?;
    }
    let is_invited = match wish {
        Wish::Join(_) if !claims.is_verified => return Err(NotSignedOn::NoEmail),
        Wish::Join(link) => {
            if !invites(conn, link, email.as_str()).await? {
                return Err(NotSignedOn::NotInvited);
            }
            true
        }
        // Even without a role, so that the address is nobody else's from now on.
        Wish::TakeAddress => is_taken,
        Wish::Enter => false,
    };
    if claims.wanted.is_empty() && !is_invited {
        return Err(NotSignedOn::NoRole);
    }
    create(conn, issuer, claims, email).await
}

/// Whether the account has to give its address up: the address belongs to the provider, which calls this person its owner
/// and has never called anybody so who has the account.
async fn can_take(
    conn: &mut PgConnection,
    sign_on: &SignOn,
    claims: &IdentityClaims,
    email: &Email,
    known: &Account,
) -> Result<bool, Refused> {
    if !claims.is_verified || !sign_on.owns(email) {
        return Ok(false);
    }
    Ok(!sso_identity::is_proven(conn, sign_on.issuer(), known.user).await?)
}

/// Takes its address from an account. Nobody can sign in to it any more. Its teams are told.
async fn give_up(
    conn: &mut PgConnection,
    anonymous_caller: &AnonymousCaller,
    issuer: &str,
    known: &Account,
) -> Result<(), NotSignedOn> {
    let user = known.user;
    let account = person::lock_account(conn, user).await?;
    if account.email != known.email || sso_identity::is_proven(conn, issuer, user).await? {
        return Err(NotSignedOn::KnownEmail);
    }
    let (ended, had_factor) = credentials::clear(conn, user, &passwords::of_nobody()).await?;
    let email = credentials::give_up_address(conn, user).await?;
    warn!(%user, "an account gave its address up to a person whom the provider calls verified");
    let details = json!({
        "changed": { "email": { "from": account.email, "to": email } },
        "decided_by": "provider",
        "issuer": issuer,
        "ended": ended,
        "had_factor": had_factor,
    });
    let action = Action::AddressGiveUp;
    record(
        conn,
        user,
        anonymous_caller,
        action,
        user.as_uuid(),
        &details,
    )
    .await?;
    Ok(())
}

async fn create(
    conn: &mut PgConnection,
    issuer: &str,
    claims: &IdentityClaims,
    email: &Email,
) -> Result<UserId, NotSignedOn> {
    let (name, hash) = (claims.name_or(email), passwords::of_nobody());
    let created = person::create_without_password(conn, email, &name, &hash).await?;
    let Some(user) = created else {
        // Perhaps the same person has signed in for the first time in two browsers at once.
        let user = sso_identity::user(conn, issuer, &claims.subject).await?;
        return user.ok_or(NotSignedOn::KnownEmail);
    };
    let address = claims.address();
    let connected: Option<IdentityId> =
        sso_identity::create(conn, issuer, &claims.subject, user, address).await?;
    connected.map(|_| user).ok_or(NotSignedOn::Lost)
}

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
