//! A person's own sessions: list, end.

use domain::{audit::Action, id::SessionId, key::SecretHash};
use serde_json::json;
use store::person::session;
pub use store::person::session::Listed;

use crate::{AnonymousCaller, Management, Noun, Refused, boxed};

/// The id of this session, and all sessions of the person that are not over, the latest first.
///
/// # Errors
/// The session is over or lacks its second factor.
#[boxed]
pub async fn list(
    management: &Management,
    session: SecretHash,
) -> Result<(SessionId, Vec<Listed>), Refused> {
    let mut own = management.own(session).await?;
    let sessions = session::of_user(&mut own.tx, own.held.user).await?;
    Ok((own.held.id, sessions))
}

/// Ends one of the person's sessions, at once.
///
/// # Errors
/// The session is over or lacks its second factor, or the person has no such session.
#[boxed]
pub async fn end(
    management: &Management,
    anonymous_caller: &AnonymousCaller,
    session: SecretHash,
    ended: SessionId,
) -> Result<(), Refused> {
    let mut own = management.own(session).await?;
    if !session::end(&mut own.tx, own.held.user, ended).await? {
        return Err(Refused::NotFound(Noun::Session));
    }
    own.done(
        anonymous_caller,
        Action::SessionEnd,
        ended.as_uuid(),
        &json!({}),
    )
    .await
}

/// Ends all other sessions of the person, at once, and tells how many there were.
///
/// # Errors
/// The session is over or lacks its second factor.
#[boxed]
pub async fn end_others(
    management: &Management,
    anonymous_caller: &AnonymousCaller,
    session: SecretHash,
) -> Result<u64, Refused> {
    let mut own = management.own(session).await?;
    let (user, this) = (own.held.user, own.held.id);
    let ended = session::end_all(&mut own.tx, user, Some(this)).await?;
    if ended > 0 {
        let details = json!({ "ended": ended });
        own.done(
            anonymous_caller,
            Action::SessionEnd,
            this.as_uuid(),
            &details,
        )
        .await?;
    }
    Ok(ended)
}
