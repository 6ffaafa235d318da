//! The vocabulary of generations: what the sequence, the tables and the locks hold, and what can
//! happen to them.

#[derive(Clone, Copy, Debug)]
pub(crate) struct Generations {
    pub(crate) limits: Limits,
    /// The mechanism that is removed, to see what it is for.
    pub(crate) without: Option<Mechanism>,
}

/// The mechanisms that keep the promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mechanism {
    /// A transaction that enters a generation holds a shared lock on it.
    WritersLock,
    /// After it gets that lock, it reads the sequence again.
    WritersReadAgain,
    /// A generation is condemned before the next one is entered.
    CondemnedFirst,
    /// A generation is closed only when nobody who entered it is still there.
    ClosersLock,
    /// A generation is closed only when no job is seen in it.
    ClosersLook,
    /// A condemned generation becomes a held one only when no job is seen in it.
    HoldersLook,
    /// A housekeeper that moves jobs has the row of `queue.generations` locked, so that the old
    /// generation cannot change.
    MoversLock,
    /// Claims read the sequence before the snapshot of the row.
    ClaimsReadFirst,
    /// A rotation ends only when the claims that began before it have ended.
    ClaimsAreAwaited,
}

/// The highest numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Limits {
    pub(crate) sessions: u8,
    pub(crate) rotations: u8,
    /// Housekeepers that die, transactions that take longer than the patience, and attempts to
    /// close while a job is still there.
    pub(crate) faults: u8,
}

pub(crate) type Generation = u8;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    /// The sequence.
    pub(crate) young: Generation,
    /// The row of `queue.generations`.
    pub(crate) row: Row,
    /// As committed.
    pub(crate) job: Job,
    pub(crate) sessions: [Session; 2],
    pub(crate) housekeepers: [Housekeeper; 2],
    pub(crate) left: Limits,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Row {
    pub(crate) old: Generation,
    pub(crate) condemned: Option<Generation>,
    pub(crate) held: Vec<Generation>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Job {
    pub(crate) generation: Generation,
    pub(crate) is_running: bool,
}

/// A transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Session {
    pub(crate) step: Step,
    pub(crate) is_claim: bool,
    /// The generations on which it holds the shared lock.
    pub(crate) locks: Vec<Generation>,
    pub(crate) entered: Generation,
    /// The job was visible when this session began to look, and has at most moved since then.
    pub(crate) knows_job: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Step {
    #[default]
    Idle,
    /// Has read the sequence.
    Read(Generation),
    /// Has the lock, too.
    Locked(Generation),
    Entered,
    /// Looks up the live generations: has read the sequence.
    Looked(Generation),
    /// Has a snapshot of the row, too.
    Snapshot(Vec<Generation>),
    /// Has read the sequence again; counts in these generations.
    Counts(Vec<Generation>),
    /// Has locked and written the job, and not committed.
    Wrote(Job),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Housekeeper {
    Idle,
    /// Has seen the job in a generation that is being left, and knows its new generation.
    Sees {
        from: Generation,
        to: Generation,
    },
    /// Has locked and written the job, and not committed.
    Moves {
        to: Generation,
    },
    /// Has the exclusive lock on a generation.
    Closes(Generation),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    Begin {
        session: usize,
        is_claim: bool,
    },
    Lock {
        session: usize,
    },
    Enter {
        session: usize,
    },
    Look {
        session: usize,
    },
    TakeSnapshot {
        session: usize,
    },
    Count {
        session: usize,
    },
    Write {
        session: usize,
    },
    Commit {
        session: usize,
    },
    Rollback {
        session: usize,
    },
    CondemnYoung,
    CondemnOld,
    Advance,
    Hold,
    SeeJob {
        housekeeper: usize,
        from: Generation,
    },
    LockJob {
        housekeeper: usize,
    },
    CommitMove {
        housekeeper: usize,
    },
    LockToClose {
        housekeeper: usize,
        generation: Generation,
    },
    Close {
        housekeeper: usize,
    },
    Die {
        housekeeper: usize,
    },
}

impl State {
    /// Whether claims that begin now look into this generation.
    pub(crate) fn is_live(&self, generation: Generation) -> bool {
        let Row { old, condemned, .. } = self.row;
        [Some(self.young), Some(old), condemned].contains(&Some(generation))
    }

    /// Whether a rotation has begun, and the next generation is not yet entered.
    pub(crate) fn is_halfway(&self) -> bool {
        self.row.condemned == Some(self.young) || self.row.old == self.young
    }

    /// The condemned generation, and the held ones.
    pub(crate) fn left_generations(&self) -> Vec<Generation> {
        let condemned = self.row.condemned.filter(|_| !self.is_halfway());
        condemned
            .into_iter()
            .chain(self.row.held.iter().copied())
            .collect()
    }

    pub(crate) fn is_job_in(&self, generation: Generation) -> bool {
        self.job.generation == generation
    }

    pub(crate) fn is_entered(&self, generation: Generation) -> bool {
        let mut sessions = self.sessions.iter();
        sessions.any(|session| session.locks.contains(&generation))
    }

    pub(crate) fn is_being_closed(&self, generation: Generation) -> bool {
        self.housekeepers.contains(&Housekeeper::Closes(generation))
    }

    pub(crate) fn is_job_locked(&self) -> bool {
        let is_moved = |keeper: &Housekeeper| matches!(keeper, Housekeeper::Moves { .. });
        let is_written = |session: &Session| matches!(session.step, Step::Wrote(_));
        self.housekeepers.iter().any(is_moved) || self.sessions.iter().any(is_written)
    }
}
