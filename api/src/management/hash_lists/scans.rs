//! Hash lists held against stored images: start, watch, see what is on the list, stop.

use std::sync::Arc;

use domain::{
    backtest::State,
    id::{ActorId, HashListId, HashScanId, TeamId},
    image_hash::HashAlgorithm,
    media::Status,
    scope::Scope,
};
use management::{
    Management,
    hash_lists::scans::{self, NewScan, Revision},
};
use poem::web::Data;
use poem_openapi::{Object, OpenApi};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::hash_list::scan;
use uuid::Uuid;

use crate::{
    answer::{Accepted, Json},
    management::{
        PREFIX, Tag,
        caller::Caller,
        document::{Operation, example},
        list::{After, Limit, List, Part},
    },
    member::{Member, Time, given},
    path::Path,
    payload::JsonBody,
    problem::{Code, Refusal},
    query::Query,
};

/// A hash list held against stored images.
#[derive(Serialize, Object)]
pub(crate) struct HashScan {
    /// The scan.
    id: Uuid,
    /// The list.
    hash_list_id: Uuid,
    /// The team whose items it looks at; null: those of all teams.
    #[oai(nullable)]
    team_id: Option<Uuid>,
    /// Only entries that are newer than this revision of the list; null: all.
    #[oai(nullable)]
    since_revision: Option<i64>,
    /// It looks at items accepted before this time, the newest first,
    until: Member<Time>,
    /// down to the oldest, which was accepted at this time; null: there is none.
    #[oai(nullable)]
    oldest: Option<Member<Time>>,
    /// It has looked at all that were accepted after this time; null: at none yet.
    #[oai(nullable)]
    reached: Option<Member<Time>>,
    /// Where it stands.
    state: Member<State>,
    /// How many images it has looked at; those that were never hashed do not count.
    looked_at: i64,
    /// How many of them are on the list.
    matched: i64,
    /// Why it failed; null if it has not.
    #[oai(nullable)]
    error: Option<String>,
    /// The token with which it was started.
    #[oai(nullable)]
    created_by: Option<Uuid>,
    /// When it was started.
    created_at: Member<Time>,
    /// When it ended; null while it runs.
    #[oai(nullable)]
    ended_at: Option<Member<Time>>,
}

impl From<scan::Scan> for HashScan {
    fn from(scan: scan::Scan) -> Self {
        Self {
            id: scan.id.as_uuid(),
            hash_list_id: scan.list.as_uuid(),
            team_id: scan.team.map(TeamId::as_uuid),
            since_revision: scan.since_revision,
            until: scan.until.into(),
            oldest: scan.oldest.map(Member::from),
            reached: scan.reached.map(Member::from),
            state: Member(scan.state),
            looked_at: scan.looked_at,
            matched: scan.matched,
            error: scan.error,
            created_by: scan.created_by.map(ActorId::as_uuid),
            created_at: scan.created_at.into(),
            ended_at: scan.ended_at.map(Member::from),
        }
    }
}

/// What a list is to be held against.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewHashScan {
    /// The team whose items are looked at. Without, it is the list's; for a shared list it is the caller's own, and an operator
    /// who names none has those of all teams looked at.
    #[serde(default, deserialize_with = "given")]
    team_id: Option<Member<TeamId>>,
    /// Only entries that are newer than this revision of the list. Without, all.
    #[serde(default, deserialize_with = "given")]
    since_revision: Option<Member<Revision>>,
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
    /// The item.
    media_id: Uuid,
    /// Where it stands now.
    status: Member<Status>,
    /// The entry that it is like, the nearest one.
    hash_entry_id: Uuid,
    /// By which hash it was recognised.
    algorithm: Member<HashAlgorithm>,
    /// In how many bits it differs from the entry; 0 for the same file.
    distance: u32,
}

impl From<scan::Match> for HashScanMatch {
    fn from(found: scan::Match) -> Self {
        Self {
            media_id: found.media.as_uuid(),
            status: Member(found.status),
            hash_entry_id: found.entry.as_uuid(),
            algorithm: Member(found.algorithm),
            distance: found.distance,
        }
    }
}

pub(crate) struct Scans;

