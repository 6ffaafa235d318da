//! The account of somebody whom the provider knows.

use domain::{
    audit::Action,
    email::Email,
    id::{IdentityId, UserId},
};
use serde_json::json;
use store::{
    PgConnection,
    person::{self, Account, credentials, sso_identity},
};
use tracing::warn;

use super::{
    NotSignedOn,
    identity_claims::IdentityClaims,
    sign_in::{Wish, invites},
};
use crate::{AnonymousCaller, Refused, SignOn, account::record, passwords};

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
