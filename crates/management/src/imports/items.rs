//! The items of an archive, a member at a time.

use std::collections::HashMap;

use domain::{
    id::{MediaId, SiteId},
    scope::Scope,
};
use store::import::{self, Batch};
use uuid::Uuid;

use super::{Line, Target};
use crate::{Caller, Management, Refused, sites};

/// What came of a member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// Items that were stored.
    pub added: u64,
    /// Items that were there already, and stay as they are.
    pub there: u64,
    /// Items without a verdict, which are left out: they would be judged and told a second time.
    pub pending: u64,
}

/// Stores the items of a member, in one transaction. Items that are there stay as they are.
///
/// # Errors
/// The caller may not do it; an item belongs to another site here; a line is not as an export writes it.
pub async fn items(
    management: &Management,
    caller: &Caller,
    target: &Target,
    lines: Vec<Line>,
) -> Result<Stored, Refused> {
    let mut session = management.change(caller, Scope::SitesWrite).await?;
    sites::require_open(&mut session, target.site).await?;
    let ids: Vec<Uuid> = lines.iter().map(|line| line.id.as_uuid()).collect();
    let there = import::existing(session.conn(), &ids).await?;
    let there: HashMap<MediaId, SiteId> = there.into_iter().collect();
    if let Some((media, site)) = there.iter().find(|(_, site)| **site != target.site) {
        let detail = format!(
            "The item {media} is there already, at the site {site}. An item cannot be at two sites: import into another \
             database, or name that site with --site."
        );
        return Err(Refused::Invalid(detail.into()));
    }
    let mut stored = Stored::default();
    let mut batch = Batch::default();
    for line in lines {
        let is_there = there.contains_key(&line.id);
        let is_new = || batch.items.iter().any(|item| item.id == line.id);
        if line.page.is_some() {
            // Of an item that was left out, there is nothing to add to.
            if is_there || is_new() {
                line.add_history_to(&mut batch);
            }
        } else if is_there {
            stored.there += 1;
        } else if line.is_pending() {
            stored.pending += 1;
        } else {
            let here = |version: &Uuid| target.versions.get(version).copied();
            line.add_to(&mut batch, here)
                .map_err(|wrong| Refused::Invalid(wrong.to_string().into()))?;
            stored.added += 1;
        }
    }
    let to = (target.team, target.site);
    import::add(session.conn(), to, &batch).await?;
    session.commit_unrecorded().await?;
    Ok(stored)
}
