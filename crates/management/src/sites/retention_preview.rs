//! What the retention of a site means now.

use domain::{id::SiteId, scope::Scope};
pub use store::media::{Content, RetentionPreview};

use crate::{Caller, Management, Noun, Refused};

/// What is removed of a site now, and what is next.
///
/// # Errors
/// The caller may not do it; there is no such site within reach.
pub async fn outlook(
    management: &Management,
    caller: &Caller,
    site: SiteId,
) -> Result<RetentionPreview, Refused> {
    let mut session = management.read(caller, Scope::SitesRead).await?;
    let reach = session.reach();
    let outlook = store::media::retention_preview(session.conn(), reach, site).await?;
    outlook.ok_or(Refused::NotFound(Noun::Site))
}
