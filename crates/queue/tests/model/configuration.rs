//! One configuration of the system: its size, what may happen, and which mechanism is removed.

/// One configuration of the system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Protocol {
    /// The number of jobs, all of one queue and one lane.
    pub(crate) jobs: usize,
    /// The number of processes at any time. When one crashes, another one starts with a new id.
    pub(crate) workers: usize,
    pub(crate) max_attempts: i8,
    /// How many jobs of the lane may run at once.
    pub(crate) cap: usize,
    pub(crate) limits: Limits,
    /// The mechanism that is removed, to see what it is for.
    pub(crate) without: Option<Mechanism>,
}

/// The mechanisms that keep the promises. Most of them are SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mechanism {
    /// A row is finished only by the worker that it names.
    FenceComparesWorker,
    /// A row is finished only under the number of its last claim.
    FenceComparesClaim,
    /// Rows and effects are written in one transaction.
    FinishIsOneTransaction,
    /// An attempt is charged when it begins, not when somebody reports its end.
    AttemptIsChargedAtClaim,
    /// The step that ends or loses the last attempt dooms the job.
    MaximumDooms,
    /// Only a worker without a lease loses its jobs.
    RescueWaitsForLease,
    /// An unanswered commit is looked up before the transaction is repeated.
    CommitsAreLookedUp,
    /// A worker looks for rows that name it but that it does not hold.
    OrphansAreSwept,
    /// Such a row is released only by the second sweep that sees it.
    OrphansAreSeenTwice,
    /// The answer to a claim takes less time than two sweeps are apart. The settings must ensure
    /// this.
    AnswersComeInTime,
    /// A lane's running jobs are counted under its lock, and new ones are claimed before the lock
    /// is released.
    LanesAreLocked,
    /// The row moves and `OnDead` is applied in one transaction.
    BurialIsOneTransaction,
    /// A checkpoint gives the row the next fence.
    CheckpointsMoveTheFence,
    /// While a checkpoint is not answered, a sweep treats the row with the next fence as held,
    /// because the checkpoint may have been written.
    NextFenceIsExpected,
    /// A follow-up job that its worker takes at once is held before the commit.
    HandsAreReadyBeforeCommit,
    /// It is handed over only after the commit.
    HandOverAwaitsCommit,
    /// It is inserted in the state after a claim, with its first attempt charged.
    EagerAttemptIsCharged,
    /// It is inserted as running only if the lane has room under its cap.
    EagerMindsTheCap,
    /// It is inserted as running only if nothing pauses its lane.
    EagerMindsThePause,
}

/// The highest numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Limits {
    /// Crashes, stalls, lost answers and failures of `OnDead`.
    pub(crate) faults: u8,
    /// Runs that ended uncharged.
    pub(crate) uncharged: u8,
    pub(crate) replays: u8,
    /// Effects recorded by runs that go on.
    pub(crate) checkpoints: u8,
    /// Follow-up jobs of finished ones.
    pub(crate) follow_ups: u8,
    /// Jobs that a working process enqueues from outside of a run.
    pub(crate) inserts: u8,
    /// Pauses of the lane.
    pub(crate) pauses: u8,
}

impl Limits {
    pub(crate) const NONE: Self = Self {
        faults: 0,
        uncharged: 0,
        replays: 0,
        checkpoints: 0,
        follow_ups: 0,
        inserts: 0,
        pauses: 0,
    };
}
