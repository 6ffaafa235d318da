//! Scans: compare a hash list with stored images, watch, see what is on the list, cancel.

mod openapi;
mod schemas;

use std::sync::Arc;

use api_common::{
    body::JsonBody,
    path_parameters::Path,
    problem::Refusal,
    query_parameters::Query,
    response::{Accepted, Json},
};
use domain::id::{HashListId, HashScanId};
use management::{Management, hash_lists::scans};
use poem::web::Data;
use poem_openapi::OpenApi;

use crate::{
    PREFIX, Tag,
    caller::Caller,
    list::{After, Limit, List, Part},
};

pub(super) use openapi::descriptions;
pub(crate) use schemas::{HashScan, HashScanMatch, NewHashScan};

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
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The hash list.
        hash_list_id: Path<HashListId>,
        /// The most items in one page.
        limit: Query<Limit>,
        /// Where to continue: the `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<HashScan>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let scans = scans::list(&management, &caller, hash_list_id.0, part.page()).await?;
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
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The hash list.
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
    /// Shows its progress, and how much it has found so far.
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
    /// Returns the newest items first, 100,000 at most, with their present status. The items include those that were known to be
    /// on the list before.
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
        /// The most items in one page.
        limit: Query<Limit>,
        /// Where to continue: the `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<HashScanMatch>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let matches = scans::matches(&management, &caller, hash_scan_id.0, part.page()).await?;
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
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The scan.
        hash_scan_id: Path<HashScanId>,
    ) -> Result<Json<HashScan>, Refusal> {
        let scan = scans::cancel(&management, &caller, hash_scan_id.0).await?;
        Ok(Json(scan.into()))
    }
}
