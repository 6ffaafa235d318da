//! One configuration of the system: how large it is, what may happen, and which mechanism is taken out.

/// One configuration of the system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Protocol {
    /// All of one queue and one lane.
    pub(crate) jobs: usize,
    /// How many processes there are at any time; one that crashes is followed by another, under a new id.
    pub(crate) workers: usize,
    pub(crate) max_attempts: i8,
    /// How many jobs of the lane may run at once.
    pub(crate) cap: usize,
    pub(crate) limits: Limits,
    /// The mechanism that is taken out, to see what it is for.
    pub(crate) without: Option<Mechanism>,
}

/// What keeps the promises: most of it is SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mechanism {
    /// A row is finished only by the worker that it names.
    FenceComparesWorker,
    /// A row is finished only under the number of its last claim.
    FenceComparesClaim,
    /// Rows and effects are written in one transaction.
    FinishIsOneTransaction,
    /// An attempt is charged when it begins, not when somebody is left to report its end.
    AttemptIsChargedAtClaim,
    /// Whoever ends or loses the last attempt dooms the job.
    MaximumDooms,
    /// Only a worker without a lease loses its jobs.
    RescueWaitsForLease,
    /// An unanswered commit is looked up before the transaction is repeated.
    CommitsAreLookedUp,
    /// A worker looks for rows that name it, but that it has no hold on.
    StraysAreSwept,
    /// Such a row is released only by the second sweep that sees it.
    StraysAreSeenTwice,
    /// The answer to a claim takes less than the time between two sweeps: the settings must see to that.
    AnswersComeInTime,
    /// A lane's running jobs are counted under its lock, and claimed before it is let go.
    LanesAreLocked,
    /// The row moves and the obituary is applied in one transaction.
    BurialIsOneTransaction,
    /// A checkpoint gives the row the next fence.
    CheckpointsMoveTheFence,
    /// While a checkpoint is not answered, a sweep takes the row under the next fence for held: the checkpoint may have
    /// been written.
    NextFenceIsExpected,
    /// A follow-up job that its worker takes at once is in its hand before the commit.
    HandsAreReadyBeforeCommit,
    /// It is handed over only after the commit.
    HandOverAwaitsCommit,
    /// It is inserted as a claim would leave it, with its first attempt charged.
    EagerAttemptIsCharged,
    /// It is inserted as running only if the lane has room under its cap.
    EagerMindsTheCap,
    /// It is inserted as running only if nothing pauses its lane.
    EagerMindsThePause,
}

/// How often at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Limits {
    /// Crashes, stalls, lost answers, failing obituaries.
    pub(crate) faults: u8,
    /// Runs that ended uncharged.
    pub(crate) uncharged: u8,
    pub(crate) replays: u8,
    /// Effects recorded by runs that go on.
    pub(crate) checkpoints: u8,
    /// Follow-up jobs of finished ones.
    pub(crate) follow_ups: u8,
    /// Jobs that a process which works on the queue enqueues from elsewhere.
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
