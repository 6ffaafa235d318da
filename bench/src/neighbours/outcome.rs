//! The results of the minutes: the bounds that follow from the idle minutes, and the figures of
//! each attack.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Serialize;

use super::{attack::Attack, testbed::Minute};
use crate::latency::{Percentiles, median};

/// An attack may double a latency, or add this many milliseconds, whichever is more.
const TIMES: f64 = 2.0;
const MORE_MS: f64 = 50.0;

/// What must hold.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Bounds {
    /// Medians of the idle minutes.
    pub(super) idle_submit_p99_ms: f64,
    pub(super) idle_verdict_p99_ms: f64,
    pub(super) submit_p99_ms: f64,
    pub(super) verdict_p99_ms: f64,
    /// The bound of the API, and of the worker.
    pub(super) memory_mib: u32,
}

impl Bounds {
    /// The bounds that follow from these idle minutes.
    pub(super) fn beside(idle: &[Minute], memory_mib: u32) -> Self {
        let idle_submit_p99_ms = median_p99(idle, |minute| minute.felt.submit);
        let idle_verdict_p99_ms = median_p99(idle, |minute| minute.felt.verdict);
        Self {
            idle_submit_p99_ms,
            idle_verdict_p99_ms,
            submit_p99_ms: allowed(idle_submit_p99_ms),
            verdict_p99_ms: allowed(idle_verdict_p99_ms),
            memory_mib,
        }
    }
}

/// The p99 that is allowed for this idle p99.
fn allowed(idle_ms: f64) -> f64 {
    (TIMES * idle_ms).max(idle_ms + MORE_MS)
}

/// What an attack did.
#[derive(Debug, Serialize)]
pub(super) struct Against {
    pub(super) attack: Attack,
    /// Medians over the rounds.
    pub(super) submit_p99_ms: f64,
    pub(super) verdict_p99_ms: f64,
    pub(super) edit_p99_ms: f64,
    /// How much more the database grew in a minute than in an idle one, for each submission of the hostile team that was
    /// accepted; `None` without any.
    pub(super) bytes_per_submission: Option<f64>,
    /// What does not hold.
    pub(super) failures: Vec<String>,
    /// One for each round.
    pub(super) minutes: Vec<Minute>,
}

impl Against {
    pub(super) fn new(
        attack: Attack,
        minutes: Vec<Minute>,
        idle: &[Minute],
        bounds: &Bounds,
    ) -> Self {
        let mut against = Self {
            attack,
            submit_p99_ms: median_p99(&minutes, |minute| minute.felt.submit),
            verdict_p99_ms: median_p99(&minutes, |minute| minute.felt.verdict),
            edit_p99_ms: median_p99(&minutes, |minute| minute.felt.edit),
            bytes_per_submission: bytes_per_submission(&minutes, idle),
            failures: Vec::new(),
            minutes,
        };
        against.failures = against.judge(bounds);
        against
    }

    fn judge(&self, bounds: &Bounds) -> Vec<String> {
        let mut failures = Vec::new();
        for (what, measured, allowed) in [
            ("submit p99", self.submit_p99_ms, bounds.submit_p99_ms),
            ("verdict p99", self.verdict_p99_ms, bounds.verdict_p99_ms),
        ] {
            if measured > allowed {
                failures.push(format!("{what} {measured:.0} ms, allowed {allowed:.0}"));
            }
        }
        failures.extend(harm(&self.minutes, bounds.memory_mib));
        failures
    }
}

/// What must not happen in any minute: too much memory, a process that ends, or a refused or lost
/// request of the well-behaved team.
pub(super) fn harm(minutes: &[Minute], memory_mib: u32) -> Vec<String> {
    let mut harm = Vec::new();
    for (name, peaks) in [
        ("API", minutes.iter().map(|minute| minute.api).collect()),
        (
            "worker",
            minutes
                .iter()
                .map(|minute| minute.worker)
                .collect::<Vec<_>>(),
        ),
    ] {
        let most = peaks
            .iter()
            .fold(0.0, |most: f64, peak| most.max(peak.resident_mib));
        if most > f64::from(memory_mib) {
            harm.push(format!("{name} {most:.0} MiB, allowed {memory_mib}"));
        }
        let stopped: u32 = peaks.iter().map(|peak| peak.stopped).sum();
        if stopped > 0 {
            harm.push(format!("{name} killed {stopped} times for its memory"));
        }
        let died: u32 = peaks.iter().map(|peak| peak.died).sum();
        if died > 0 {
            harm.push(format!("{name} ended by itself {died} times"));
        }
    }
    let mut failed: BTreeMap<String, u64> = BTreeMap::new();
    for Minute { felt, .. } in minutes {
        let submissions = felt
            .submissions_failed
            .iter()
            .map(|one| ("submission", one));
        let edits = felt.edits_failed.iter().map(|one| ("edit", one));
        for (what, (how, times)) in submissions.chain(edits) {
            *failed.entry(format!("{what}: {how}")).or_default() += times;
        }
        if felt.untold > 0 {
            *failed
                .entry("verdict: did not arrive in time".to_owned())
                .or_default() += felt.untold;
        }
    }
    harm.extend(failed.iter().map(|(how, times)| format!("{times} × {how}")));
    harm
}

fn median_p99(minutes: &[Minute], of: impl Fn(&Minute) -> Percentiles) -> f64 {
    median(minutes.iter().map(|minute| of(minute).p99_ms))
}

#[expect(clippy::cast_precision_loss, reason = "bytes are far below 2^53")]
fn bytes_per_submission(minutes: &[Minute], idle: &[Minute]) -> Option<f64> {
    let usual = median(idle.iter().map(|minute| minute.grown_bytes as f64));
    let each: Vec<f64> = minutes
        .iter()
        .filter_map(|minute| {
            let accepted = minute.hostile.as_ref()?.accepted;
            (accepted > 0).then(|| (minute.grown_bytes as f64 - usual) / accepted as f64)
        })
        .collect();
    (!each.is_empty()).then(|| median(each))
}
