//! Splits a page: the rest of it becomes jobs of one turn each, which run in parallel.

use std::time::Duration;

use metrics::{Counter, counter};
use store::{delivery::HandedOn, jobs};

use super::Page;

/// Why a page was split.
#[derive(Clone, Copy)]
pub(super) enum Split {
    /// A request took long.
    Slow,
    /// A request failed.
    Failed,
    /// The process has little else to do.
    Idle,
    /// An earlier run did not finish. One of the deliveries may be the reason.
    Rerun,
}

impl Split {
    const ALL: [Self; 4] = [Self::Slow, Self::Failed, Self::Idle, Self::Rerun];

    fn counter(self) -> Counter {
        let reason = match self {
            Self::Slow => "slow",
            Self::Failed => "failed",
            Self::Idle => "idle",
            Self::Rerun => "rerun",
        };
        counter!("gatehouse_webhook_pages_spread_total", "reason" => reason)
    }
}

/// Sets all counters to 0 at the start.
pub(crate) fn expect_none() {
    for reason in Split::ALL {
        reason.counter().increment(0);
    }
}

impl Page<'_> {
    /// Makes a job of each turn from this one on.
    pub(super) fn split_from(&mut self, first: usize, reason: Split) {
        reason.counter().increment(1);
        for turn in self.turns.split_off(first) {
            self.hand_on(turn, Duration::ZERO);
        }
    }

    pub(super) fn hand_on(&mut self, turn: jobs::Turn, delay: Duration) {
        self.handed_on.push(HandedOn {
            turns: vec![turn],
            delay,
        });
    }
}
