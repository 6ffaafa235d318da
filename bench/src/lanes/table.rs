//! The report.

use super::{
    Claimed,
    claim_runs::{EACH, Played, TOGETHER},
};
use crate::report::{Line, Report};

impl Played {
    fn lines(&self) -> Vec<Line> {
        let title = format!("{} ({} jobs in all)", self.scene.title(), self.jobs);
        vec![
            Line::heading(title),
            Line::fact("a claim of 100, alone", self.alone.to_string()),
            Line::fact(
                format!("{TOGETHER} at once, {EACH} each"),
                format!("{:.0} jobs/s; {}", self.together_rate, self.together),
            ),
            Line::fact(
                "fairness, alone",
                format!(
                    "{} jobs from {} of {} lanes, {} to {} each, Jain {:.3}",
                    self.taken, self.lanes_served, self.lanes, self.fewest, self.most, self.jain
                ),
            ),
            Line::fact(
                "lanes over their cap",
                format!(
                    "{} in {} checks; at it: {} at most",
                    self.caps.over, self.caps.checks, self.caps.reached
                ),
            ),
            Line::fact("jobs from paused lanes", self.from_paused.to_string()),
        ]
    }
}

impl Report for Claimed {
    fn lines(&self) -> Vec<Line> {
        let mut lines = vec![Line::heading("Claims at scale"), self.machine.line()];
        lines.extend(self.scenes.iter().flat_map(Played::lines));
        lines.push(Line::heading(format!(
            "The only lane of {} that is not paused",
            self.search.lanes
        )));
        lines.push(Line::fact(
            "found within",
            format!(
                "median {:.1} ms and {:.0} claims, longest {:.1} ms",
                self.search.median_ms, self.search.median_claims, self.search.longest_ms
            ),
        ));
        lines
    }

    /// Whether no cap was exceeded and nothing taken from a paused lane.
    fn holds(&self) -> bool {
        let wrong = |played: &Played| played.caps.over + played.from_paused;
        self.scenes.iter().all(|played| wrong(played) == 0)
    }
}
