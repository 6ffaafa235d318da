//! `gatehouse admin remove-expired`.

use std::collections::BTreeMap;

use anyhow::Context as _;
use serde_json::{Value, json};
use store::{
    PgPool,
    accept::{self, Pace},
};

/// Removes what has expired by the settings of sites, and tells how many of each kind that were.
pub(super) async fn remove(pool: &PgPool) -> anyhow::Result<Value> {
    let mut all: BTreeMap<String, u64> = BTreeMap::new();
    accept::forget_nothing_later(pool).await?;
    // One sweep removes a bounded part of what a site has.
    loop {
        let mut is_done = true;
        for (what, forgotten) in accept::forget_of_sites(pool, Pace::Hurried).await {
            let forgotten = forgotten.with_context(|| format!("{what} could not be removed"))?;
            *all.entry(what.replace(' ', "_")).or_default() += forgotten.removed;
            is_done &= forgotten.removed == 0 && !forgotten.has_more;
        }
        if is_done {
            return Ok(json!(all));
        }
    }
}
