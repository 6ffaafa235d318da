//! A list in memory, which is brought up to date by its changes, and the cache of such lists.

use std::sync::{Arc, PoisonError, RwLock};

use domain::{
    id::HashListId,
    image_hash::{HashIndex, HashMatch, Hashed, ImageHash},
};
use quick_cache::{
    DefaultHashBuilder, OptionsBuilder, Weighter,
    sync::{Cache, DefaultLifecycle},
};
use store::{
    Error,
    hash_list::delta::{Changed, Head, Place},
};
use tokio::task::spawn_blocking;

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
pub(super) struct CachedList {
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

    pub(super) fn place(&self) -> Place {
        self.read(|list| list.place)
    }

    /// The match on the list of this head, if there is one.
    pub(super) fn find(&self, head: &Head, hashed: &Hashed) -> Option<HashMatch> {
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
    pub(super) fn weighed(self) -> Self {
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
pub(super) struct ByBytes;

impl Weighter<HashListId, CachedList> for ByBytes {
    fn weight(&self, _: &HashListId, held: &CachedList) -> u64 {
        held.bytes
    }
}

/// A cache with one shard. With several, each would be too small for a large list.
pub(super) fn cache() -> Cache<HashListId, CachedList, ByBytes> {
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
pub(super) async fn apply(
    held: &CachedList,
    changes: Vec<Changed>,
    from: Place,
    to: Place,
) -> Result<(), Error> {
    let held = held.clone();
    let applied = spawn_blocking(move || held.apply(&changes, from, to));
    applied.await.map_err(|_| Error::Unavailable)
}
