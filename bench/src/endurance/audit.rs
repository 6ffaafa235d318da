//! The audit of the jobs: every one must have been done exactly once.

use serde::Serialize;

/// The numbers of jobs.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Audit {
    pub(super) enqueued: u64,
    /// Effects, and different jobs among them.
    pub(super) effects: u64,
    pub(super) done: u64,
    pub(super) dead: u64,
    pub(super) left: u64,
}

impl Audit {
    pub(super) fn holds(&self) -> bool {
        self.enqueued == self.effects
            && self.effects == self.done
            && self.dead == 0
            && self.left == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_audit_fails_when_a_job_was_lost_doubled_dead_or_left() {
        let sound = Audit {
            enqueued: 10,
            effects: 10,
            done: 10,
            dead: 0,
            left: 0,
        };
        assert!(sound.holds());
        let lost = Audit {
            effects: 9,
            done: 9,
            ..sound
        };
        let doubled = Audit { done: 9, ..sound };
        let dead = Audit { dead: 1, ..sound };
        let left = Audit { left: 1, ..sound };
        for wrong in [lost, doubled, dead, left] {
            assert!(!wrong.holds(), "{wrong:?}");
        }
    }
}
