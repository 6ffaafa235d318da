//! Reads a batch of rows, and splits it when a row spoils it.

use std::{
    collections::{HashMap, hash_map::Entry},
    hash::Hash,
};

use database::Trouble;
use sqlx::PgPool;
use telemetry::{failed, over};
use tracing::debug;

use super::Found;
use crate::{
    Error,
    bisect::{Pieces, Spoiled},
    gather::Call,
};

/// Rows that could not be read, by all loaders of this process.
static TROUBLE: Trouble = Trouble::at_once();

/// Reads a batch, and splits it when a row spoils it.
pub(super) async fn read<K, V, H, F, R>(
    pool: &PgPool,
    name: &str,
    query: &F,
    batch: Vec<Call<K, Found<V>, H>>,
) where
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
