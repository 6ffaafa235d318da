//! The vocabulary of the protocol: what tables and processes hold.

use super::configuration::Limits;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    /// By their ids: a replayed job is a new one, and so is a follow-up job.
    pub(crate) jobs: Vec<Job>,
    /// By their ids.
    pub(crate) workers: Vec<Worker>,
    pub(crate) is_paused: bool,
    /// A job was taken while the lane was paused.
    pub(crate) was_disobeyed: bool,
    pub(crate) left: Limits,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Job {
    pub(crate) row: Row,
    /// Charged attempts, as in the row.
    pub(crate) attempt: i8,
    /// The real number of charged attempts: claims that were not given back.
    pub(crate) charged: i8,
    /// All its claims. The first has the fence 1. `None` if no worker holds the claim any more. The
    /// row has the fence of the last claim.
    pub(crate) claims: Vec<Option<Claim>>,
    /// The last sweep of its worker found the row, but no hold.
    pub(crate) is_suspect: bool,
    /// The effects that were applied, each as the step that its run took: how many effects it found
    /// applied.
    pub(crate) effects: Vec<usize>,
    pub(crate) obituaries: u8,
    /// An outcome that was written was reported as refused.
    pub(crate) is_misreported: bool,
}

/// The place of the job's row, and its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Row {
    Due,
    /// Claimed by this worker.
    Running(usize),
    Scheduled,
    Doomed,
    /// In `dead_jobs`.
    Buried,
    /// No longer in `dead_jobs`, but a job under a new id.
    Replayed,
    /// Deleted together with the last effect.
    Finished,
}

/// A claim, as the worker that made it sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Claim {
    pub(crate) worker: usize,
    pub(crate) stage: Stage,
    /// The attempt that it was answered with.
    pub(crate) attempt: i8,
    /// How many effects were applied before.
    pub(crate) step: usize,
    /// The worker has held its lease without a break since the claim.
    pub(crate) is_covered: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Stage {
    /// The claim is committed, and its answer is under way.
    Claimed,
    /// The job waits in the buffer or runs.
    Held,
    /// Inserted by this worker as its own. The commit is not answered yet. The answer to `by`
    /// decides whether it is handed over or dropped.
    Inserted { by: Hand },
    /// A checkpoint waits to be written. Nobody knows whether it already was.
    Reached,
    /// The commit is not answered. It may have written the checkpoint.
    InDoubt { was_written: bool },
    /// The outcome waits to be written. Nobody knows whether it already was.
    Ended { outcome: Outcome, was_written: bool },
    /// The commit is not answered. It may have written the outcome.
    Unanswered { outcome: Outcome, was_written: bool },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Outcome {
    Done,
    /// Done, with a follow-up job that the same worker takes at once if it may.
    DoneWithMore,
    /// An effect and another run.
    Again {
        charged: bool,
    },
    Fail,
    Abort,
    /// Given back, unstarted or dropped.
    Release,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Worker {
    pub(crate) is_alive: bool,
    /// Its row in `workers` has not expired. An expired row counts as none.
    pub(crate) has_lease: bool,
    /// Without the lanes' locks: how many running jobs it counted for its next claim.
    pub(crate) counted: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Commit {
    Answered,
    Lost { written: bool },
}

/// The n-th claim of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Hand {
    pub(crate) job: usize,
    pub(crate) fence: usize,
}

impl State {
    /// Whether nothing is left to do.
    pub(crate) fn has_ended(&self) -> bool {
        self.jobs.iter().all(|job| !job.row.is_in_jobs())
    }

    /// How many jobs of the lane run.
    pub(crate) fn running(&self) -> usize {
        let running = |job: &&Job| matches!(job.row, Row::Running(_));
        self.jobs.iter().filter(running).count()
    }

    /// Moves a claim on.
    pub(crate) fn put(&mut self, hand: Hand, stage: Stage) {
        if let Some(claim) = self.claim_mut(hand) {
            claim.stage = stage;
        }
    }

    /// What a worker holds under this fence.
    pub(crate) fn claim(&self, hand: Hand) -> Option<Claim> {
        self.jobs[hand.job].claims[hand.fence - 1]
    }

    pub(crate) fn claim_mut(&mut self, hand: Hand) -> &mut Option<Claim> {
        &mut self.jobs[hand.job].claims[hand.fence - 1]
    }

    /// Everything that a worker holds.
    pub(crate) fn claims_of(&mut self, worker: usize) -> impl Iterator<Item = &mut Option<Claim>> {
        let claims = self.jobs.iter_mut().flat_map(|job| &mut job.claims);
        claims.filter(move |claim| claim.is_some_and(|claim| claim.worker == worker))
    }

    /// Whether a job's row names this worker, or the worker holds a job.
    pub(crate) fn has_to_do_with(&self, worker: usize) -> bool {
        self.jobs.iter().any(|job| {
            let mut claims = job.claims.iter().flatten();
            job.row == Row::Running(worker) || claims.any(|claim| claim.worker == worker)
        })
    }

    /// The claims that wait for the answer to this one's commit.
    pub(crate) fn inserted_by(&mut self, hand: Hand) -> impl Iterator<Item = &mut Option<Claim>> {
        let claims = self.jobs.iter_mut().flat_map(|job| &mut job.claims);
        claims.filter(move |claim| {
            claim.is_some_and(|claim| claim.stage == Stage::Inserted { by: hand })
        })
    }
}

impl Job {
    pub(crate) fn new() -> Self {
        Self {
            row: Row::Due,
            attempt: 0,
            charged: 0,
            claims: Vec::new(),
            is_suspect: false,
            effects: Vec::new(),
            obituaries: 0,
            is_misreported: false,
        }
    }

    /// What the row's worker holds of it.
    pub(crate) fn last_claim(&self) -> Option<Claim> {
        self.claims.last().copied().flatten()
    }

    /// Whether this worker waits for the answer to a checkpoint that would have given the row the
    /// fence of the last claim.
    pub(crate) fn may_be_checkpoint_of(&self, worker: usize) -> bool {
        let before = self.claims.iter().rev().nth(1).copied().flatten();
        before.is_some_and(|claim| {
            claim.worker == worker && matches!(claim.stage, Stage::Reached | Stage::InDoubt { .. })
        })
    }
}

impl Row {
    /// Whether it is in `queue.jobs`.
    pub(crate) fn is_in_jobs(self) -> bool {
        match self {
            Self::Due | Self::Running(_) | Self::Scheduled | Self::Doomed => true,
            Self::Buried | Self::Replayed | Self::Finished => false,
        }
    }
}

impl Outcome {
    pub(crate) const ALL: [Self; 7] = [
        Self::Done,
        Self::DoneWithMore,
        Self::Again { charged: true },
        Self::Again { charged: false },
        Self::Fail,
        Self::Abort,
        Self::Release,
    ];

    pub(crate) fn has_effect(self) -> bool {
        matches!(self, Self::Done | Self::DoneWithMore | Self::Again { .. })
    }

    pub(crate) fn is_charged(self) -> bool {
        !matches!(self, Self::Again { charged: false } | Self::Release)
    }
}

impl Worker {
    pub(crate) fn new() -> Self {
        Self {
            is_alive: true,
            has_lease: true,
            counted: None,
        }
    }
}
