//! Records what a page has sent and handed on, while it continues.

use std::{mem, time::Instant};

use queue::NotRecorded;
use store::delivery::Progress;

use super::Page;

impl Page<'_> {
    pub(super) fn is_recorded(&self) -> bool {
        self.attempted.is_empty() && self.handed_on.is_empty()
    }

    /// Records what was sent, what was handed on, and what is left to send.
    pub(super) async fn record(&mut self) -> Result<(), NotRecorded> {
        match self.take_progress() {
            Some(progress) => self.checkpoint.record(progress).await,
            None => Ok(()),
        }
    }

    pub(super) fn take_progress(&mut self) -> Option<Progress> {
        self.recorded_at = Instant::now();
        if self.is_recorded() {
            return None;
        }
        let rest = !self.is_single && !self.turns.is_empty();
        Some(Progress {
            endpoint: self.endpoint,
            team: self.team?,
            attempted: mem::take(&mut self.attempted),
            handed_on: mem::take(&mut self.handed_on),
            rest: rest.then(|| self.turns.iter().cloned().collect()),
        })
    }
}
