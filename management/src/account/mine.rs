//! The account of somebody who has signed in, and where that person can go.

use domain::key::SecretHash;
use store::person::entrance;
pub use store::person::entrance::{Entrance, Mine};

use crate::{Management, Refused};

/// The account of the session's owner, and whether it has a second factor.
///
/// # Errors
/// The session is over, or lacks its second factor.
pub async fn get(management: &Management, session: SecretHash) -> Result<(Mine, bool), Refused> {
    let mut own = management.own(session).await?;
    let mine = entrance::mine(&mut own.tx, own.held.user).await?;
    Ok((mine, own.held.has_factor))
}
