//! The account of somebody who has signed in, and where that person can go.

use domain::key::SecretHash;
pub use store::person::entrance::{Entrance, Mine};
use store::person::{entrance, identity};

use crate::{Management, Refused};

/// Somebody who has signed in.
#[derive(Debug)]
pub struct Owner {
    /// The account.
    pub mine: Mine,
    /// Whether it has a second factor.
    pub has_factor: bool,
    /// Whether it is connected with the provider of single sign-on.
    pub is_connected: bool,
}

/// The owner of the session.
///
/// # Errors
/// The session is over, or lacks its second factor.
pub async fn get(management: &Management, session: SecretHash) -> Result<Owner, Refused> {
    let mut own = management.own(session).await?;
    let (user, by_provider) = (own.held.user, own.held.by_provider);
    let mine = entrance::mine(&mut own.tx, user, by_provider).await?;
    let is_connected = match &management.sign_on {
        Some(sign_on) => identity::is_known(&mut own.tx, sign_on.issuer(), user).await?,
        None => false,
    };
    Ok(Owner {
        mine,
        has_factor: own.held.has_factor,
        is_connected,
    })
}
