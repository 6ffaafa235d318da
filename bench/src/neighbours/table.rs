//! The report.

use super::{
    Neighbours,
    hostile::Tally,
    outcome::{Against, Bounds},
    testbed::Minute,
    watch::Peak,
};
use crate::{
    latency::median,
    report::{Line, Report},
};

/// How many outcomes are shown for each kind of request.
const SHOWN: usize = 4;

impl Report for Neighbours {
    fn lines(&self) -> Vec<Line> {
        let Bounds {
            idle_submit_p99_ms,
            idle_verdict_p99_ms,
            submit_p99_ms,
            verdict_p99_ms,
            memory_mib,
        } = self.bounds;
        let mut lines = vec![
            Line::heading(format!(
                "A team that submits {} items a second beside a hostile one",
                self.rate
            )),
            self.machine.line(),
            Line::fact("processes", "1 API, 1 worker, fresh for each row"),
            Line::fact(
                "rounds",
                format!(
                    "{}, each of {} s idle and {} s of every attack, shuffled",
                    self.rounds, self.seconds, self.seconds
                ),
            ),
            Line::fact("seed", self.seed.to_string()),
            Line::fact(
                "open files allowed",
                format!("{} for each process", self.descriptors),
            ),
            Line::fact(
                "hostile team",
                format!("a process of its own at nice {}", self.nice),
            ),
            Line::heading("Nobody else: medians over the rounds"),
            Line::fact("submit p99", ms(idle_submit_p99_ms)),
            Line::fact("verdict p99", ms(idle_verdict_p99_ms)),
        ];
        lines.extend(usage(&self.idle));
        lines.push(Line::heading("Allowed beside any attack"));
        let allowed = |ms: f64| format!("{ms:.1} ms (twice the idle p99, or 50 ms more)");
        lines.push(Line::fact("submit p99", allowed(submit_p99_ms)));
        lines.push(Line::fact("verdict p99", allowed(verdict_p99_ms)));
        let memory = format!("{memory_mib} MiB resident, each process");
        lines.push(Line::fact("memory", memory));
        for against in &self.attacks {
            lines.extend(rows(against));
        }
        lines.extend(summary(self));
        lines
    }

    /// Whether every bound holds under every attack, and nothing that the well-behaved team did was
    /// refused or lost.
    fn holds(&self) -> bool {
        self.attacks
            .iter()
            .all(|against| against.failures.is_empty())
            && self.idle_failures().is_empty()
    }
}

fn rows(against: &Against) -> Vec<Line> {
    let Against {
        attack,
        submit_p99_ms,
        verdict_p99_ms,
        edit_p99_ms,
        bytes_per_submission,
        minutes,
        failures,
    } = against;
    let mut lines = vec![
        Line::heading(format!("Attack: {}", attack.name())),
        Line::fact("submit p99", ms(*submit_p99_ms)),
        Line::fact("verdict p99", ms(*verdict_p99_ms)),
        Line::fact("editing a small group, p99", ms(*edit_p99_ms)),
    ];
    lines.extend(usage(minutes));
    if let Some(bytes) = bytes_per_submission {
        lines.push(Line::fact(
            "kept for each hostile submission",
            format!("{bytes:.0} bytes"),
        ));
    }
    if let Some(Tally {
        requests, notes, ..
    }) = minutes.last().and_then(|minute| minute.hostile.as_ref())
    {
        for (what, outcomes) in requests {
            let mut outcomes: Vec<_> = outcomes.iter().collect();
            outcomes.sort_by_key(|(_, times)| std::cmp::Reverse(**times));
            let words = outcomes
                .iter()
                .take(SHOWN)
                .map(|(how, times)| format!("{times} × {how}"));
            let words = words.collect::<Vec<_>>().join(", ");
            lines.push(Line::fact(format!("hostile: {what}"), words));
        }
        for note in notes {
            lines.push(Line::fact("hostile", note));
        }
    }
    let verdict = if failures.is_empty() {
        "holds".to_owned()
    } else {
        format!("FAILS: {}", failures.join("; "))
    };
    lines.push(Line::fact("verdict", verdict));
    lines
}

/// The most that the processes used in all rounds, and how late the benchmark was.
fn usage(minutes: &[Minute]) -> Vec<Line> {
    let most = |of: fn(&Minute) -> Peak| {
        let peaks = minutes.iter().map(of);
        peaks.fold(Peak::default(), |most, peak| Peak {
            resident_mib: most.resident_mib.max(peak.resident_mib),
            open_files: most.open_files.max(peak.open_files),
            threads: most.threads.max(peak.threads),
            stopped: most.stopped + peak.stopped,
            died: most.died + peak.died,
        })
    };
    let words = |peak: Peak| {
        format!(
            "at most {:.0} MiB, {} open files, {} threads",
            peak.resident_mib, peak.open_files, peak.threads
        )
    };
    let busy = minutes.last().map(|minute| minute.busy.to_string());
    let busy = busy.unwrap_or_default();
    let late = minutes.iter().map(|minute| minute.felt.own_lateness.p99_ms);
    vec![
        Line::fact("API", words(most(|minute| minute.api))),
        Line::fact("worker", words(most(|minute| minute.worker))),
        Line::fact("processors busy, last round", busy),
        Line::fact("the benchmark itself late, p99", ms(median(late))),
    ]
}

fn summary(neighbours: &Neighbours) -> Vec<Line> {
    let mut lines = vec![Line::heading(
        "Summary: submit p99, verdict p99, API, worker",
    )];
    for against in &neighbours.attacks {
        let most = |of: fn(&Minute) -> f64| against.minutes.iter().map(of).fold(0.0, f64::max);
        lines.push(Line::fact(
            against.attack.name(),
            format!(
                "{:>9.1} ms {:>9.1} ms {:>6.0} MiB {:>6.0} MiB  {}",
                against.submit_p99_ms,
                against.verdict_p99_ms,
                most(|minute| minute.api.resident_mib),
                most(|minute| minute.worker.resident_mib),
                if against.failures.is_empty() {
                    "holds"
                } else {
                    "FAILS"
                }
            ),
        ));
    }
    for failure in neighbours.idle_failures() {
        lines.push(Line::fact("idle", format!("FAILS: {failure}")));
    }
    let conclusion = if neighbours.holds() {
        "Every bound holds."
    } else {
        "A bound does NOT hold."
    };
    lines.push(Line::heading(conclusion));
    lines
}

fn ms(ms: f64) -> String {
    format!("{ms:.1} ms")
}
