//! Scans in requests and responses.

use api_common::field::{Field, Time, given};
use domain::{
    chain::State,
    id::{ActorId, TeamId},
    image_hash::HashAlgorithm,
    media::Status,
};
use management::hash_lists::scans::{NewScan, Revision};
use poem_openapi::Object;
use serde::{Deserialize, Serialize};
use store::hash_list::scan;
use uuid::Uuid;

/// A comparison of a hash list with stored images.
#[derive(Serialize, Object)]
pub(crate) struct HashScan {
    /// The ID of the scan.
    id: Uuid,
    /// The hash list.
    hash_list_id: Uuid,
    /// The team whose items it looks at. `null` means the items of all teams.
    #[oai(nullable)]
    team_id: Option<Uuid>,
    /// Only entries that are newer than this revision of the list. `null` means all entries.
    #[oai(nullable)]
    since_revision: Option<i64>,
    /// It looks at items accepted before this time, the newest first.
    until: Field<Time>,
    /// When the oldest of these items was accepted. `null` if there is none.
    #[oai(nullable)]
    oldest: Option<Field<Time>>,
    /// It has looked at all items accepted after this time. `null` if it has looked at none yet.
    #[oai(nullable)]
    reached: Option<Field<Time>>,
    /// The state of the scan.
    state: Field<State>,
    /// How many images it has looked at. Images that were never hashed do not count.
    looked_at: i64,
    /// How many of them are on the list.
    matched: i64,
    /// Why it failed. `null` if it has not failed.
    #[oai(nullable)]
    error: Option<String>,
    /// The token that started it.
    #[oai(nullable)]
    created_by: Option<Uuid>,
    /// When it was started.
    created_at: Field<Time>,
    /// When it ended. `null` while it runs.
    #[oai(nullable)]
    ended_at: Option<Field<Time>>,
}

impl From<scan::Scan> for HashScan {
    fn from(scan: scan::Scan) -> Self {
        Self {
            id: scan.id.as_uuid(),
            hash_list_id: scan.list.as_uuid(),
            team_id: scan.team.map(TeamId::as_uuid),
            since_revision: scan.since_revision,
            until: scan.until.into(),
            oldest: scan.oldest.map(Field::from),
            reached: scan.reached.map(Field::from),
            state: Field(scan.state),
            looked_at: scan.looked_at,
            matched: scan.matched,
            error: scan.error,
            created_by: scan.created_by.map(ActorId::as_uuid),
            created_at: scan.created_at.into(),
            ended_at: scan.ended_at.map(Field::from),
        }
    }
}

/// A scan to start.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewHashScan {
    /// The team whose items are looked at. If omitted, it is the team of the list; for a shared list, it is the team of the
    /// token. If an operator omits it for a shared list, the items of all teams are looked at.
    #[serde(default, deserialize_with = "given")]
    team_id: Option<Field<TeamId>>,
    /// Only entries that are newer than this revision of the list. If omitted, all entries count.
    #[serde(default, deserialize_with = "given")]
    since_revision: Option<Field<Revision>>,
}

impl From<NewHashScan> for NewScan {
    fn from(new: NewHashScan) -> Self {
        Self {
            team: new.team_id.map(|team| team.0),
            since_revision: new.since_revision.map(|revision| revision.0),
        }
    }
}

/// An item whose image is on the list.
#[derive(Serialize, Object)]
pub(crate) struct HashScanMatch {
    /// The media item.
    media_id: Uuid,
    /// The item's present status.
    status: Field<Status>,
    /// The nearest entry of the list.
    hash_entry_id: Uuid,
    /// The kind of hash that matched.
    algorithm: Field<HashAlgorithm>,
    /// By how many bits it differs from the entry. It is 0 for the same file.
    distance: u32,
}

impl From<scan::Match> for HashScanMatch {
    fn from(found: scan::Match) -> Self {
        Self {
            media_id: found.media.as_uuid(),
            status: Field(found.status),
            hash_entry_id: found.entry.as_uuid(),
            algorithm: Field(found.algorithm),
            distance: found.distance,
        }
    }
}
