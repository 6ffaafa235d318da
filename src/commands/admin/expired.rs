//! `gatehouse admin remove-expired`.

use anyhow::Context as _;
use serde_json::{Map, Value};
use store::{PgPool, accept};

/// Removes what has expired by the settings of sites, and tells how many of each kind that were.
pub(super) async fn remove(pool: &PgPool) -> anyhow::Result<Value> {
    let mut removed = Map::new();
    for (what, number) in accept::forget_of_sites(pool).await {
        let number = number.with_context(|| format!("{what} could not be removed"))?;
        removed.insert(what.replace(' ', "_"), number.into());
    }
    Ok(removed.into())
}
