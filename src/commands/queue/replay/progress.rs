//! The progress of a replay, on stderr and as the result.

use std::{
    io::{IsTerminal as _, Write as _},
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{
    commands::queue::table::{counted, thousands},
    duration::humane,
};

/// How often progress is reported on a terminal, and elsewhere.
pub(super) const REWRITE: Duration = Duration::from_millis(100);

pub(super) const LINE: Duration = Duration::from_secs(5);

/// Reports the progress of the replay on stderr.
pub(super) struct Progress {
    pub(super) matching: u64,
    pub(super) replayed: u64,
    pub(super) begun: Instant,
    pub(super) told: Instant,
    pub(super) terminal: bool,
}

impl Progress {
    pub(super) fn new(matching: u64) -> Self {
        Self {
            matching,
            replayed: 0,
            begun: Instant::now(),
            told: Instant::now(),
            terminal: std::io::stderr().is_terminal(),
        }
    }

    pub(super) fn add(&mut self, replayed: u64) {
        self.replayed += replayed;
        let every = if self.terminal { REWRITE } else { LINE };
        if self.told.elapsed() < every {
            return;
        }
        self.told = Instant::now();
        let ms = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let rate = self.replayed * 1_000 / ms.max(1);
        let left = match self
            .matching
            .saturating_sub(self.replayed)
            .checked_div(rate)
        {
            Some(seconds) => humane(Duration::from_secs(seconds)),
            None => "?".to_owned(),
        };
        let line = format!(
            "{} replayed, {}/s, {left} left",
            self.done(),
            thousands(rate)
        );
        let mut err = std::io::stderr();
        // If nobody reads stderr any more, the replay still continues.
        let _ = if self.terminal {
            write!(err, "\r\x1b[2K{line}")
        } else {
            writeln!(err, "{line}")
        };
    }

    /// Clears the line for the result.
    pub(super) fn clear(&self) {
        if self.terminal {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }

    pub(super) fn done(&self) -> String {
        format!(
            "{} of {}",
            thousands(self.replayed),
            counted(self.matching, "dead job", "dead jobs")
        )
    }

    pub(super) fn document(&self, interrupted: bool) -> serde_json::Value {
        json!({
            "matching": self.matching,
            "replayed": self.replayed,
            "interrupted": interrupted,
        })
    }
}
