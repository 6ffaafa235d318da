//! Scans: compare a hash list with stored images, watch, see what is on the list, cancel.

use api_common::{
    Accepted, Code, Field, Json, JsonBody, Path, Query, Refusal, Schema, Time, given,
};
use domain::{
    chain::State,
    id::{ActorId, HashListId, HashScanId, TeamId},
    image_hash::HashAlgorithm,
    media::Status,
    scope::Scope,
};
use management::hash_lists::scans::{self, NewScan, Revision};
use poem_openapi::OpenApi;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::hash_list::scan;
use uuid::Uuid;

use crate::{After, Caller, Limit, List, Operation, PREFIX, Part, Tag, example_values};

#[derive(Default)]
pub(crate) struct Scans;

#[OpenApi(tag = "Tag::HashLists")]
impl Scans {
    /// List scans for a hash list
    ///
    /// Returns the latest scans first. They are kept for 90 days.
    #[oai(
        path = "/hash-lists/:hash_list_id/scans",
        method = "get",
        operation_id = "listHashScans"
    )]
    async fn list_hash_scans(
        &self,
        caller: Caller,
        /// The hash list.
        hash_list_id: Path<HashListId>,
        /// The most items in one page.
        limit: Query<Limit>,
        /// Where to continue: the `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<HashScan>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let scans = scans::list(&caller, hash_list_id.0, part.page()).await?;
        Ok(Json(part.list(scans, |scan| scan.id.as_uuid())))
    }

    /// Scan stored images
    ///
    /// Compares items that were submitted before with the list, by their stored hashes. The scan lists the items that are on the
    /// list. They count when an item is judged again in a backtest. No verdict changes: moderators decide that. One scan runs at
    /// a time for each list and team.
    #[oai(
        path = "/hash-lists/:hash_list_id/scans",
        method = "post",
        operation_id = "createHashScan"
    )]
    async fn create_hash_scan(
        &self,
        caller: Caller,
        /// The hash list.
        hash_list_id: Path<HashListId>,
        request: JsonBody<NewHashScan>,
    ) -> Result<Accepted<HashScan>, Refusal> {
        let (list, new) = (hash_list_id.0, request.value.into());
        let scan = scans::create(&caller, list, new).await?;
        Ok(Accepted::at(
            format!("{PREFIX}/hash-scans/{}", scan.id),
            scan,
        ))
    }

    /// Read a scan
    ///
    /// Shows its progress, and how much it has found so far.
    #[oai(
        path = "/hash-scans/:hash_scan_id",
        method = "get",
        operation_id = "getHashScan"
    )]
    async fn get_hash_scan(
        &self,
        caller: Caller,
        /// The scan.
        hash_scan_id: Path<HashScanId>,
    ) -> Result<Json<HashScan>, Refusal> {
        let scan = scans::get(&caller, hash_scan_id.0).await?;
        Ok(Json(scan.into()))
    }

    /// List what a scan found
    ///
    /// Returns the newest items first, 100,000 at most, with their present status. The items include those that were known to be
    /// on the list before.
    #[oai(
        path = "/hash-scans/:hash_scan_id/matches",
        method = "get",
        operation_id = "listHashScanMatches"
    )]
    async fn list_hash_scan_matches(
        &self,
        caller: Caller,
        /// The scan.
        hash_scan_id: Path<HashScanId>,
        /// The most items in one page.
        limit: Query<Limit>,
        /// Where to continue: the `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<HashScanMatch>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let matches = scans::matches(&caller, hash_scan_id.0, part.page()).await?;
        Ok(Json(part.list(matches, |found| found.media.as_uuid())))
    }

    /// Cancel a scan
    ///
    /// What it has found is kept. A scan that has ended stays as it is.
    #[oai(
        path = "/hash-scans/:hash_scan_id/cancel",
        method = "post",
        operation_id = "cancelHashScan"
    )]
    async fn cancel_hash_scan(
        &self,
        caller: Caller,
        /// The scan.
        hash_scan_id: Path<HashScanId>,
    ) -> Result<Json<HashScan>, Refusal> {
        let scan = scans::cancel(&caller, hash_scan_id.0).await?;
        Ok(Json(scan.into()))
    }
}

/// A comparison of a hash list with stored images.
#[derive(Serialize, Schema)]
pub(crate) struct HashScan {
    /// The ID of the scan.
    id: Uuid,
    /// The hash list.
    hash_list_id: Uuid,
    /// The team whose items it looks at. `null` means the items of all teams.
    #[schema(nullable)]
    team_id: Option<Uuid>,
    /// Only entries that are newer than this revision of the list. `null` means all entries.
    #[schema(nullable)]
    since_revision: Option<i64>,
    /// It looks at items accepted before this time, the newest first.
    until: Field<Time>,
    /// When the oldest of these items was accepted. `null` if there is none.
    #[schema(nullable)]
    oldest: Option<Field<Time>>,
    /// It has looked at all items accepted after this time. `null` if it has looked at none yet.
    #[schema(nullable)]
    reached: Option<Field<Time>>,
    /// The state of the scan.
    state: Field<State>,
    /// How many images it has looked at. Images that were never hashed do not count.
    looked_at: i64,
    /// How many of them are on the list.
    matched: i64,
    /// Why it failed. `null` if it has not failed.
    #[schema(nullable)]
    error: Option<String>,
    /// The token that started it.
    #[schema(nullable)]
    created_by: Option<Uuid>,
    /// When it was started.
    created_at: Field<Time>,
    /// When it ended. `null` while it runs.
    #[schema(nullable)]
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
#[derive(Deserialize, Schema)]
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
#[derive(Serialize, Schema)]
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

fn scan_example() -> Value {
    json!({
        "id": example_values::HASH_SCAN,
        "hash_list_id": example_values::HASH_LIST,
        "team_id": example_values::TEAM,
        "since_revision": 11,
        "until": example_values::CREATED_AT,
        "oldest": "2025-06-30T08:15:00.123456Z",
        "reached": "2025-11-02T19:20:00.123000Z",
        "state": "running",
        "looked_at": 31_000,
        "matched": 17,
        "error": null,
        "created_by": example_values::TOKEN,
        "created_at": example_values::CREATED_AT,
        "ended_at": null,
    })
}

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let scan = scan_example();
    vec![
        Operation::new("listHashScans", Scope::HashListsRead).answer(example_values::list(&scan)),
        Operation::new("createHashScan", Scope::HashListsWrite)
            .problems(&[Code::ScanRunning])
            .request(json!({ "since_revision": 11 }))
            .answer(scan.clone()),
        Operation::new("getHashScan", Scope::HashListsRead).answer(scan.clone()),
        Operation::new("listHashScanMatches", Scope::HashListsRead).answer(example_values::list(
            &json!({
                "media_id": example_values::MEDIA,
                "status": "approved",
                "hash_entry_id": example_values::HASH_ENTRY,
                "algorithm": "pdq",
                "distance": 6,
            }),
        )),
        Operation::new("cancelHashScan", Scope::HashListsWrite).answer(scan),
    ]
}
