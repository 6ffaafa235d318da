//! A new token: its scopes and its expiry.

use chrono::{DateTime, SecondsFormat, Utc};
use domain::{id::TeamId, name::Name, scope::Scope};

use crate::{Refused, Session};

/// A token to create.
#[derive(Debug)]
pub struct NewToken {
    /// What it is called.
    pub name: Name,
    /// The team in which it acts. `None`: the team of the caller. If an operator names no team, the
    /// new token is an operator's token.
    pub team: Option<TeamId>,
    /// What it can do: only scopes that the caller has.
    pub scopes: Vec<Scope>,
    /// When it expires, at the latest when the caller does. `None`: when the caller does.
    pub expires_at: Option<DateTime<Utc>>,
}

/// The scopes of a new token, each once. There must be at least one, and the caller must have all
/// of them.
pub(super) fn scopes(session: &Session, new: &NewToken) -> Result<Vec<Scope>, Refused> {
    let mut scopes = new.scopes.clone();
    scopes.sort_unstable();
    scopes.dedup();
    if scopes.is_empty() {
        return Err(Refused::field("scopes", "must have at least one"));
    }
    match scopes.iter().find(|scope| !session.has(**scope)) {
        Some(lacking) => Err(Refused::missing_scope(*lacking)),
        None => Ok(scopes),
    }
}

/// When a new token expires: in the future, and not after the caller does.
pub(super) fn expires_at(
    session: &Session,
    new: &NewToken,
) -> Result<Option<DateTime<Utc>>, Refused> {
    if new.expires_at.is_some_and(|at| at <= Utc::now()) {
        return Err(Refused::field("expires_at", "must be in the future"));
    }
    session
        .grant()
        .expiry_of_child(new.expires_at)
        .map_err(|own| {
            let own = own.to_rfc3339_opts(SecondsFormat::Micros, true);
            let message =
                format!("must not be after {own}, when the token that creates it expires");
            Refused::field("expires_at", message)
        })
}
