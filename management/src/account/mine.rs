//! The account of somebody who has signed in, and where that person can go.

use domain::key::SecretHash;
pub use store::person::entrance::{Entrance, Mine};
use store::person::{entrance, session};

use crate::{
    Management, Refused,
    session::{factor_required, factor_set_up_required},
};

/// The account of the session's owner.
///
/// # Errors
/// The session is over, or lacks its second factor.
pub async fn get(management: &Management, held: SecretHash) -> Result<Mine, Refused> {
    let mine = entrance::mine(&management.pool, held).await?;
    let mine = mine.ok_or(Refused::Unauthenticated)?;
    if mine.is_untouched {
        session::touch(&management.pool, held).await?;
    }
    if mine.has_factor && !mine.has_given_factor {
        return Err(factor_required());
    }
    if !mine.has_factor && mine.needs_factor {
        return Err(factor_set_up_required());
    }
    Ok(mine)
}
