//! How long the models take, and how much memory they stay in.

use std::{hint::black_box, time::Instant};

use builtin::Analyser;
use builtin::{
    image::{Nudity, Pixels},
    text::{Encoder, Linear},
};
use serde::Serialize;

/// The files that are part of the program. They are read once more, so that the time is seen.
const LINEAR: &[u8] = include_bytes!("../../../crates/builtin/text/linear.clf");
const OPEN_NSFW: &[u8] = include_bytes!("../../../crates/builtin/image/open_nsfw.bin");

/// What reading a model took.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Loaded {
    pub(crate) milliseconds: f64,
    /// Resident memory after it less before it. The file is not in it, unless the system read it
    /// into memory just now.
    pub(crate) mebibytes: f64,
}

/// What a call took: the median, and the shortest one. The shortest shows what the processor can do
/// when nothing else runs.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Took {
    pub(crate) what: String,
    pub(crate) median_ms: f64,
    pub(crate) shortest_ms: f64,
    /// Microseconds for 1,024 bytes of text, by the median.
    pub(crate) us_per_kb: Option<f64>,
}

/// One model's figures.
#[derive(Debug, Serialize)]
pub(crate) struct Measured {
    pub(crate) model: &'static str,
    pub(crate) loaded: Loaded,
    pub(crate) calls: Vec<Took>,
}

/// Tells this process's resident memory in mebibytes.
pub(crate) type Resident<'a> = &'a dyn Fn() -> anyhow::Result<f64>;

/// The whole analysis of a text by `builtin` without the encoder: the language, the lexicon, and the
/// linear model.
pub(crate) fn builtin(
    texts: &[Vec<String>],
    rounds: usize,
    resident: Resident<'_>,
) -> anyhow::Result<Measured> {
    let (loaded, analyser) = load(resident, || Ok(Analyser::new()))?;
    let score = |text: &str| {
        black_box(analyser.analyse(text));
    };
    Ok(Measured {
        model: "builtin without the encoder",
        loaded,
        calls: took_by_lengths("", texts, rounds, score),
    })
}

pub(crate) fn linear(
    texts: &[Vec<String>],
    rounds: usize,
    resident: Resident<'_>,
) -> anyhow::Result<Measured> {
    let (loaded, linear) = load(resident, || Linear::read(LINEAR))?;
    let score = |text: &str| {
        black_box(linear.scores(text));
    };
    Ok(Measured {
        model: "linear",
        loaded,
        calls: took_by_lengths("", texts, rounds, score),
    })
}

pub(crate) fn encoder(
    file: &[u8],
    texts: &[Vec<String>],
    rounds: usize,
    resident: Resident<'_>,
) -> anyhow::Result<Measured> {
    let (loaded, encoder) = load(resident, || Encoder::read(file))?;
    let calls = |encoder: &Encoder, how: &str, rounds| {
        took_by_lengths(how, texts, rounds, |text| {
            black_box(encoder.scores(text, 4));
        })
    };
    let mut all = calls(&encoder, "", rounds);
    all.extend(calls(&encoder.plain(), "without AVX2, ", 1));
    Ok(Measured {
        model: "encoder",
        loaded,
        calls: all,
    })
}

pub(crate) fn open_nsfw(
    pictures: &[(u32, u32)],
    rounds: usize,
    resident: Resident<'_>,
) -> anyhow::Result<Measured> {
    let (loaded, model) = load(resident, || Nudity::read(OPEN_NSFW))?;
    let took = |model: &Nudity, how: &str, width: u32, height: u32, rounds| {
        let bytes = width as usize * height as usize * 3;
        #[expect(clippy::cast_possible_truncation, reason = "any bytes will do")]
        let rgb: Vec<u8> = (0..bytes).map(|at| ((at * 31) >> 4) as u8).collect();
        let times = (0..=rounds).map(|_| {
            milliseconds(|| {
                let pixels = Pixels::new(width, height, &rgb);
                black_box(pixels.map(|pixels| model.probability(pixels)));
            })
        });
        took(format!("{how}{width} x {height}"), times.skip(1).collect())
    };
    let mut calls: Vec<Took> = pictures
        .iter()
        .map(|(width, height)| took(&model, "", *width, *height, rounds))
        .collect();
    let model = model.plain();
    let (width, height) = pictures.first().copied().unwrap_or((256, 256));
    calls.push(took(&model, "without AVX2, ", width, height, rounds.min(3)));
    Ok(Measured {
        model: "open_nsfw",
        loaded,
        calls,
    })
}

fn load<T>(
    resident: Resident<'_>,
    read: impl FnOnce() -> Result<T, builtin::Damaged>,
) -> anyhow::Result<(Loaded, T)> {
    let before = resident()?;
    let begun = Instant::now();
    let model = read()?;
    let milliseconds = begun.elapsed().as_secs_f64() * 1e3;
    let mebibytes = resident()? - before;
    Ok((
        Loaded {
            milliseconds,
            mebibytes,
        },
        model,
    ))
}

/// The time of a text, for each length that there are texts of.
fn took_by_lengths(
    how: &str,
    texts: &[Vec<String>],
    rounds: usize,
    score: impl Fn(&str),
) -> Vec<Took> {
    let texts = texts.iter();
    texts
        .map(|texts| took_by_texts(how, texts, rounds, &score))
        .collect()
}

/// The time of a text, over texts of one length. The first round warms up and is not counted.
fn took_by_texts(how: &str, texts: &[String], rounds: usize, score: impl Fn(&str)) -> Took {
    let bytes = texts.first().map_or(1, String::len);
    let times = (0..=rounds).map(|_| {
        texts
            .iter()
            .map(|text| milliseconds(|| score(text)))
            .collect::<Vec<f64>>()
    });
    let mut took = took(
        format!("{how}{bytes} bytes"),
        times.skip(1).flatten().collect(),
    );
    #[expect(clippy::cast_precision_loss, reason = "a text has a few kilobytes")]
    let kilobytes = bytes as f64 / 1_024.0;
    took.us_per_kb = Some(took.median_ms * 1e3 / kilobytes);
    took
}

fn took(what: String, mut times: Vec<f64>) -> Took {
    times.sort_by(f64::total_cmp);
    Took {
        what,
        median_ms: times.get(times.len() / 2).copied().unwrap_or(0.0),
        shortest_ms: times.first().copied().unwrap_or(0.0),
        us_per_kb: None,
    }
}

fn milliseconds(work: impl FnOnce()) -> f64 {
    let begun = Instant::now();
    work();
    begun.elapsed().as_secs_f64() * 1e3
}