#[OpenApi(tag = "Tag::HashLists")]
impl Scans {
    /// List scans for a hash list
    ///
    /// The latest first. They are kept for 90 days.
    #[oai(
        path = "/hash-lists/:hash_list_id/scans",
        method = "get",
        operation_id = "listHashScans"
    )]
    async fn list_hash_scans(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The list.
        hash_list_id: Path<HashListId>,
        /// How many at most.
        limit: Query<Limit>,
        /// Where to go on: `next_cursor` of the part before.
        cursor: After,
    ) -> Result<Json<List<HashScan>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let scans = scans::list(&management, &caller, hash_list_id.0, part.page()).await?;
        Ok(Json(part.list(scans, |scan| scan.id.as_uuid())))
    }

    /// Hold a hash list against stored images
    ///
    /// Items that were submitted before are compared with the list by their stored hashes. What is on it is listed here and
    /// counts when the item is judged again, in a backtest; no verdict changes: that is for a moderator to do. One such scan runs
    /// at a time for a list and a team.
    #[oai(
        path = "/hash-lists/:hash_list_id/scans",
        method = "post",
        operation_id = "createHashScan"
    )]
    async fn create_hash_scan(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The list.
        hash_list_id: Path<HashListId>,
        request: JsonBody<NewHashScan>,
    ) -> Result<Accepted<HashScan>, Refusal> {
        let (list, new) = (hash_list_id.0, request.value.into());
        let scan = scans::create(&management, &caller, list, new).await?;
        Ok(Accepted {
            location: format!("{PREFIX}/hash-scans/{}", scan.id),
            value: scan.into(),
        })
    }

    /// Read a scan
    ///
    /// How far it has got, and how much it has found so far.
    #[oai(
        path = "/hash-scans/:hash_scan_id",
        method = "get",
        operation_id = "getHashScan"
    )]
    async fn get_hash_scan(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The scan.
        hash_scan_id: Path<HashScanId>,
    ) -> Result<Json<HashScan>, Refusal> {
        let scan = scans::get(&management, &caller, hash_scan_id.0).await?;
        Ok(Json(scan.into()))
    }

    /// List what a scan found
    ///
    /// The newest items first, 100,000 at most, with where they stand now; whether they were known to be on the list or not.
    #[oai(
        path = "/hash-scans/:hash_scan_id/matches",
        method = "get",
        operation_id = "listHashScanMatches"
    )]
    async fn list_hash_scan_matches(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The scan.
        hash_scan_id: Path<HashScanId>,
        /// How many at most.
        limit: Query<Limit>,
        /// Where to go on: `next_cursor` of the part before.
        cursor: After,
    ) -> Result<Json<List<HashScanMatch>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let matches = scans::matches(&management, &caller, hash_scan_id.0, part.page()).await?;
        Ok(Json(part.list(matches, |found| found.media.as_uuid())))
    }

    /// Cancel a scan
    ///
    /// What it has found is kept. One that has ended stays as it is.
    #[oai(
        path = "/hash-scans/:hash_scan_id/cancel",
        method = "post",
        operation_id = "cancelHashScan"
    )]
    async fn cancel_hash_scan(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The scan.
        hash_scan_id: Path<HashScanId>,
    ) -> Result<Json<HashScan>, Refusal> {
        let scan = scans::cancel(&management, &caller, hash_scan_id.0).await?;
        Ok(Json(scan.into()))
    }
}

fn scan_example() -> Value {
    json!({
        "id": example::HASH_SCAN,
        "hash_list_id": example::HASH_LIST,
        "team_id": example::TEAM,
        "since_revision": 11,
        "until": example::CREATED_AT,
        "oldest": "2025-06-30T08:15:00.123456Z",
        "reached": "2025-11-02T19:20:00.123000Z",
        "state": "running",
        "looked_at": 31_000,
        "matched": 17,
        "error": null,
        "created_by": example::TOKEN,
        "created_at": example::CREATED_AT,
        "ended_at": null,
    })
}

/// What the document says beyond the signatures.
pub(super) fn described() -> Vec<Operation> {
    let scan = scan_example();
    vec![
        Operation {
            answer: Some(example::list(&scan)),
            ..Operation::new("listHashScans", Scope::HashListsRead)
        },
        Operation {
            problems: &[Code::ScanRunning],
            request: Some(json!({ "since_revision": 11 })),
            answer: Some(scan.clone()),
            ..Operation::new("createHashScan", Scope::HashListsWrite)
        },
        Operation {
            answer: Some(scan.clone()),
            ..Operation::new("getHashScan", Scope::HashListsRead)
        },
        Operation {
            answer: Some(example::list(&json!({
                "media_id": example::MEDIA,
                "status": "approved",
                "hash_entry_id": example::HASH_ENTRY,
                "algorithm": "pdq",
                "distance": 6,
            }))),
            ..Operation::new("listHashScanMatches", Scope::HashListsRead)
        },
        Operation {
            answer: Some(scan),
            ..Operation::new("cancelHashScan", Scope::HashListsWrite)
        },
    ]
}
