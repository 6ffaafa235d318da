//! Reading rows by key, gathered.

use std::{
    collections::{HashMap, hash_map::Entry},
    hash::Hash,
    sync::Arc,
};

use sqlx::PgPool;
use tracing::{debug, warn};

use super::{Bounds, Call, Gather};
use crate::{
    Error,
    isolate::{Pieces, Spoiled},
};

/// Looks rows up by key, many callers to a statement. A row that cannot be read fails only those who asked for it. Callers
/// may belong to holders, as those of [`Gather`] do.
pub struct Loader<K, V, H: Clone + Eq + Hash = ()> {
    gather: Gather<K, Found<V>, H>,
}

/// A row, if there is one, or why it cannot be read.
type Found<V> = Result<Option<V>, String>;

impl<K, V, H: Clone + Eq + Hash> Clone for Loader<K, V, H> {
    fn clone(&self) -> Self {
        Self {
            gather: self.gather.clone(),
        }
    }
}

impl<K, V> Loader<K, V>
where
    K: Clone + Eq + Hash + Send + Sync + 'static,
    V: Clone + Send + 'static,
{
    /// Starts a loader; `query` finds the rows of all keys that exist.
    pub fn start<F, R>(pool: PgPool, name: &'static str, bounds: Bounds, query: F) -> Self
    where
        F: Fn(PgPool, Vec<K>) -> R + Send + Sync + 'static,
        R: Future<Output = Result<HashMap<K, V>, Error>> + Send + 'static,
    {
        let query = Arc::new(query);
        let gather = Gather::start(bounds, move |batch| {
            let (pool, query) = (pool.clone(), Arc::clone(&query));
            async move { read(&pool, name, &*query, batch).await }
        });
        Self { gather }
    }

    /// The row of this key, if there is one.
    ///
    /// # Errors
    /// [`Error::Unreadable`] if this very row cannot be read; otherwise those of [`Gather::ask`].
    pub async fn load(&self, key: K) -> Result<Option<V>, Error> {
        self.load_for((), key).await
    }
}

impl<K, V, H> Loader<K, V, H>
where
    K: Clone + Eq + Hash + Send + Sync + 'static,
    V: Clone + Send + 'static,
    H: Clone + Eq + Hash + Send + Sync + 'static,
{
    /// Starts a loader for callers of several holders, none of which may use up what there is.
    pub fn shared<F, R>(pool: PgPool, name: &'static str, bounds: Bounds, query: F) -> Self
    where
        F: Fn(PgPool, Vec<K>) -> R + Send + Sync + 'static,
        R: Future<Output = Result<HashMap<K, V>, Error>> + Send + 'static,
    {
        let query = Arc::new(query);
        let gather = Gather::shared(bounds, move |batch| {
            let (pool, query) = (pool.clone(), Arc::clone(&query));
            async move { read(&pool, name, &*query, batch).await }
        });
        Self { gather }
    }

    /// The rows of these keys, in one statement if its bounds allow. See [`Loader::load_for`].
    pub async fn load_all_for(&self, holder: H, keys: &[K]) -> Vec<Result<Option<V>, Error>> {
        let questions = keys.iter().map(|key| (key.clone(), size_of::<K>()));
        let found = self.gather.ask_all_for(holder, questions).await;
        let found = found.into_iter();
        found
            .map(|found| found?.map_err(Error::Unreadable))
            .collect()
    }

    /// The row of this key, if there is one, for this holder. See [`Loader::load`].
    pub async fn load_for(&self, holder: H, key: K) -> Result<Option<V>, Error> {
        let found = self.gather.ask_for(holder, key, size_of::<K>()).await?;
        found.map_err(Error::Unreadable)
    }
}

/// Reads a batch, and splits it when a row spoils it.
async fn read<K, V, H, F, R>(pool: &PgPool, name: &str, query: &F, batch: Vec<Call<K, Found<V>, H>>)
where
    H: Clone + Eq + Hash,
    K: Clone + Eq + Hash,
    V: Clone,
    F: Fn(PgPool, Vec<K>) -> R,
    R: Future<Output = Result<HashMap<K, V>, Error>>,
{
    // Calls for one key stay together: they are answered together.
    let mut asked: Vec<Vec<Call<K, Found<V>, H>>> = Vec::with_capacity(batch.len());
    let mut places: HashMap<K, usize> = HashMap::with_capacity(batch.len());
    for call in batch {
        match places.entry(call.question.clone()) {
            Entry::Occupied(place) => asked[*place.get()].push(call),
            Entry::Vacant(place) => {
                place.insert(asked.len());
                asked.push(vec![call]);
            }
        }
    }
    let mut pieces = Pieces::new(asked, |_| ());
    while let Some(piece) = pieces.next() {
        let calls = piece.len();
        match rows_of(pool, query, &piece).await {
            Ok(rows) => {
                for call in piece.into_iter().flatten() {
                    let row = rows.get(&call.question).cloned();
                    call.answer(Ok(row));
                }
            }
            Err(error) if error.is_of_a_row() => match pieces.split(piece) {
                None => {
                    debug!(%error, loader = name, calls, "a row makes its batch fail; splitting the batch to find it");
                }
                Some(Spoiled::Row(calls)) => {
                    warn!(%error, loader = name, "could not load a row");
                    for call in calls {
                        call.answer(Err(error.to_string()));
                    }
                }
                // Dropped, so that those who asked hear "unavailable" and ask again. The database is there.
                Some(Spoiled::Rest(_)) => {
                    warn!(%error, loader = name, calls, "did not load some rows one by one, because too many others failed");
                }
            },
            Err(error) => {
                warn!(%error, loader = name, calls, "could not load rows");
                piece.into_iter().flatten().for_each(Call::give_up);
            }
        }
    }
}

async fn rows_of<K, V, H, F, R>(
    pool: &PgPool,
    query: &F,
    piece: &[Vec<Call<K, Found<V>, H>>],
) -> Result<HashMap<K, V>, Error>
where
    H: Clone + Eq + Hash,
    K: Clone,
    F: Fn(PgPool, Vec<K>) -> R,
    R: Future<Output = Result<HashMap<K, V>, Error>>,
{
    let keys: Vec<K> = piece
        .iter()
        .filter_map(|calls| calls.first())
        .map(|call| call.question.clone())
        .collect();
    let mut rows = query(pool.clone(), keys.clone()).await;
    // Postgres may have ended every connection of the pool. Reading again does no harm.
    for _ in 0..pool.size() {
        if !rows.as_ref().is_err_and(Error::is_broken_connection) {
            break;
        }
        rows = query(pool.clone(), keys.clone()).await;
    }
    rows
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    const BOUNDS: Bounds = Bounds {
        waiting: 1_000,
        waiting_bytes: 1 << 20,
        batch: 256,
        batch_bytes: 1 << 20,
        runners: 1,
    };
    const BAD: u32 = 77;

    #[tokio::test]
    async fn case_41_a_row_that_cannot_be_read_fails_only_those_who_asked_for_it() {
        let pool = PgPool::connect_lazy("postgres://nobody@127.0.0.1:1/nothing").unwrap();
        let queries = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&queries);
        let loader = Loader::start(pool, "test", BOUNDS, move |_, keys: Vec<u32>| {
            counted.fetch_add(1, Ordering::Relaxed);
            async move {
                if keys.contains(&BAD) {
                    return Err(Error::Unreadable("a stored value".to_owned()));
                }
                Ok(keys.into_iter().map(|key| (key, key * 2)).collect())
            }
        });
        let asked: Vec<_> = (0..200)
            .map(|n| {
                let loader = loader.clone();
                tokio::spawn(async move { (n, loader.load(n % 100).await) })
            })
            .collect();
        for answer in asked {
            let (n, row) = answer.await.unwrap();
            match n % 100 {
                BAD => assert!(matches!(row, Err(Error::Unreadable(_))), "{row:?}"),
                key => assert_eq!(row.unwrap(), Some(key * 2)),
            }
        }
        assert!(queries.load(Ordering::Relaxed) <= 20, "{queries:?}");
        assert_eq!(loader.load(1).await.unwrap(), Some(2));
    }
}
