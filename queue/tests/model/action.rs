//! What can happen to tables and processes.

use super::state::{Commit, Hand, Outcome, State};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Heartbeat {
        worker: usize,
    },
    /// Of a dead worker in due course; of a living one because it stalls.
    LeaseEnds {
        worker: usize,
    },
    /// Killed; another process starts.
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
    /// The run comes to this end.
    End(Hand, Outcome),
    /// The run has something recorded.
    Checkpoint(Hand),
    /// `queue.checkpoint`, with the effect.
    Record(Hand, Commit),
    /// `queue.finish` or `queue.keep`, with the effect.
    Write(Hand, Commit),
    /// `pg_xact_status`.
    LookUp(Hand),
    /// The server does not know any more: counts as rolled back.
    LookUpInVain(Hand),
    /// `rescue::rescue`.
    Rescue {
        job: usize,
    },
    /// `rescue::release_strays`.
    Sweep {
        worker: usize,
    },
    /// A scheduled job whose time has come is as good as due: the next claim promotes it.
    DelayPasses {
        job: usize,
    },
    /// `burial::bury`.
    Bury {
        job: usize,
    },
    ObituaryFails {
        job: usize,
    },
    /// `dead::replay`.
    Replay {
        job: usize,
    },
    Pause,
    Resume,
}

impl Action {
    /// Whether it is none of the queue's doing.
    pub(crate) fn is_fault(self, state: &State) -> bool {
        match self {
            Self::LeaseEnds { worker } => state.workers[worker].is_alive,
            Self::Crash { .. }
            | Self::LoseAnswer(_)
            | Self::Write(_, Commit::Lost { .. })
            | Self::Record(_, Commit::Lost { .. })
            | Self::LookUpInVain(_)
            | Self::ObituaryFails { .. } => true,
            _ => false,
        }
    }
}
