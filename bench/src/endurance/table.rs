//! The report.

use super::{
    Endured,
    sample::{Stretch, megabytes},
};
use crate::report::{Line, Report};

impl Stretch {
    fn line(&self, name: &str) -> Line {
        let Self {
            claim,
            wait,
            backlog,
            dead_rows,
            table_bytes,
            index_bytes,
        } = self;
        Line::fact(
            name,
            format!(
                "claims p50 {:.2} ms, p99 {:.2} ms ({}); waits p50 {:.2} ms, p99 {:.2} ms; \
                 backlog at most {backlog}; dead rows at most {dead_rows}; \
                 table {:.1} MB, indexes {:.1} MB",
                claim.p50_ms,
                claim.p99_ms,
                claim.count,
                wait.p50_ms,
                wait.p99_ms,
                megabytes(*table_bytes),
                megabytes(*index_bytes),
            ),
        )
    }
}

impl Report for Endured {
    fn lines(&self) -> Vec<Line> {
        let title = format!(
            "{} jobs/s in {} lanes, a {} held for {} minutes",
            self.rate, self.lanes, self.hold, self.minutes
        );
        let ratio = self.during.claim.p99_ms / self.fresh.claim.p99_ms;
        let soon = |seconds: Option<f64>| {
            seconds.map_or("not while watched".to_owned(), |seconds| {
                format!("after {seconds:.0} s")
            })
        };
        let audit = &self.audit;
        let verdict = if audit.holds() { "holds" } else { "FAILS" };
        vec![
            Line::heading(title),
            self.machine.line(),
            self.fresh.line("fresh"),
            self.during.line("held, last minute"),
            self.after.line("60 s after"),
            Line::fact(
                "claims' p99, held / fresh",
                format!("{ratio:.2} (goal: at most 5)"),
            ),
            Line::fact(
                "claims' p99 at most twice the fresh",
                soon(self.recovery.claims_seconds),
            ),
            Line::fact(
                "dead rows at most twice the fresh",
                soon(self.recovery.dead_rows_seconds),
            ),
            Line::fact(
                "every job done exactly once",
                format!(
                    "{verdict}: {} enqueued, {} effects of {} jobs, {} dead, {} left",
                    audit.enqueued, audit.effects, audit.done, audit.dead, audit.left
                ),
            ),
        ]
    }

    /// Whether every job was done exactly once.
    fn holds(&self) -> bool {
        self.audit.holds()
    }
}
