//! What can happen to tables and processes.

use super::state::{Commit, Hand, Outcome, State};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Heartbeat {
        worker: usize,
    },
    /// For a dead worker: in due course. For a live worker: because it stalls.
    LeaseEnds {
        worker: usize,
    },
    /// A worker is killed, and another process starts.
    Crash {
        worker: usize,
    },
    /// Only without the lanes' locks.
    Count {
        worker: usize,
    },
    /// `queue.claim`.
    Claim {
        worker: usize,
        job: usize,
    },
    /// A process enqueues a job, and takes it at once if it may.
    Insert {
        worker: usize,
    },
    Arrive(Hand),
    LoseAnswer(Hand),
    /// The run ends in this way.
    End(Hand, Outcome),
    /// The run records something.
    Checkpoint(Hand),
    /// `queue.checkpoint`, with the effect.
    Record(Hand, Commit),
    /// `queue.finish` or `queue.keep`, with the effect.
    Write(Hand, Commit),
    /// `pg_xact_status`.
    LookUp(Hand),
    /// The server does not know any more. This counts as rolled back.
    LookUpInVain(Hand),
    /// `rescue::rescue`.
    Rescue {
        job: usize,
    },
    /// `orphans::sweep`.
    Sweep {
        worker: usize,
    },
    /// A scheduled job whose time has come counts as due, because the next claim promotes it.
    DelayPasses {
        job: usize,
    },
    /// `dead_letter::move_doomed`.
    MoveDoomed {
        job: usize,
    },
    OnDeadFails {
        job: usize,
    },
    /// A `dead_jobs::Replay`.
    Replay {
        job: usize,
    },
    Pause,
    Resume,
}

impl Action {
    /// Whether it comes from outside of the queue.
    pub(crate) fn is_fault(self, state: &State) -> bool {
        match self {
            Self::LeaseEnds { worker } => state.workers[worker].is_alive,
            Self::Crash { .. }
            | Self::LoseAnswer(_)
            | Self::Write(_, Commit::Lost { .. })
            | Self::Record(_, Commit::Lost { .. })
            | Self::LookUpInVain(_)
            | Self::OnDeadFails { .. } => true,
            _ => false,
        }
    }
}
