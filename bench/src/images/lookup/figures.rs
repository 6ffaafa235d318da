//! The figures of each engine.

use std::time::Duration;

use serde::Serialize;

use super::{engine::Looked, query::Query};

/// One engine's figures for one kind of query, over all rounds.
#[derive(Debug, Serialize)]
pub(crate) struct Entry {
    pub(crate) engine: &'static str,
    pub(crate) query: Query,
    pub(crate) median_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) queries: usize,
    /// How many had a listed hash within the distance.
    pub(crate) found: usize,
    /// How long the list took to be made.
    pub(crate) made_ms: f64,
}

/// One entry for each engine and kind of query, in the order of the first round.
pub(super) fn entries(measured: Vec<(&'static str, Query, f64, Looked)>) -> Vec<Entry> {
    let mut together: Vec<(&'static str, Query, f64, Looked)> = Vec::new();
    for (name, query, made_ms, looked) in measured {
        let known = together
            .iter_mut()
            .find(|(engine, kind, ..)| (*engine, *kind) == (name, query));
        match known {
            Some((.., all)) => {
                all.nanos.extend(looked.nanos);
                all.found.extend(looked.found);
            }
            None => together.push((name, query, made_ms, looked)),
        }
    }
    let entry = |(engine, query, made_ms, mut all): (_, _, _, Looked)| {
        all.nanos.sort_unstable();
        let at = |hundredths: usize| {
            let nanos = all.nanos.get(all.nanos.len() * hundredths / 100);
            Duration::from_nanos(nanos.copied().unwrap_or(0)).as_secs_f64() * 1e6
        };
        Entry {
            engine,
            query,
            median_us: at(50),
            p99_us: at(99),
            queries: all.found.len(),
            found: all.found.iter().filter(|found| **found).count(),
            made_ms,
        }
    };
    together.into_iter().map(entry).collect()
}
