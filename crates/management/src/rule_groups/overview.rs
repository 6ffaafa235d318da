//! Rule groups with the sites that they judge for, as people look at them.

use domain::{id::RuleGroupId, scope::Scope};
use store::{
    page::Page,
    rule_group::{self, Group, JudgedSite, Publication},
};

use super::find;
use crate::{Caller, Refused, Session, boxed};

/// The most sites of a group that are named.
const NAMED: usize = 5;

/// A group, and where it judges.
#[derive(Debug)]
pub struct Placed {
    /// The group.
    pub group: Group,
    /// Sites that it judges for.
    pub sites: Vec<JudgedSite>,
    /// Whether it judges for more sites than these.
    pub has_more: bool,
}

/// Rule groups within the caller's reach, and where they judge; the oldest first.
///
/// # Errors
/// The caller may not do it.
#[boxed]
pub async fn list(caller: &Caller, page: Page) -> Result<Vec<Placed>, Refused> {
    let mut session = begin(caller).await?;
    let reach = session.reach();
    let groups = rule_group::list(session.conn(), reach, page).await?;
    place(&mut session, groups).await
}

/// A rule group, where it judges, and when its live version became live.
///
/// # Errors
/// The caller may not do it; there is no such group within reach.
#[boxed]
pub async fn get(
    caller: &Caller,
    group: RuleGroupId,
) -> Result<(Placed, Option<Publication>), Refused> {
    let mut session = begin(caller).await?;
    let group = find(&mut session, group).await?;
    let published = rule_group::publications(session.conn(), group.id, Page::ONE).await?;
    let placed = place(&mut session, vec![group]).await?.pop();
    let placed = placed.ok_or(Refused::Internal)?;
    Ok((placed, published.into_iter().next()))
}

async fn begin(caller: &Caller) -> Result<Session, Refused> {
    let session = caller.read(Scope::RulesRead).await?;
    session.require(Scope::SitesRead)?;
    Ok(session)
}

async fn place(session: &mut Session, groups: Vec<Group>) -> Result<Vec<Placed>, Refused> {
    let ids: Vec<RuleGroupId> = groups.iter().map(|group| group.id).collect();
    let most = i64::try_from(NAMED + 1).map_err(|_| Refused::Internal)?;
    let judged = rule_group::judged_sites(session.conn(), &ids, most).await?;
    let placed = groups.into_iter().map(|group| {
        let own = judged.iter().filter(|judged| judged.group == group.id);
        let mut sites: Vec<JudgedSite> = own.cloned().collect();
        let has_more = sites.len() > NAMED;
        sites.truncate(NAMED);
        Placed {
            group,
            sites,
            has_more,
        }
    });
    Ok(placed.collect())
}
