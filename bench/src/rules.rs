//! How fast texts are judged. Compares our rules with a loop over single regular expressions, RE2's
//! Set and Hyperscan, on the same patterns and texts and in turns. Then measures how the time grows
//! with the text.

mod compare;
mod engine;
mod external_engine;
mod patterns;
mod table;
pub(crate) mod texts;
mod time_by_length;

use clap::Args;

pub(crate) use self::table::Judged;
use self::{
    compare::compare,
    external_engine::Peer,
    patterns::{Literals, Patterns},
    table::Case,
};
use crate::report;

/// Options of `rules`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// Rounds of every measurement, each with texts that nobody has seen
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Texts of a round
    #[arg(long, default_value_t = 200)]
    texts: usize,
    /// Bytes of a text
    #[arg(long, default_value_t = 1_024)]
    bytes: usize,
    /// Equal seeds give equal patterns and texts
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Leave out a peer; Hyperscan takes minutes to compile the patterns
    #[arg(long, value_delimiter = ',')]
    without: Vec<Peer>,
    /// A tenth of the patterns and of the texts: shows that it works, not how fast
    #[arg(long)]
    quick: bool,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Runs the benchmark.
pub(crate) async fn run(options: Options) -> anyhow::Result<Judged> {
    let load_before = report::Machine::load_before();
    let (part, rounds) = if options.quick {
        (10, 2)
    } else {
        (1, options.rounds)
    };
    let texts = options.texts / part;
    let scratch = tempfile::tempdir()?;
    let mut cases = Vec::new();
    for (what, keywords, regexes, literals) in [
        (
            "keywords and regular expressions, nine of ten with a literal",
            10_000,
            1_000,
            Literals::Most,
        ),
        ("keywords", 10_000, 0, Literals::Most),
        (
            "regular expressions, nine of ten with a literal",
            0,
            1_000,
            Literals::Most,
        ),
        (
            "regular expressions, none with a literal",
            0,
            1_000,
            Literals::None,
        ),
    ] {
        let patterns = Patterns::new(options.seed, keywords / part, regexes / part, literals);
        eprintln!(
            "{} keywords, {} regular expressions",
            patterns.keywords.len(),
            patterns.regexes.len()
        );
        let rounds: Vec<Vec<String>> = (0..=rounds as u64)
            .map(|round| {
                texts::ordinary(
                    options.seed + round,
                    texts,
                    options.bytes,
                    &patterns.keywords,
                )
            })
            .collect();
        let peers = Peer::ALL
            .into_iter()
            .filter(|peer| !options.without.contains(peer));
        cases.push(Case {
            keywords: patterns.keywords.len(),
            regexes: patterns.regexes.len(),
            what,
            entries: compare(&patterns, &rounds, peers, scratch.path()).await?,
        });
    }
    Ok(Judged {
        cores: std::thread::available_parallelism()?.get(),
        load_before,
        texts,
        bytes: options.bytes,
        cases,
        curve: time_by_length::measure(options.seed, options.quick)?,
    })
}
