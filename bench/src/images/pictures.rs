//! Hashing pictures, with us and with the reference's library.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::ensure;
use domain::image_hash::Pdq;
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use serde::{Deserialize, Serialize};

use crate::{latency::median, python::Process, report::Line};

/// A screenful, a photograph for the web, and one as a camera takes it: 12 megapixels.
const SIZES: [(u32, u32); 3] = [(512, 512), (1_600, 1_000), (4_000, 3_000)];

/// What pictures of one size take, in milliseconds, the median over the rounds.
#[derive(Debug, Serialize)]
pub(super) struct Size {
    width: u32,
    height: u32,
    ours_ms: f64,
    reference_ms: f64,
}

impl Size {
    pub(super) fn line(&self) -> Line {
        let Self {
            width,
            height,
            ours_ms,
            reference_ms,
        } = self;
        let times = reference_ms / ours_ms;
        Line::fact(
            format!("{width} x {height}"),
            format!("ours {ours_ms:.2} ms, pdqhash {reference_ms:.2} ms; times ours: {times:.1}"),
        )
    }
}

#[derive(Deserialize)]
struct Answer {
    nanos: u64,
    hash: Pdq,
    quality: u8,
}

/// Measures both in turns. The first round warms up and is not counted.
pub(super) async fn compare(seed: u64, rounds: usize, scratch: &Path) -> anyhow::Result<Vec<Size>> {
    let mut random = StdRng::seed_from_u64(seed);
    let arguments = ["pdqhash".as_ref(), scratch.as_os_str()];
    let mut reference = Process::start("images", &arguments).await?;
    let mut sizes = Vec::new();
    for (width, height) in SIZES {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for round in 0..=rounds {
            let picture = picture(&mut random, width, height);
            fs::write(scratch.join("picture"), &picture)?;
            let begun = Instant::now();
            let (hash, quality) = Pdq::of_rgb(&picture, width, height);
            let took = begun.elapsed();
            let answer: Answer = reference.ask(&format!("picture {width} {height}")).await?;
            ensure!(
                (hash, quality) == (answer.hash, answer.quality),
                "the reference's library has another hash: {} for {hash}",
                answer.hash
            );
            if round > 0 {
                ours.push(took.as_secs_f64() * 1e3);
                theirs.push(Duration::from_nanos(answer.nanos).as_secs_f64() * 1e3);
            }
        }
        sizes.push(Size {
            width,
            height,
            ours_ms: median(ours),
            reference_ms: median(theirs),
        });
    }
    Ok(sizes)
}

/// Patches of random colours with some noise: enough in it for a hash of quality.
fn picture(random: &mut StdRng, width: u32, height: u32) -> Vec<u8> {
    const PATCHES: u32 = 24;
    let patches: Vec<[u8; 3]> = (0..PATCHES * PATCHES).map(|_| random.random()).collect();
    let mut rgb = Vec::with_capacity(width as usize * height as usize * 3);
    for y in 0..height {
        for x in 0..width {
            let patch = y * PATCHES / height * PATCHES + x * PATCHES / width;
            let noise = random.random_range(0..8_u8);
            rgb.extend(patches[patch as usize].map(|colour| colour.saturating_add(noise)));
        }
    }
    rgb
}
