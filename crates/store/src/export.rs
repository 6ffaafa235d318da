//! Exports of a site's data: which ones there are, and the rows that their archives are built from.
//!
//! An archive is read member by member, each in a short transaction. The export's boundary, an id, says which items belong to
//! it. So no transaction stays open while somebody downloads, and the set of items is the same however long that takes. What
//! people decide meanwhile can show in later members.

mod audit;
mod create;
mod items;
mod read;
mod rules;

use chrono::{DateTime, Utc};
use domain::id::{ActorId, ExportId, SiteId, TeamId};
use serde::Serialize;
use uuid::Uuid;

pub(crate) use self::read::forget_old;
pub use self::{
    audit::{AuditSlice, audit_slice},
    create::{MOST, NewExport, create},
    items::{PAGE, Planned, lines, page, planned},
    read::{find, list},
    rules::{ExportedGroup, ListedVersion, next_group, next_version},
};

/// An export. The audit log shows it as the management interface does.
#[derive(Clone, Debug, Serialize)]
pub struct Export {
    /// The export.
    pub id: ExportId,
    /// Its team.
    #[serde(rename = "team_id")]
    pub team: TeamId,
    /// The site whose data it contains.
    #[serde(rename = "site_id")]
    pub site: SiteId,
    /// Who created it; none from the command line.
    pub created_by: Option<ActorId>,
    /// When it was created.
    #[serde(serialize_with = "domain::event::iso8601")]
    pub created_at: DateTime<Utc>,
    /// Items with smaller ids are in it.
    pub upto: Uuid,
    /// Until when it can be read.
    #[serde(serialize_with = "domain::event::iso8601")]
    pub expires_at: DateTime<Utc>,
}
