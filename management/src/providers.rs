//! The providers that sites can choose from: list.

use domain::scope::Scope;
use store::provider;
pub use store::provider::KnownProvider;

use crate::{Caller, Management, Refused};

/// The providers that workers are configured with, in the operator's order.
///
/// # Errors
/// The caller may not do it.
pub async fn list(management: &Management, caller: &Caller) -> Result<Vec<KnownProvider>, Refused> {
    let mut session = management.read(caller, Scope::SitesRead).await?;
    Ok(provider::list(session.conn()).await?)
}
