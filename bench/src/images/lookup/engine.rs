//! What looks hashes up: our index, a loop over all, and faiss in a process of its own.

use std::time::Instant;

use domain::image_hash::{HashIndex, Hashed, MAX_DISTANCE, Pdq};
use serde::Deserialize;

use super::query::Query;
use crate::python::Process;

/// Engines that look at all hashes get this many times fewer queries.
pub(super) const SLOWER: usize = 20;

/// What looks hashes up.
pub(super) enum Engine {
    Ours(HashIndex),
    All(Vec<Pdq>),
    /// It gets one in `part` queries, depending on its speed.
    Faiss {
        process: Box<Process>,
        part: usize,
    },
}

#[derive(Deserialize)]
pub(super) struct Made {
    pub(super) nanos: u64,
}

#[derive(Deserialize)]
pub(super) struct Looked {
    pub(super) nanos: Vec<u64>,
    pub(super) found: Vec<bool>,
}

impl Engine {
    pub(super) async fn look(&mut self, sought: &[Pdq], query: Query) -> anyhow::Result<Looked> {
        match self {
            Self::Ours(index) => Ok(each(sought, |hash| {
                let picture = Hashed {
                    sha256: [0; 32].into(),
                    pdq: Some(*hash),
                    quality: 100,
                };
                index.find(&picture, MAX_DISTANCE).is_some()
            })),
            Self::All(listed) => {
                let few = &sought[..(sought.len() / SLOWER).max(1)];
                Ok(each(few, |hash| {
                    let distances = listed.iter().map(|listed| listed.distance(hash));
                    distances.min() <= Some(MAX_DISTANCE)
                }))
            }
            Self::Faiss { process, part } => {
                let count = (sought.len() / *part).max(1);
                process.ask(&format!("{} {count}", query.file())).await
            }
        }
    }
}

fn each(sought: &[Pdq], mut find: impl FnMut(&Pdq) -> bool) -> Looked {
    let timed = sought.iter().map(|hash| {
        let begun = Instant::now();
        let found = find(hash);
        (begun.elapsed().as_nanos(), found)
    });
    let timed = timed.map(|(nanos, found)| (u64::try_from(nanos).unwrap_or(u64::MAX), found));
    let (nanos, found) = timed.unzip();
    Looked { nanos, found }
}
