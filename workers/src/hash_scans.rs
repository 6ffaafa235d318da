//! Scans: a hash list is compared with a slice of stored pictures. Nothing is fetched or decoded,
//! because the pictures' hashes are stored.

use std::sync::Arc;

use apalis::prelude::BoxDynError;
use domain::{id::HashScanId, image_hash::HashMatch};
use queue::Finish;
use quick_cache::sync::Cache;
use store::{
    PgPool,
    hash_list::scan::{
        Scan,
        slice::{self, Scanned, Slice},
    },
    jobs::HashScanJob,
};
use tokio::task::block_in_place;

use crate::{
    chains::{ChainWorker, SliceEnd},
    hash_lists::{HashLists, Snapshot},
};

/// Scans whose new entries are kept in memory; more than that rarely run at once.
const KEPT: usize = 2;

/// What a scan needs.
#[derive(Clone)]
pub(crate) struct Scanner {
    lists: HashLists,
    /// Entries that are newer than a revision, by scan. They are loaded once and compared with
    /// every slice.
    newer: Arc<Cache<HashScanId, Option<Snapshot>>>,
    pool: PgPool,
}

impl Scanner {
    /// Scans with these lists.
    pub(crate) fn new(pool: PgPool, lists: HashLists) -> Self {
        Self {
            lists,
            newer: Arc::new(Cache::new(KEPT)),
            pool,
        }
    }

    async fn snapshot(&self, slice: &Slice) -> Result<Option<Snapshot>, BoxDynError> {
        let load = async {
            let snapshot = self.lists.snapshot(slice.list, slice.since_revision);
            Ok::<_, BoxDynError>(snapshot.await?)
        };
        match slice.since_revision {
            None => load.await,
            Some(_) => self.newer.get_or_insert_async(&slice.scan, load).await,
        }
    }
}

impl ChainWorker for Scanner {
    type Chain = Scan;
    type Found = Scanned;

    async fn next(&self, job: HashScanJob) -> SliceEnd<Scanned> {
        let Some(slice) = slice::next(&self.pool, job.scan).await? else {
            return Ok(Finish::Done(None));
        };
        let Some(list) = self.snapshot(&slice).await? else {
            return Ok(Finish::Done(None));
        };
        let find = || {
            let images = slice.images.iter();
            images.filter_map(|(media, hashed)| Some((*media, list.find(hashed)?)))
        };
        let matches: Vec<(_, HashMatch)> = block_in_place(|| find().collect());
        Ok(Finish::Done(Some(Scanned::new(&slice, matches))))
    }
}
