//! All engines judge the same texts, in turns.

use std::{path::Path, time::Duration};

use super::{
    engine::{as_regexes, measure, ours, single},
    external_engine::{Peer, Running},
    patterns::Patterns,
    table::Entry,
};

/// Measures all engines in turns. The first round warms up and is not counted.
pub(super) async fn compare(
    patterns: &Patterns,
    rounds: &[Vec<String>],
    peers: impl Iterator<Item = Peer>,
    scratch: &Path,
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
    pub(super) engine: &'static str,
    pub(super) compiled: Duration,
    pub(super) fresh: Vec<Duration>,
    pub(super) again: Vec<Duration>,
    pub(super) matches: usize,
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
