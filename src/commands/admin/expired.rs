//! `gatehouse admin remove-expired`.

use std::collections::BTreeMap;

use anyhow::Context as _;
use serde_json::{Value, json};
use store::{PgPool, accept};

/// Removes what has expired by the settings of sites, and tells how many of each kind that were.
pub(super) async fn remove(pool: &PgPool) -> anyhow::Result<Value> {
    let mut all: BTreeMap<String, u64> = BTreeMap::new();
    // One sweep removes a bounded part of what a site has.
    loop {
        let mut removed = 0;
        for (what, number) in accept::forget_of_sites(pool).await {
            let number = number.with_context(|| format!("{what} could not be removed"))?;
            *all.entry(what.replace(' ', "_")).or_default() += number;
            removed += number;
        }
        if removed == 0 {
            return Ok(json!(all));
        }
    }
}
