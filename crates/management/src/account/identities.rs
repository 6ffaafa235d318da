//! The person's own connections with providers of single sign-on: list, disconnect.

use domain::{audit::Action, id::IdentityId, key::SecretHash};
use serde_json::json;
pub use store::person::sso_identity::Connected;
use store::person::{self, sso_identity};

use crate::{AnonymousCaller, Management, Noun, Refused, SignOn, boxed};

/// The identities of the session's owner at all providers, the oldest first, also at those that are not configured now.
///
/// # Errors
/// The session is over or lacks its second factor.
#[boxed]
pub async fn list(management: &Management, session: SecretHash) -> Result<Vec<Connected>, Refused> {
    let mut own = management.own(session).await?;
    Ok(sso_identity::of_user(&mut own.tx, own.held.user, None).await?)
}

/// Whether this identity is one of the provider that is configured now.
pub fn is_in_use(management: &Management, identity: &Connected) -> bool {
    let issuer = management.sign_on.as_ref().map(SignOn::issuer);
    issuer == Some(identity.issuer.as_str())
}

/// Disconnects the account from an identity, and ends the sessions that began with it, at once. If this session is one of
/// them, it ends, too.
///
/// # Errors
/// The session is over or lacks its second factor, or the password was given too long ago; the account has no such identity;
/// it has no password, so that nobody could sign in any more.
#[boxed]
pub async fn disconnect(
    management: &Management,
    anonymous_caller: &AnonymousCaller,
    session: SecretHash,
    identity: IdentityId,
) -> Result<(), Refused> {
    let mut own = management.own(session).await?;
    own.require_recent_password()?;
    let user = own.held.user;
    let connected = sso_identity::of_user(&mut own.tx, user, None).await?;
    let one = connected.iter().find(|one| one.id == identity);
    let one = one.ok_or(Refused::NotFound(Noun::Identity))?;
    let account = person::lock_account(&mut own.tx, user).await?;
    if !account.has_password {
        return Err(Refused::Invalid(
            "You have no password, so you could not sign in any more: ask for a link to a new password first.".into(),
        ));
    }
    let ended = sso_identity::delete(&mut own.tx, user, identity).await?;
    let details = json!({
        "issuer": one.issuer,
        "ended_sessions": ended.unwrap_or_default(),
    });
    let (action, target) = (Action::IdentityDelete, identity.as_uuid());
    own.done(anonymous_caller, action, target, &details).await
}
