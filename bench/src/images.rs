//! How fast pictures are recognised. Looks up hashes in a list of a million, compared with a loop
//! over all of them and with faiss, on the same hashes and in turns. Also hashes pictures, compared
//! with the library of the reference implementation.

mod lookup;
mod pictures;

use clap::Args;
use serde::Serialize;

use self::{
    lookup::{Entry, Query},
    pictures::Size,
};
use crate::report::{self, Line, Report};

/// A lookup in a million should take less, in microseconds.
const LOOKUP_GOAL: f64 = 1_000.0;

/// Options of `images`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// Hashes on the list
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1_000..))]
    hashes: u32,
    /// Rounds of every measurement, each with queries that nobody has seen
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Queries of each kind in a round; those that look at all hashes get a twentieth of them
    #[arg(long, default_value_t = 2_000)]
    queries: usize,
    /// Equal seeds give equal hashes and pictures
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A tenth of the hashes and of the queries: shows that it works, not how fast
    #[arg(long)]
    quick: bool,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The results.
#[derive(Debug, Serialize)]
pub(crate) struct Recognised {
    cores: usize,
    load_before: f64,
    hashes: usize,
    /// Bytes of memory for each hash in our index.
    bytes_per_hash: f64,
    lookups: Vec<Entry>,
    pictures: Vec<Size>,
}

/// Runs the benchmark.
pub(crate) async fn run(options: Options) -> anyhow::Result<Recognised> {
    let load_before = report::Machine::load_before();
    let part = if options.quick { 10 } else { 1 };
    let scratch = tempfile::tempdir()?;
    let hashes = options.hashes as usize / part;
    let (lookups, bytes_per_hash) = lookup::compare(
        options.seed,
        hashes,
        options.rounds,
        (options.queries / part).max(20),
        scratch.path(),
    )
    .await?;
    Ok(Recognised {
        cores: std::thread::available_parallelism()?.get(),
        load_before,
        hashes,
        bytes_per_hash,
        lookups,
        pictures: pictures::compare(options.seed, options.rounds, scratch.path()).await?,
    })
}

impl Report for Recognised {
    fn lines(&self) -> Vec<Line> {
        let machine = format!(
            "{} cores, load average before: {}",
            self.cores, self.load_before
        );
        let mut lines = vec![
            Line::heading("Images"),
            Line::fact("machine", machine),
            Line::fact("hashes", self.hashes.to_string()),
            Line::fact("bytes for each", format!("{:.0}", self.bytes_per_hash)),
        ];
        for query in Query::ALL {
            lines.push(Line::heading(query.name()));
            let entries = || self.lookups.iter().filter(|entry| entry.query == query);
            let ours = entries().next().map_or(0.0, |entry| entry.median_us);
            for entry in entries() {
                let Entry {
                    median_us,
                    p99_us,
                    queries,
                    found,
                    made_ms,
                    ..
                } = entry;
                let beside = match (entry.engine, query) {
                    ("ours", Query::Unknown | Query::Alike) => {
                        let verdict = if *median_us < LOOKUP_GOAL {
                            "met"
                        } else {
                            "missed"
                        };
                        format!("goal {LOOKUP_GOAL} µs: {verdict}")
                    }
                    _ => format!("times ours: {:.1}", median_us / ours),
                };
                lines.push(Line::fact(
                    entry.engine,
                    format!(
                        "median {median_us:9.1} µs, p99 {p99_us:9.1}; {found} of {queries} found; made in {made_ms:.0} ms; {beside}"
                    ),
                ));
            }
        }
        lines.push(Line::heading("Hashing a picture"));
        lines.extend(self.pictures.iter().map(Size::line));
        lines
    }
}
