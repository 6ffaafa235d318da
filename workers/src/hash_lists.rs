//! Hash lists in memory, within bounds, and which of a team's lists contain a picture.
//!
//! The lists are never out of date. Every lookup reads the revisions of the team's lists (many
//! lookups share one statement) and then loads what changed since. Lists that were not used lately
//! are dropped when their memory is needed.

use std::sync::{Arc, PoisonError, RwLock};

use domain::{
    id::{HashListId, TeamId},
    image_hash::{HashIndex, HashMatch, Hashed, ImageHash},
};
use quick_cache::{
    DefaultHashBuilder, OptionsBuilder, Weighter,
    sync::{Cache, DefaultLifecycle},
};
use store::{
    Error, PgPool,
    gather::Loader,
    hash_list::delta::{self, Changed, Head, Place},
};
use tokio::{
    sync::{Mutex, Semaphore},
    task::{block_in_place, spawn_blocking},
};

/// How many lists are loaded into memory at once. Each may be large.
const LOADING: usize = 2;
/// Changes that one statement reads.
const CHANGES: i64 = 20_000;
/// The number of locks for updating lists. Several lists share a lock.
const LOCKS: usize = 64;

/// The lists that were asked for lately; clones are the same ones.
#[derive(Clone)]
pub(crate) struct HashLists {
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
    pub(crate) fn new(pool: PgPool) -> Self {
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
    pub(crate) async fn matches(
        &self,
        team: TeamId,
        hashed: &Hashed,
    ) -> Result<Vec<HashMatch>, Error> {
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

/// Memory for lists, in bytes: some seven million entries.
const CACHE_BYTES: u64 = 1 << 30;
/// An estimate of the number of lists, for the cache's own tables.
const CACHE_ITEMS: usize = 1_000;

/// A list as it was at a place in its changes.
#[derive(Default)]
struct List {
    place: Place,
    index: HashIndex,
}

/// A list in memory, which grows, and its size in bytes when it was put into the cache.
#[derive(Clone, Default)]
struct CachedList {
    list: Arc<RwLock<List>>,
    bytes: u64,
}

impl From<Place> for CachedList {
    /// An empty list that has none of the changes before this place.
    fn from(place: Place) -> Self {
        let list = List {
            place,
            ..List::default()
        };
        Self {
            list: Arc::new(RwLock::new(list)),
            bytes: 0,
        }
    }
}

impl CachedList {
    fn read<T>(&self, read: impl FnOnce(&List) -> T) -> T {
        read(&self.list.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn place(&self) -> Place {
        self.read(|list| list.place)
    }

    /// The match on the list of this head, if there is one.
    fn find(&self, head: &Head, hashed: &Hashed) -> Option<HashMatch> {
        let found = self.read(|list| list.index.find(hashed, head.max_distance))?;
        Some(HashMatch {
            list: head.list,
            kind: head.kind,
            entry: found.entry,
            algorithm: found.algorithm,
            distance: found.distance,
        })
    }

    /// Applies the changes between two places, unless another call has applied them. A reader that
    /// was cancelled may still be applying changes.
    fn apply(&self, changes: &[Changed], from: Place, to: Place) {
        let mut list = self.list.write().unwrap_or_else(PoisonError::into_inner);
        if list.place != from {
            return;
        }
        list.place = to;
        for change in changes.iter().filter(|change| !change.stands) {
            for hash in hashes(change) {
                list.index.remove(change.entry, &hash);
            }
        }
        let standing = changes.iter().filter(|change| change.stands);
        let entries = standing.flat_map(|change| hashes(change).map(|hash| (change.entry, hash)));
        list.index.extend(entries);
    }

    /// The same list, which has grown.
    fn weighed(self) -> Self {
        let bytes = self.read(|list| list.index.approx_bytes() as u64);
        Self { bytes, ..self }
    }
}

fn hashes(change: &Changed) -> impl Iterator<Item = ImageHash> + use<> {
    let file = change.hashes.sha256().map(ImageHash::Sha256);
    let look = change.hashes.pdq().map(ImageHash::Pdq);
    file.into_iter().chain(look)
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<HashListId, CachedList> for ByBytes {
    fn weight(&self, _: &HashListId, held: &CachedList) -> u64 {
        held.bytes
    }
}

/// A cache with one shard. With several, each would be too small for a large list.
fn cache() -> Cache<HashListId, CachedList, ByBytes> {
    let options = OptionsBuilder::new()
        .shards(1)
        .estimated_items_capacity(CACHE_ITEMS)
        .weight_capacity(CACHE_BYTES)
        .build()
        .expect("the options are complete");
    Cache::with_options(
        options,
        ByBytes,
        DefaultHashBuilder::default(),
        DefaultLifecycle::default(),
    )
}

/// Applies changes on a thread for blocking work, because many of them take a while.
async fn apply(
    held: &CachedList,
    changes: Vec<Changed>,
    from: Place,
    to: Place,
) -> Result<(), Error> {
    let held = held.clone();
    let applied = spawn_blocking(move || held.apply(&changes, from, to));
    applied.await.map_err(|_| Error::Unavailable)
}
