//! How fast texts are judged: our rules beside a loop over single regular expressions, RE2's Set and Hyperscan, on the
//! same patterns and texts and in turns; then how the time grows with the text.

mod curve;
mod engine;
mod patterns;
mod peer;
mod texts;

use std::time::Duration;

use clap::Args;
use serde::Serialize;

use self::{
    curve::Point,
    engine::{as_regexes, measure, ours, single},
    patterns::{Literals, Patterns},
    peer::{Peer, Running},
};
use crate::report::{self, Line, Report};

/// Times the loop should take of ours, at least.
const LOOP_GOAL: f64 = 20.0;

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

/// What came out.
#[derive(Debug, Serialize)]
pub(crate) struct Judged {
    cores: usize,
    load_before: f64,
    texts: usize,
    bytes: usize,
    cases: Vec<Case>,
    curve: Vec<Point>,
}

/// Patterns, with what each engine made of them.
#[derive(Debug, Serialize)]
struct Case {
    keywords: usize,
    regexes: usize,
    what: &'static str,
    entries: Vec<Entry>,
}

/// One engine's figures: microseconds for a text, the median over the rounds.
#[derive(Debug, Serialize)]
struct Entry {
    engine: &'static str,
    compiled_ms: f64,
    /// Texts that it has not seen, as in life.
    fresh: f64,
    /// The same texts once more, for which all of a lazily built automaton is there.
    again: f64,
    /// In all rounds, each rule or pattern counted once a text.
    matches: usize,
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
        curve: curve::measure(options.seed, options.quick)?,
    })
}

/// Measures all engines in turns. The first round warms up and is not counted.
async fn compare(
    patterns: &Patterns,
    rounds: &[Vec<String>],
    peers: impl Iterator<Item = Peer>,
    scratch: &std::path::Path,
) -> anyhow::Result<Vec<Entry>> {
    let regexes = as_regexes(patterns);
    let (group, compiled) = ours(patterns)?;
    let mut turns = vec![Turns::new("ours", compiled)];
    let (singles, compiled) = single(&regexes)?;
    turns.push(Turns::new("a loop over single ones", compiled));
    let mut running = Vec::new();
    for peer in peers {
        eprintln!("  {} compiles", peer.name());
        let peer_running = Running::start(peer, &regexes, rounds, scratch).await?;
        turns.push(Turns::new(peer.name(), peer_running.compiled()));
        running.push(peer_running);
    }
    for (round, texts) in rounds.iter().enumerate() {
        let mut outcomes = Vec::new();
        outcomes.push((measure(&group, texts), measure(&group, texts)));
        outcomes.push((measure(&singles, texts), measure(&singles, texts)));
        for peer in &mut running {
            outcomes.push((peer.measure(round).await?, peer.measure(round).await?));
        }
        for (turns, (fresh, again)) in turns.iter_mut().zip(outcomes) {
            if round > 0 {
                turns.fresh.push(fresh.0);
                turns.again.push(again.0);
                turns.matches += fresh.1;
            }
        }
    }
    let texts = rounds.first().map_or(0, Vec::len);
    Ok(turns.into_iter().map(|turns| turns.entry(texts)).collect())
}

struct Turns {
    engine: &'static str,
    compiled: Duration,
    fresh: Vec<Duration>,
    again: Vec<Duration>,
    matches: usize,
}

impl Turns {
    const fn new(engine: &'static str, compiled: Duration) -> Self {
        Self {
            engine,
            compiled,
            fresh: Vec::new(),
            again: Vec::new(),
            matches: 0,
        }
    }

    fn entry(self, texts: usize) -> Entry {
        Entry {
            engine: self.engine,
            compiled_ms: self.compiled.as_secs_f64() * 1e3,
            fresh: median(self.fresh, texts),
            again: median(self.again, texts),
            matches: self.matches,
        }
    }
}

/// Microseconds for one of so many texts.
#[expect(clippy::cast_precision_loss, reason = "there are few texts")]
fn median(mut rounds: Vec<Duration>, texts: usize) -> f64 {
    rounds.sort_unstable();
    let middle = rounds.get(rounds.len() / 2).copied().unwrap_or_default();
    middle.as_secs_f64() * 1e6 / texts as f64
}

impl Report for Judged {
    fn lines(&self) -> Vec<Line> {
        let machine = format!(
            "{} cores, load average before: {}",
            self.cores, self.load_before
        );
        let mut lines = vec![
            Line::heading("Rules"),
            Line::fact("machine", machine),
            Line::fact(
                "texts of a round",
                format!("{} of {} bytes", self.texts, self.bytes),
            ),
        ];
        for case in &self.cases {
            lines.push(Line::heading(format!(
                "{} keywords, {} regexes: {}",
                case.keywords, case.regexes, case.what
            )));
            let ours = case.entries.first().map_or(0.0, |entry| entry.fresh);
            for entry in &case.entries {
                let times = entry.fresh / ours;
                let times = match entry.engine {
                    "ours" => String::new(),
                    "a loop over single ones" => report::against_goal(times, LOOP_GOAL),
                    _ => report::against_goal(times, 1.0),
                };
                let Entry {
                    fresh,
                    again,
                    matches,
                    compiled_ms,
                    ..
                } = entry;
                lines.push(Line::fact(
                    entry.engine,
                    format!("{fresh:9.1} µs a text, {again:9.1} again; {matches} matches; compiled in {compiled_ms:.0} ms; times ours: {times}"),
                ));
            }
        }
        lines.extend(curve::lines(&self.curve));
        lines
    }
}
