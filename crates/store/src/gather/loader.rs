//! Reading rows by key, gathered.

use std::{
    collections::{HashMap, hash_map::Entry},
    hash::Hash,
    sync::Arc,
};

use database::Trouble;
use sqlx::PgPool;
use telemetry::{failed, over};
use tracing::debug;

use super::{Bounds, Gather};
use crate::{
    Error,
    bisect::{Pieces, Spoiled},
    gather::Call,
};

/// Looks rows up by key, many callers to a statement. A row that cannot be read fails only those
/// who asked for it. Callers may belong to holders, as those of [`Gather`] do.
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
    /// Starts a loader for callers of several holders, none of which may take everything.
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

/// Rows that could not be read, by all loaders of this process.
static TROUBLE: Trouble = Trouble::at_once();

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
                over!(TROUBLE.worked(), loader = name, "rows are loaded again");
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
                    failed!(TROUBLE.failed(&error), %error, loader = name, "could not load a row");
                    for call in calls {
                        call.answer(Err(error.to_string()));
                    }
                }
                // These are dropped, so that their callers get "unavailable" and ask again. The
                // database is not away.
                Some(Spoiled::Rest(_)) => {
                    failed!(TROUBLE.failed(&error), %error, loader = name, calls, "did not load some rows one by one, because too many others failed");
                }
            },
            Err(error) => {
                failed!(TROUBLE.failed(&error), %error, loader = name, calls, "could not load rows");
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
mod tests;
