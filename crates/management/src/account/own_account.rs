//! The account of somebody who has signed in, and where that person can go.

use domain::key::SecretHash;
pub use store::person::own_account::{Entrance, Factor, Mine};
use store::person::{own_account, session};

use crate::{
    Management, Refused, SignOn, boxed,
    session::{factor_required, factor_set_up_required},
};

/// The account of the session's owner.
///
/// # Errors
/// The session is over, or lacks its second factor.
#[boxed]
pub async fn get(management: &Management, held: SecretHash) -> Result<Mine, Refused> {
    let issuer = management.sign_on.as_ref().map(SignOn::issuer);
    let mine = own_account::mine(&management.pool, held, issuer).await?;
    let mine = mine.ok_or(Refused::Unauthenticated)?;
    if mine.is_untouched {
        session::touch(&management.pool, held).await?;
    }
    match mine.factor {
        Factor::None | Factor::Given | Factor::Vouched => Ok(mine),
        Factor::Asked => Err(factor_required()),
        Factor::Missing => Err(factor_set_up_required()),
    }
}
