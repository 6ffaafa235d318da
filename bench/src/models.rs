//! How fast the models of `models/` are on one processor, and how much memory they need. Each runs
//! with the instructions of this processor and with those of the oldest. If both take the same time,
//! `pulp` was built without `x86-v3`.

mod measure;

use std::{fs, path::PathBuf};

use clap::Args;
use serde::Serialize;

use self::measure::Measured;
use crate::{
    procfs::Usage,
    report::{self, Line, Report},
    rules::texts,
};

/// Bytes of the texts: a sentence, a comment, a long one.
const BYTES: [usize; 3] = [100, 1_024, 8_192];
/// A small picture, a photograph for the web, and one as a camera takes it: 12 megapixels.
const PICTURES: [(u32, u32); 3] = [(320, 320), (1_600, 1_000), (4_000, 3_000)];

/// Options of `models`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// An encoder's file, which is measured, too
    #[arg(long)]
    encoder: Option<PathBuf>,
    /// Rounds of every measurement
    #[arg(long, default_value_t = 9)]
    rounds: usize,
    /// Equal seeds give equal texts
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// One round: shows that it works, not how fast
    #[arg(long)]
    quick: bool,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The results.
#[derive(Debug, Serialize)]
pub(crate) struct Scored {
    cores: usize,
    load_before: f64,
    models: Vec<Measured>,
}

/// Runs the benchmark.
pub(crate) fn run(options: &Options) -> anyhow::Result<Scored> {
    let load_before = report::Machine::load_before();
    let rounds = if options.quick { 1 } else { options.rounds };
    let texts = |count| BYTES.map(|bytes| texts::ordinary(options.seed, count, bytes, &[]));
    let resident = || -> anyhow::Result<f64> { Ok(Usage::read(std::process::id())?.resident_mib) };
    let mut models = vec![
        measure::builtin(&texts(100), rounds, &resident)?,
        measure::linear(&texts(100), rounds, &resident)?,
        measure::open_nsfw(&PICTURES, rounds, &resident)?,
    ];
    if let Some(file) = &options.encoder {
        let file = fs::read(file)?;
        models.push(measure::encoder(&file, &texts(10), rounds, &resident)?);
    }
    Ok(Scored {
        cores: std::thread::available_parallelism()?.get(),
        load_before,
        models,
    })
}

impl Report for Scored {
    fn lines(&self) -> Vec<Line> {
        let machine = format!(
            "{} cores, load average before: {}",
            self.cores, self.load_before
        );
        let mut lines = vec![Line::heading("Models"), Line::fact("machine", machine)];
        for model in &self.models {
            lines.push(Line::heading(model.model));
            lines.push(Line::fact(
                "reading",
                format!(
                    "{:.1} ms, {:.1} MiB resident",
                    model.loaded.milliseconds, model.loaded.mebibytes
                ),
            ));
            for call in &model.calls {
                let per_kb = call
                    .us_per_kb
                    .map_or(String::new(), |us| format!(", {us:.0} µs per KB"));
                lines.push(Line::fact(
                    &call.what,
                    format!(
                        "median {:.3} ms, shortest {:.3} ms{per_kb}",
                        call.median_ms, call.shortest_ms
                    ),
                ));
            }
        }
        lines
    }
}
