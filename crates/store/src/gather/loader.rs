//! Reading rows by key, gathered.

mod read;

use std::{collections::HashMap, hash::Hash, sync::Arc};

use sqlx::PgPool;

use self::read::read;
use super::{Bounds, Gather};
use crate::Error;

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

#[cfg(test)]
mod tests;
