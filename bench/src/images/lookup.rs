//! Looking hashes up, by four that find the same.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::ensure;
use domain::image_hash::{HashIndex, Hashed, ImageHash, MAX_DISTANCE, Pdq};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::python::Process;

/// Who looks at all hashes gets so many times fewer queries.
const SLOWER: usize = 20;

/// What is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Query {
    /// A hash that is like none on the list, as of nearly every picture in life.
    Unknown,
    /// One that differs from a listed one in up to 31 bits.
    Alike,
    /// One on a list that was made to cost time: all hashes on it are within a few bits of each other.
    Crowded,
}

impl Query {
    pub(super) const ALL: [Self; 3] = [Self::Unknown, Self::Alike, Self::Crowded];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "Looking up what is like nothing on the list",
            Self::Alike => "Looking up what is like something on the list",
            Self::Crowded => "Looking up on a list of hashes that are all alike",
        }
    }

    const fn file(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Alike => "alike",
            Self::Crowded => "crowded",
        }
    }
}

/// One engine's figures for one kind of query, over all rounds.
#[derive(Debug, Serialize)]
pub(super) struct Entry {
    pub(super) engine: &'static str,
    pub(super) query: Query,
    pub(super) median_us: f64,
    pub(super) p99_us: f64,
    pub(super) queries: usize,
    /// How many had a listed hash within the distance.
    pub(super) found: usize,
    /// How long the list took to be made.
    pub(super) made_ms: f64,
}

/// What looks hashes up.
enum Engine {
    Ours(HashIndex),
    All(Vec<Pdq>),
    /// It gets a part of the queries, as its size.
    Faiss {
        process: Box<Process>,
        part: usize,
    },
}

/// An engine with what it did so far.
struct Turns {
    name: &'static str,
    engine: Engine,
    made_ms: f64,
}

#[derive(Deserialize)]
struct Made {
    nanos: u64,
}

#[derive(Deserialize)]
struct Looked {
    nanos: Vec<u64>,
    found: Vec<bool>,
}

/// Measures all in turns; besides, how many bytes one of our hashes takes. The first round warms up and is not counted.
pub(super) async fn compare(
    seed: u64,
    count: usize,
    rounds: usize,
    queries: usize,
    scratch: &Path,
) -> anyhow::Result<(Vec<Entry>, f64)> {
    let mut random = StdRng::seed_from_u64(seed);
    let listed: Vec<Pdq> = (0..count)
        .map(|_| Pdq::from(random.random::<[u8; 32]>()))
        .collect();
    write(&scratch.join("listed"), &listed)?;
    let mut turns = vec![ours(&listed)];
    let bytes = match &turns[0].engine {
        Engine::Ours(index) => as_f64(index.approx_bytes()) / as_f64(count),
        Engine::All(_) | Engine::Faiss { .. } => 0.0,
    };
    turns.push(Turns {
        name: "a loop over all",
        engine: Engine::All(listed.clone()),
        made_ms: 0.0,
    });
    for (name, argument, part) in [
        ("faiss, IndexBinaryMultiHash", "multi", 1),
        ("faiss, IndexBinaryFlat", "flat", SLOWER),
    ] {
        eprintln!("  {name} is made");
        let arguments = [argument.as_ref(), scratch.as_os_str()];
        let mut process = Process::start("images", &arguments).await?;
        let made: Made = process.answer().await?;
        turns.push(Turns {
            name,
            engine: Engine::Faiss {
                process: Box::new(process),
                part,
            },
            made_ms: Duration::from_nanos(made.nanos).as_secs_f64() * 1e3,
        });
    }
    let mut entries = measure(&mut turns, rounds, scratch, |query| match query {
        Query::Unknown => (0..queries)
            .map(|_| random.random::<[u8; 32]>().into())
            .collect(),
        Query::Alike => (0..queries)
            .map(|_| {
                let near = &listed[random.random_range(0..listed.len())];
                changed(&mut random, near)
            })
            .collect(),
        Query::Crowded => Vec::new(),
    })
    .await?;
    drop(turns);
    // All share all but four bytes, and so nearly every word.
    let centre: [u8; 32] = random.random();
    let crowd = (0..count).map(|_| {
        let mut bytes = centre;
        bytes[28..].copy_from_slice(&random.random::<[u8; 4]>());
        Pdq::from(bytes)
    });
    let crowd: Vec<Pdq> = crowd.collect();
    let mut turns = vec![
        ours(&crowd),
        Turns {
            name: "a loop over all",
            engine: Engine::All(crowd.clone()),
            made_ms: 0.0,
        },
    ];
    entries.extend(
        measure(&mut turns, rounds, scratch, |query| match query {
            Query::Unknown | Query::Alike => Vec::new(),
            Query::Crowded => crowd.iter().step_by(7).take(queries).copied().collect(),
        })
        .await?,
    );
    Ok((entries, bytes))
}

fn ours(listed: &[Pdq]) -> Turns {
    let entries = listed.iter().zip(0_u128..);
    let begun = Instant::now();
    let index = entries
        .map(|(hash, number)| (Uuid::from_u128(number).into(), ImageHash::Pdq(*hash)))
        .collect();
    Turns {
        name: "ours",
        engine: Engine::Ours(index),
        made_ms: begun.elapsed().as_secs_f64() * 1e3,
    }
}

/// A hash in which up to 31 bits are other ones.
fn changed(random: &mut StdRng, hash: &Pdq) -> Pdq {
    let mut bytes = *hash.as_bytes();
    for _ in 0..random.random_range(0..=MAX_DISTANCE) {
        bytes[random.random_range(0..32)] ^= 1 << random.random_range(0..8);
    }
    bytes.into()
}

/// All look up the same, the slower ones less of it.
async fn measure(
    turns: &mut [Turns],
    rounds: usize,
    scratch: &Path,
    mut queries: impl FnMut(Query) -> Vec<Pdq>,
) -> anyhow::Result<Vec<Entry>> {
    let mut measured = Vec::new();
    for round in 0..=rounds {
        for query in Query::ALL {
            let sought = queries(query);
            write(&scratch.join(query.file()), &sought)?;
            let mut first: Option<Vec<bool>> = None;
            for turns in turns.iter_mut().filter(|_| !sought.is_empty()) {
                let looked = turns.engine.look(&sought, query).await?;
                let first = first.get_or_insert_with(|| looked.found.clone());
                ensure!(
                    first.starts_with(&looked.found),
                    "{} finds something else than we do",
                    turns.name
                );
                if round > 0 {
                    measured.push((turns.name, query, turns.made_ms, looked));
                }
            }
        }
    }
    Ok(entries(measured))
}

impl Engine {
    async fn look(&mut self, sought: &[Pdq], query: Query) -> anyhow::Result<Looked> {
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

/// One entry for each engine and kind of query, in the order of the first round.
fn entries(measured: Vec<(&'static str, Query, f64, Looked)>) -> Vec<Entry> {
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

fn write(file: &Path, hashes: &[Pdq]) -> std::io::Result<()> {
    let bytes: Vec<u8> = hashes.iter().flat_map(|hash| *hash.as_bytes()).collect();
    fs::write(file, bytes)
}

#[expect(clippy::cast_precision_loss, reason = "no number here comes near 2^53")]
const fn as_f64(number: usize) -> f64 {
    number as f64
}
