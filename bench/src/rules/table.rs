//! The results of a run, and their report.

use serde::Serialize;

use super::time_by_length::{self, Point};
use crate::report::{self, Line, Report};

/// The loop should take at least this many times as long as our rules.
const LOOP_GOAL: f64 = 20.0;

/// The results.
#[derive(Debug, Serialize)]
pub(crate) struct Judged {
    pub(super) cores: usize,
    pub(super) load_before: f64,
    pub(super) texts: usize,
    pub(super) bytes: usize,
    pub(super) cases: Vec<Case>,
    pub(super) curve: Vec<Point>,
}

/// Patterns, and the figures of each engine.
#[derive(Debug, Serialize)]
pub(super) struct Case {
    pub(super) keywords: usize,
    pub(super) regexes: usize,
    pub(super) what: &'static str,
    pub(super) entries: Vec<Entry>,
}

/// One engine's figures: microseconds for a text, the median over the rounds.
#[derive(Debug, Serialize)]
pub(super) struct Entry {
    pub(super) engine: &'static str,
    pub(super) compiled_ms: f64,
    /// Texts that the engine has not seen, as in production.
    pub(super) fresh: f64,
    /// The same texts once more, after a lazy automaton has been built for them.
    pub(super) again: f64,
    /// In all rounds, each rule or pattern counted once a text.
    pub(super) matches: usize,
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
        lines.extend(time_by_length::lines(&self.curve));
        lines
    }
}
