//! The report.

use serde::Serialize;

use super::{Round, concurrent_waits::ConcurrentWaits};
use crate::{
    latency::{Medians, Percentiles, median},
    report::{Line, Machine, Report},
};

/// The results.
#[derive(Debug, Serialize)]
pub(crate) struct Waited {
    pub(super) machine: Machine,
    pub(super) seed: u64,
    pub(super) rate: f64,
    pub(super) processes: &'static str,
    pub(super) medians: Medians3,
    pub(super) rounds: Vec<Round>,
    pub(super) crowd: Option<ConcurrentWaits>,
}

/// Medians over the rounds of each part.
#[derive(Debug, Serialize)]
pub(super) struct Medians3 {
    waited: Medians,
    asked: Medians,
    told: Medians,
    /// Of the ratios of p50 in the same round: the answer to a client that asks, and to the webhook.
    to_asked: f64,
    to_told: f64,
}

impl Medians3 {
    pub(super) fn of(rounds: &[Round]) -> Self {
        let of = |part: fn(&Round) -> Percentiles| {
            Medians::of(&rounds.iter().map(part).collect::<Vec<_>>())
        };
        let ratio = |part: fn(&Round) -> Percentiles| {
            median(
                rounds
                    .iter()
                    .map(|round| round.waited.p50_ms / part(round).p50_ms),
            )
        };
        Self {
            waited: of(|round| round.waited),
            asked: of(|round| round.asked),
            told: of(|round| round.told),
            to_asked: ratio(|round| round.asked),
            to_told: ratio(|round| round.told),
        }
    }
}

impl Report for Waited {
    fn lines(&self) -> Vec<Line> {
        let Self {
            machine,
            seed,
            rate,
            processes,
            medians,
            rounds,
            crowd,
        } = self;
        let mut lines = vec![
            Line::heading(format!(
                "From a submission to its verdict, {rate} a second, {processes}, medians of {} rounds",
                rounds.len()
            )),
            machine.line(),
            Line::fact("seed", seed.to_string()),
            Line::fact("in the answer", medians.waited.to_string()),
            Line::fact("asked every 10 ms", medians.asked.to_string()),
            Line::fact("webhook", medians.told.to_string()),
            Line::fact("p50 to asking", format!("{:.2}", medians.to_asked)),
            Line::fact("p50 to the webhook", format!("{:.2}", medians.to_told)),
        ];
        if let Some(ConcurrentWaits {
            requests,
            decided,
            before_mib,
            waiting_mib,
            threads,
            seconds,
        }) = crowd
        {
            lines.extend([
                Line::heading(format!("{requests} requests that wait at once")),
                Line::fact("answered with a verdict", decided.to_string()),
                Line::fact(
                    "memory of the API process",
                    format!("{before_mib:.0} MiB before, {waiting_mib:.0} MiB while they waited"),
                ),
                Line::fact("threads", threads.to_string()),
                Line::fact(
                    "from the start of a worker to the last answer",
                    format!("{seconds:.1} s"),
                ),
            ]);
        }
        lines
    }

    /// Whether nobody waited in vain.
    fn holds(&self) -> bool {
        self.crowd
            .is_none_or(|crowd| crowd.decided == crowd.requests)
    }
}
