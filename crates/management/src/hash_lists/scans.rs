//! Scans: compare a hash list with stored images, watch, see what is on the list, cancel.

use domain::{
    audit::Action,
    bounded_integer::BoundedInteger,
    id::{HashListId, HashScanId, TeamId},
    scope::Scope,
};
use serde_json::json;
pub use store::hash_list::scan::{LISTED, Match, Scan};
use store::{hash_list::scan, page::Page};

use super::find;
use crate::{Caller, Conflict, Noun, Refused, Session, boxed, created, record};

/// A revision of a list.
pub type Revision = BoundedInteger<0, 1_000_000_000_000>;

/// What to scan.
#[derive(Debug, Default)]
pub struct NewScan {
    /// The team whose items are looked at. If `None`, it is the team of the list; for a shared
    /// list, it is the team of the caller, and for an operator all teams.
    pub team: Option<TeamId>,
    /// Only entries that are newer than this revision of the list. `None`: all entries.
    pub since_revision: Option<Revision>,
}

/// Scans for a list over items within the caller's reach, the latest first.
///
/// # Errors
/// The caller may not do it; there is no such list within reach.
#[boxed]
pub async fn list(caller: &Caller, list: HashListId, page: Page) -> Result<Vec<Scan>, Refused> {
    let mut session = caller.read(Scope::HashListsRead).await?;
    let list = find(&mut session, list).await?;
    let reach = session.reach();
    Ok(scan::list(session.conn(), reach, list.id, page).await?)
}

/// Starts a scan. Each list and team can have one scan at a time. No verdict changes.
///
/// # Errors
/// The caller may not do it; the team does not exist, or is not the list's; there is no such list within reach; a scan for
/// the list and the team has not ended.
#[boxed]
pub async fn create(caller: &Caller, list: HashListId, new: NewScan) -> Result<Scan, Refused> {
    let mut session = caller.change(Scope::HashListsWrite).await?;
    let named = session.named_team(new.team).await?;
    let list = find(&mut session, list).await?;
    if list.team.is_some() && named.is_some() && list.team != named {
        return Err(Refused::field("team_id", "is not the list's team"));
    }
    let team = list.team.or(named);
    let wanted = scan::NewScan {
        list: list.id,
        team,
        since_revision: new.since_revision.map(BoundedInteger::get),
        by: session.actor(),
    };
    let started = scan::create(session.conn(), wanted).await?;
    let (id, jobs) = started.ok_or_else(|| {
        Refused::conflict(
            Conflict::ScanRunning,
            "The list is being held against these items: wait for it, or cancel it.",
        )
    })?;
    let scan = find_scan(&mut session, id).await?;
    let (action, details) = (Action::HashScanCreate, created(&scan));
    record(session, action, team, list.id.as_uuid(), details).await?;
    caller.management.queue.enqueued(&jobs);
    Ok(scan)
}

/// How far a scan has got, and how much it has found so far.
///
/// # Errors
/// The caller may not do it; there is no such scan within reach.
#[boxed]
pub async fn get(caller: &Caller, scan: HashScanId) -> Result<Scan, Refused> {
    let mut session = caller.read(Scope::HashListsRead).await?;
    find_scan(&mut session, scan).await
}

/// What a scan found, the newest items first.
///
/// # Errors
/// The caller may not do it; there is no such scan within reach.
#[boxed]
pub async fn matches(caller: &Caller, scan: HashScanId, page: Page) -> Result<Vec<Match>, Refused> {
    let mut session = caller.read(Scope::HashListsRead).await?;
    let scan = find_scan(&mut session, scan).await?;
    Ok(scan::matches(session.conn(), scan.id, page).await?)
}

/// Cancels a scan. What it has found is kept. A scan that has ended stays as it is.
///
/// # Errors
/// The caller may not do it; there is no such scan within reach.
#[boxed]
pub async fn cancel(caller: &Caller, scan: HashScanId) -> Result<Scan, Refused> {
    let mut session = caller.change(Scope::HashListsWrite).await?;
    let before = find_scan(&mut session, scan).await?;
    if !scan::cancel(session.conn(), before.id).await? {
        return Ok(before);
    }
    let after = find_scan(&mut session, before.id).await?;
    let details = json!({ "cancelled": after });
    let (team, list) = (after.team, after.list.as_uuid());
    record(session, Action::HashScanCancel, team, list, details).await?;
    Ok(after)
}

/// A scan over items within the caller's reach.
async fn find_scan(session: &mut Session, scan: HashScanId) -> Result<Scan, Refused> {
    let reach = session.reach();
    let scan = scan::find(session.conn(), reach, scan).await?;
    scan.ok_or(Refused::NotFound(Noun::Scan))
}
