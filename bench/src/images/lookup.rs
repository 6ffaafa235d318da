//! Looks hashes up with four engines, which must find the same.

mod engine;
mod figures;
mod query;

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::ensure;
use domain::image_hash::{ImageHash, MAX_DISTANCE, Pdq};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use uuid::Uuid;

use self::{
    engine::{Engine, Made, SLOWER},
    figures::entries,
};
pub(super) use self::{figures::Entry, query::Query};
use crate::python::Process;

/// An engine with what it did so far.
struct Turns {
    name: &'static str,
    engine: Engine,
    made_ms: f64,
}

/// Measures all engines in turns, and how many bytes one hash takes in our index. The first round
/// warms up and is not counted.
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
    // They differ in four bytes only, so they share almost every word.
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

/// A hash in which up to 31 bits are changed.
fn changed(random: &mut StdRng, hash: &Pdq) -> Pdq {
    let mut bytes = *hash.as_bytes();
    for _ in 0..random.random_range(0..=MAX_DISTANCE) {
        bytes[random.random_range(0..32)] ^= 1 << random.random_range(0..8);
    }
    bytes.into()
}

/// All engines look up the same hashes, and the slower ones fewer of them.
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

fn write(file: &Path, hashes: &[Pdq]) -> std::io::Result<()> {
    let bytes: Vec<u8> = hashes.iter().flat_map(|hash| *hash.as_bytes()).collect();
    fs::write(file, bytes)
}

#[expect(clippy::cast_precision_loss, reason = "no number here comes near 2^53")]
const fn as_f64(number: usize) -> f64 {
    number as f64
}
