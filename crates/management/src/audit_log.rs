//! The audit log: list.

use domain::scope::Scope;
pub use store::audit::{Filter, Recorded};
use store::{audit, page::Page};

use crate::{Caller, Refused, boxed};

/// Entries within the caller's reach, the latest first. Within a team's reach are those that concern it.
///
/// # Errors
/// The caller may not do it.
#[boxed]
pub async fn list(caller: &Caller, filter: Filter, page: Page) -> Result<Vec<Recorded>, Refused> {
    let mut session = caller.read(Scope::AuditRead).await?;
    let reach = session.reach();
    Ok(audit::list(session.conn(), reach, filter, page).await?)
}
