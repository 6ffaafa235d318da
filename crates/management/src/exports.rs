//! Exports of a site's data: create, list, read, and the archive, which is built while it is read.
//!
//! Each member of an archive is built in a session of its own, so a token that is disabled stops a download, and the team's
//! turn is asked for each member. Between members, nothing is held but the place where the next one begins.

pub mod archive;
mod archive_member;

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use domain::{
    audit::Action,
    id::{ExportId, SiteId, TeamId},
    scope::Scope,
};
use serde_json::json;
pub use store::export::{Export, MOST};
use store::{
    export::{self, NewExport},
    page::Page,
    site,
};

use self::{
    archive::{Cursor, Part},
    archive_member::Built,
};
use crate::{Caller, Conflict, Noun, Refused, Session, boxed, created, record};

/// How long one answer goes on. Then it ends after a whole member, and the client goes on with another request, so that
/// slow clients cannot keep others waiting for their turn for ever.
const LONGEST: Duration = Duration::from_mins(10);

/// How long the client may still take to read the last member. Beyond that, its connection is broken.
const GRACE: Duration = Duration::from_mins(1);

/// Exports within the caller's reach, the newest first.
///
/// # Errors
/// The caller may not do it.
#[boxed]
pub async fn list(caller: &Caller, page: Page) -> Result<Vec<Export>, Refused> {
    let mut session = caller.read(Scope::SitesExport).await?;
    let reach = session.reach();
    Ok(export::list(session.conn(), reach, page).await?)
}

/// An export.
///
/// # Errors
/// The caller may not do it; there is no such export within reach.
#[boxed]
pub async fn get(caller: &Caller, export: ExportId) -> Result<Export, Refused> {
    let mut session = caller.read(Scope::SitesExport).await?;
    find(&mut session, export).await
}

/// Creates an export of what the site has by now.
///
/// # Errors
/// The caller may not do it; there is no such site within reach; the team has as many exports as it can have.
#[boxed]
pub async fn create(caller: &Caller, site: SiteId) -> Result<Export, Refused> {
    let mut session = caller.change(Scope::SitesExport).await?;
    let reach = session.reach();
    let site = site::settings::find(session.conn(), reach, site).await?;
    let site = site.ok_or_else(|| Refused::field("site_id", "is no site"))?;
    let new = NewExport {
        team: site.team,
        site: site.id,
        by: session.actor(),
    };
    let id = export::create(session.conn(), new).await?;
    let id = id.ok_or_else(|| {
        let detail =
            format!("The team has {MOST} exports, which is the most. Each expires after 7 days.");
        Refused::conflict(Conflict::LimitReached, detail)
    })?;
    let export = find(&mut session, id).await?;
    let action = Action::ExportCreate;
    record(session, action, export.team, export.site, created(&export)).await?;
    Ok(export)
}

/// The archive of an export, from the beginning or after a member.
pub struct Reading {
    export: Export,
    cursor: Cursor,
    ends: Instant,
    _turn: Turn,
}

/// Begins to read the archive of an export, or goes on after the member that ends at this cursor.
///
/// # Errors
/// The caller may not do it; there is no such export within reach; the team reads an archive already, or too many others do.
#[boxed]
pub async fn open(
    caller: &Caller,
    export: ExportId,
    after: Option<Cursor>,
) -> Result<Reading, Refused> {
    let mut session = caller.change(Scope::SitesExport).await?;
    let export = find(&mut session, export).await?;
    let turn = caller.management.exports.take(export.team)?;
    let cursor = after.unwrap_or_default();
    let details = json!({ "read": { "export_id": export.id, "after_member": cursor.number } });
    let action = Action::ExportRead;
    record(session, action, export.team, export.site, details).await?;
    Ok(Reading {
        export,
        cursor,
        ends: Instant::now() + LONGEST,
        _turn: turn,
    })
}

impl Reading {
    /// What is read.
    pub const fn export(&self) -> &Export {
        &self.export
    }

    /// Whether the client reads so slowly that others should have its turn.
    pub fn is_overdue(&self) -> bool {
        Instant::now() >= self.ends + GRACE
    }

    /// The bytes of the next member. `None`: the archive has ended, or another request must go on.
    ///
    /// # Errors
    /// The caller may not do it any more; the database failed; too much is waiting.
    #[boxed]
    pub async fn next(&mut self, caller: &Caller) -> Result<Option<Vec<u8>>, Refused> {
        loop {
            if self.cursor.part == Part::End || Instant::now() >= self.ends {
                return Ok(None);
            }
            match archive_member::next(caller, &self.export, &self.cursor).await? {
                Built::Member(name, content, mut next) => {
                    next.number += 1;
                    next.digest = archive::chain(&self.cursor.digest, &name, &content);
                    let mut bytes = archive::member(&name, &content, &next);
                    if next.part == Part::End {
                        bytes.resize(bytes.len() + archive::END, 0);
                    }
                    self.cursor = next;
                    return Ok(Some(bytes));
                }
                Built::Nothing(next) => self.cursor = next,
            }
        }
    }
}

async fn find(session: &mut Session, export: ExportId) -> Result<Export, Refused> {
    let reach = session.reach();
    let export = export::find(session.conn(), reach, export).await?;
    export.ok_or(Refused::NotFound(Noun::Export))
}

/// Archives that are read at once in a process.
const AT_ONCE: usize = 4;

/// In how many seconds to try again.
const SOON: u32 = 5;

/// The teams whose archives are being read.
#[derive(Clone, Debug, Default)]
pub struct ConcurrentReads(Arc<Mutex<HashSet<TeamId>>>);

/// An archive that is being read. It ends when this is dropped.
struct Turn {
    of: ConcurrentReads,
    team: TeamId,
}

impl ConcurrentReads {
    /// A turn of this team.
    ///
    /// # Errors
    /// The team reads an archive, or too many others do.
    fn take(&self, team: TeamId) -> Result<Turn, Refused> {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if running.len() >= AT_ONCE || !running.insert(team) {
            return Err(Refused::TooManyDownloads { seconds: SOON });
        }
        Ok(Turn {
            of: self.clone(),
            team,
        })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut running = self.of.0.lock().unwrap_or_else(PoisonError::into_inner);
        running.remove(&self.team);
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_team_reads_one_archive_at_a_time_and_all_together_a_few() {
        let streams = ConcurrentReads::default();
        let team = |n| TeamId::from(Uuid::from_u128(n));
        let first = streams.take(team(0)).unwrap();
        assert!(streams.take(team(0)).is_err());
        let others: Vec<_> = (1..20).filter_map(|n| streams.take(team(n)).ok()).collect();
        assert_eq!(others.len(), AT_ONCE - 1);
        drop(first);
        assert!(streams.take(team(1)).is_err());
        assert!(streams.take(team(0)).is_ok());
    }
}
