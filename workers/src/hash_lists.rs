//! Hash lists in memory, within bounds, and which of a team's lists contain a picture.
//!
//! The lists are never out of date. Every lookup reads the revisions of the team's lists (many
//! lookups share one statement) and then loads what changed since. Lists that were not used lately
//! are dropped when their memory is needed.

pub mod imports;
mod list_cache;
pub mod scans;

use std::sync::Arc;

use domain::{
    id::{HashListId, TeamId},
    image_hash::{HashMatch, Hashed},
};
use quick_cache::sync::Cache;
use store::{
    Error, PgPool,
    gather::Loader,
    hash_list::delta::{self, Head, Place},
};
use tokio::{
    sync::{Mutex, Semaphore},
    task::block_in_place,
};

use self::list_cache::{ByBytes, CachedList, apply, cache};

/// How many lists are loaded into memory at once. Each may be large.
const LOADING: usize = 2;
/// Changes that one statement reads.
const CHANGES: i64 = 20_000;
/// The number of locks for updating lists. Several lists share a lock.
const LOCKS: usize = 64;

/// The lists that were asked for lately; clones are the same ones.
#[derive(Clone)]
pub struct HashLists {
    heads: Loader<TeamId, Arc<[Head]>>,
    held: Arc<Cache<HashListId, CachedList, ByBytes>>,
    /// One of these is held while a list is updated, so that others wait for the result instead of
    /// reading the same changes.
    locks: Arc<[Mutex<()>]>,
    loading: Arc<Semaphore>,
    pool: PgPool,
}

impl HashLists {
    /// Nothing is in memory yet.
    pub fn new(pool: PgPool) -> Self {
        Self {
            heads: delta::loader(pool.clone()),
            held: Arc::new(cache()),
            locks: (0..LOCKS).map(|_| Mutex::default()).collect(),
            loading: Arc::new(Semaphore::new(LOADING)),
            pool,
        }
    }

    /// The lists that contain a picture, among the team's own and the shared ones, each with the
    /// nearest entry.
    ///
    /// # Errors
    /// The database failed.
    pub async fn matches(&self, team: TeamId, hashed: &Hashed) -> Result<Vec<HashMatch>, Error> {
        let heads = self.heads.load(team).await?.unwrap_or_default();
        let mut matches = Vec::new();
        for head in heads.iter() {
            let held = self.at(head).await?;
            matches.extend(block_in_place(|| held.find(head, hashed)));
        }
        Ok(matches)
    }

    /// A list, at the revision of its head or a newer one.
    async fn at(&self, head: &Head) -> Result<CachedList, Error> {
        let is_new = |held: &CachedList| held.place() >= Place::after_revision(head.revision);
        if let Some(held) = self.held.get(&head.list).filter(is_new) {
            return Ok(held);
        }
        let _turn = self.lock(head.list).lock().await;
        let kept = self.held.get(&head.list);
        if let Some(kept) = kept.as_ref().filter(|kept| is_new(kept)) {
            return Ok(kept.clone());
        }
        // Removed entries are forgotten after a while. A list that is older than that is loaded
        // anew.
        let swept = Place::after_revision(head.swept_revision);
        let current = if let Some(known) = kept.filter(|kept| kept.place() >= swept) {
            self.changed(known, head).await?
        } else {
            let _slot = self.loading.acquire().await;
            self.changed(CachedList::default(), head).await?
        };
        self.held.insert(head.list, current.clone());
        Ok(current)
    }

    fn lock(&self, list: HashListId) -> &Mutex<()> {
        // The end of a UUIDv7 is random.
        &self.locks[usize::from(list.as_uuid().as_bytes()[15]) % LOCKS]
    }

    /// A list with what changed on it, up to the revision of its head.
    async fn changed(&self, list: CachedList, head: &Head) -> Result<CachedList, Error> {
        let whole = Place::after_revision(head.revision);
        loop {
            let from = list.place();
            if from >= whole {
                return Ok(list.weighed());
            }
            let changes = delta::changes(&self.pool, head.list, from, head.revision, CHANGES);
            let changes = changes.await?;
            let read = i64::try_from(changes.len()).unwrap_or(i64::MAX);
            let to = match changes.last() {
                Some(change) if read == CHANGES => Place::after(change),
                Some(_) | None => whole,
            };
            apply(&list, changes, from, to).await?;
        }
    }

    /// The entries of a list that were added after a revision, or all entries, for comparing them
    /// with many pictures. None if the list was deleted.
    pub(crate) async fn snapshot(
        &self,
        list: HashListId,
        since: Option<i64>,
    ) -> Result<Option<Snapshot>, Error> {
        let Some(head) = delta::head(&self.pool, list).await? else {
            return Ok(None);
        };
        let list = if let Some(since) = since {
            let newer = CachedList::from(Place::after_revision(since));
            self.changed(newer, &head).await?
        } else {
            self.at(&head).await?
        };
        Ok(Some(Snapshot { head, held: list }))
    }
}

/// A list as it stands now.
#[derive(Clone)]
pub(crate) struct Snapshot {
    head: Head,
    held: CachedList,
}

impl Snapshot {
    /// Whether a picture is on the list, and where.
    pub(crate) fn find(&self, hashed: &Hashed) -> Option<HashMatch> {
        self.held.find(&self.head, hashed)
    }
}
