//! Generations (`migrations/4_generations.sql`, `src/generations.rs`): every job stays where claims look, whoever
//! rotates the generations meanwhile, and whenever that dies.
//!
//! A session is a transaction that enters the young generation and then writes a job there, or counts the jobs
//! of a lane as a claim does; housekeepers, of whom two believe to be the one, condemn, advance, move and close.
//! Statements that read and write under the lock of the one row of `queue.generations` are one action; those whose
//! parts see different moments are several.

use crate::checker::{Model, explore};

#[derive(Clone, Copy, Debug)]
struct Generations {
    limits: Limits,
    without: Option<Mechanism>,
}

/// What keeps the jobs in sight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mechanism {
    /// A writer holds a shared lock on the generation that it entered.
    WritersLock,
    /// A writer reads the sequence again once it has the lock.
    WritersReadAgain,
    /// A generation is condemned before the next one is entered.
    CondemnedFirst,
    /// A generation is closed only when nobody who entered it is still there.
    ClosersLock,
    /// A generation is closed only when no job is seen in it.
    ClosersLook,
    /// A job is moved only if it still is in that generation once it is locked.
    MoversLookAgain,
    /// The sequence is read before the snapshot of the row.
    ReadBefore,
    /// A generation is not left while somebody who entered it is still there.
    MoversAwaitQuiet,
}

/// How often at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Limits {
    sessions: u8,
    rotations: u8,
    /// Housekeepers that die, and attempts to close while a job is still there.
    faults: u8,
}

type Generation = u8;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    /// The sequence.
    young: Generation,
    /// The row of `queue.generations`.
    row: Row,
    /// The generation of the one job, as committed; none before it is enqueued.
    job: Option<Generation>,
    sessions: [Session; 2],
    housekeepers: [Housekeeper; 2],
    left: Limits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Row {
    old: Generation,
    condemned: Option<Generation>,
}

/// A transaction.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Session {
    step: Step,
    /// The generations on which it holds the shared lock.
    locks: Vec<Generation>,
    /// The job was there before this session looked for the live generations, and nobody but movers wrote it since.
    knows_job: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Step {
    Idle,
    /// Has read the sequence.
    Read(Generation),
    /// Has the lock, too.
    Locked(Generation),
    Entered(Generation),
    /// Has written the job, and not yet committed.
    Wrote(Generation),
    /// Looks for the live generations: has read the sequence.
    Looked(Generation),
    /// Has the snapshot of the row, too.
    Snapshot(Generation, Row),
    /// Has read the sequence again, and counts the jobs in these generations.
    Counts(Vec<Generation>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Housekeeper {
    Idle,
    /// Its statement has the snapshot in which the job is in the condemned generation.
    Sees {
        from: Generation,
        to: Generation,
    },
    /// It has the job locked and written, uncommitted.
    Moves {
        to: Generation,
    },
    /// It has the exclusive lock.
    Closes(Generation),
}

#[derive(Clone, Copy, Debug)]
enum Action {
    Begin { session: usize },
    Lock { session: usize },
    Enter { session: usize },
    Write { session: usize },
    Look { session: usize },
    TakeSnapshot { session: usize },
    Count { session: usize },
    Commit { session: usize },
    Rollback { session: usize },
    CondemnYoung,
    CondemnOld,
    Advance,
    SeeJob { housekeeper: usize },
    LockJob { housekeeper: usize },
    CommitMove { housekeeper: usize },
    LockToClose { housekeeper: usize },
    Close { housekeeper: usize },
    Die { housekeeper: usize },
}

impl Model for Generations {
    type State = State;
    type Action = Action;

    fn start(&self) -> State {
        let idle = Session {
            step: Step::Idle,
            locks: Vec::new(),
            knows_job: false,
        };
        State {
            young: 1,
            row: Row {
                old: 0,
                condemned: None,
            },
            job: None,
            sessions: [idle.clone(), idle],
            housekeepers: [Housekeeper::Idle; 2],
            left: self.limits,
        }
    }

    fn actions(&self, state: &State) -> Vec<Action> {
        let mut actions = Vec::new();
        for session in 0..state.sessions.len() {
            Self::of_session(state, session, &mut actions);
        }
        self.of_rotation(state, &mut actions);
        for housekeeper in 0..state.housekeepers.len() {
            self.of_housekeeper(state, housekeeper, &mut actions);
        }
        actions
    }

    fn after(&self, state: &State, action: Action) -> State {
        let mut next = state.clone();
        match action {
            Action::Begin { session } => {
                next.left.sessions -= 1;
                next.sessions[session].step = Step::Read(state.young);
            }
            Action::Lock { session }
            | Action::Enter { session }
            | Action::Look { session }
            | Action::TakeSnapshot { session }
            | Action::Count { session } => self.step(state, &mut next.sessions[session]),
            Action::Write { session } => {
                if let Step::Entered(young) = state.sessions[session].step {
                    next.sessions[session].step = Step::Wrote(young);
                }
            }
            Action::Commit { session } => {
                if let Step::Wrote(young) = state.sessions[session].step {
                    next.job = Some(young);
                    for other in &mut next.sessions {
                        other.knows_job = false;
                    }
                }
                next.sessions[session].end();
            }
            Action::Rollback { session } => next.sessions[session].end(),
            Action::CondemnYoung => {
                next.left.rotations -= 1;
                next.row.condemned = Some(state.young);
            }
            Action::CondemnOld => {
                next.left.rotations -= 1;
                next.row = Row {
                    old: state.young,
                    condemned: Some(state.row.old),
                };
            }
            Action::Advance => next.young += 1,
            Action::Die { housekeeper } => {
                next.left.faults -= 1;
                next.housekeepers[housekeeper] = Housekeeper::Idle;
            }
            Action::SeeJob { housekeeper } => {
                if let Row {
                    old: to,
                    condemned: Some(from),
                } = state.row
                {
                    next.housekeepers[housekeeper] = Housekeeper::Sees { from, to };
                }
            }
            Action::LockJob { housekeeper } => self.lock_job(&mut next, housekeeper),
            Action::CommitMove { housekeeper } => {
                if let Housekeeper::Moves { to } = state.housekeepers[housekeeper] {
                    next.job = Some(to);
                }
                next.housekeepers[housekeeper] = Housekeeper::Idle;
            }
            Action::LockToClose { housekeeper } => {
                if let Some(condemned) = state.row.condemned {
                    // To come too early is counted, because that could go on for ever.
                    next.left.faults -= u8::from(state.job == Some(condemned));
                    next.housekeepers[housekeeper] = Housekeeper::Closes(condemned);
                }
            }
            Action::Close { housekeeper } => self.close(&mut next, housekeeper),
        }
        // All sessions are alike, and so are housekeepers: who stands where says nothing.
        next.sessions.sort_unstable();
        next.housekeepers.sort_unstable();
        next
    }

    fn broken_promise(&self, state: &State) -> Option<&'static str> {
        let job = state.job?;
        let Row { old, condemned } = state.row;
        if job != state.young && job != old && condemned != Some(job) {
            return Some(IN_SIGHT);
        }
        let misses = |session: &Session| match &session.step {
            Step::Counts(live) => session.knows_job && !live.contains(&job),
            _ => false,
        };
        state.sessions.iter().any(misses).then_some(COUNTED)
    }

    fn has_ended(&self, state: &State) -> bool {
        let is_quiet = |session: &Session| session.step == Step::Idle;
        state.sessions.iter().all(is_quiet)
            && state.housekeepers == [Housekeeper::Idle; 2]
            && state.row.condemned.is_none()
            && !state.is_halfway()
    }
}

const IN_SIGHT: &str = "every job is in a generation that claims look into";
const COUNTED: &str = "a claim counts every job that was there when it began to look";

impl Generations {
    fn has(self, mechanism: Mechanism) -> bool {
        self.without != Some(mechanism)
    }

    fn of_session(state: &State, session: usize, actions: &mut Vec<Action>) {
        match state.sessions[session].step {
            Step::Idle if state.left.sessions > 0 => actions.push(Action::Begin { session }),
            Step::Idle => {}
            // Waits for whoever closes it.
            Step::Read(young) if state.is_being_closed(young) => {}
            Step::Read(_) => actions.push(Action::Lock { session }),
            Step::Locked(_) => actions.push(Action::Enter { session }),
            Step::Entered(_) => {
                if state.job.is_some() {
                    actions.push(Action::Look { session });
                }
                if !state.is_job_locked() {
                    actions.push(Action::Write { session });
                }
            }
            Step::Looked(_) => actions.push(Action::TakeSnapshot { session }),
            Step::Snapshot(..) => actions.push(Action::Count { session }),
            Step::Wrote(_) => {
                actions.extend([Action::Commit { session }, Action::Rollback { session }]);
            }
            Step::Counts(_) => actions.push(Action::Commit { session }),
        }
    }

    fn of_rotation(self, state: &State, actions: &mut Vec<Action>) {
        let may_begin =
            state.row.condemned.is_none() && !state.is_halfway() && state.left.rotations > 0;
        if may_begin {
            actions.extend([Action::CondemnYoung, Action::CondemnOld]);
        }
        if state.is_halfway() || may_begin && !self.has(Mechanism::CondemnedFirst) {
            actions.push(Action::Advance);
        }
    }

    fn of_housekeeper(self, state: &State, housekeeper: usize, actions: &mut Vec<Action>) {
        let may_fail = state.left.faults > 0;
        match state.housekeepers[housekeeper] {
            Housekeeper::Idle => {
                let Some(condemned) = state.row.condemned.filter(|_| !state.is_halfway()) else {
                    return;
                };
                let is_there = state.job == Some(condemned);
                let is_quiet = !state.is_entered(condemned) && !state.is_being_closed(condemned);
                if is_there
                    && !state.is_job_locked()
                    && (is_quiet || !self.has(Mechanism::MoversAwaitQuiet))
                {
                    actions.push(Action::SeeJob { housekeeper });
                }
                if (is_quiet || !self.has(Mechanism::ClosersLock)) && (!is_there || may_fail) {
                    actions.push(Action::LockToClose { housekeeper });
                }
                return;
            }
            Housekeeper::Sees { .. } => {
                if !state.is_job_locked() || self.has(Mechanism::MoversLookAgain) {
                    actions.push(Action::LockJob { housekeeper });
                }
            }
            Housekeeper::Moves { .. } => actions.push(Action::CommitMove { housekeeper }),
            Housekeeper::Closes(_) => actions.push(Action::Close { housekeeper }),
        }
        if may_fail {
            actions.push(Action::Die { housekeeper });
        }
    }

    /// A session's next step on its way to enter, or to count.
    fn step(self, state: &State, session: &mut Session) {
        session.step = match session.step.clone() {
            Step::Read(young) => {
                if self.has(Mechanism::WritersLock) {
                    session.locks.push(young);
                }
                Step::Locked(young)
            }
            Step::Locked(young) => {
                if young == state.young || !self.has(Mechanism::WritersReadAgain) {
                    Step::Entered(young)
                } else {
                    Step::Read(state.young)
                }
            }
            Step::Entered(_) => {
                session.knows_job = true;
                Step::Looked(state.young)
            }
            Step::Looked(before) => Step::Snapshot(before, state.row),
            Step::Snapshot(before, Row { old, condemned }) => {
                let before = self.has(Mechanism::ReadBefore).then_some(before);
                let live = [before, Some(old), condemned, Some(state.young)];
                let mut live: Vec<Generation> = live.into_iter().flatten().collect();
                live.sort_unstable();
                live.dedup();
                Step::Counts(live)
            }
            step @ (Step::Idle | Step::Wrote(_) | Step::Counts(_)) => step,
        };
    }

    /// Moves the job, if it is still there.
    fn lock_job(self, next: &mut State, housekeeper: usize) {
        if let Housekeeper::Sees { from, to } = next.housekeepers[housekeeper] {
            let is_there = next.job == Some(from) && !next.is_job_locked();
            next.housekeepers[housekeeper] = if is_there || !self.has(Mechanism::MoversLookAgain) {
                Housekeeper::Moves { to }
            } else {
                Housekeeper::Idle
            };
        }
    }

    /// Closes the generation, unless somebody is seen in it.
    fn close(self, next: &mut State, housekeeper: usize) {
        if let Housekeeper::Closes(condemned) = next.housekeepers[housekeeper] {
            let is_empty = next.job != Some(condemned) || !self.has(Mechanism::ClosersLook);
            if next.row.condemned == Some(condemned) && is_empty {
                next.row.condemned = None;
            }
            next.housekeepers[housekeeper] = Housekeeper::Idle;
        }
    }
}

impl Session {
    fn end(&mut self) {
        *self = Self {
            step: Step::Idle,
            locks: Vec::new(),
            knows_job: false,
        };
    }
}

impl State {
    /// Whether a generation is condemned, and the next one not yet entered.
    fn is_halfway(&self) -> bool {
        self.row.condemned == Some(self.young) || self.row.old == self.young
    }

    fn is_entered(&self, generation: Generation) -> bool {
        let mut sessions = self.sessions.iter();
        sessions.any(|session| session.locks.contains(&generation))
    }

    fn is_being_closed(&self, generation: Generation) -> bool {
        self.housekeepers.contains(&Housekeeper::Closes(generation))
    }

    fn is_job_locked(&self) -> bool {
        let is_moved = |keeper: &Housekeeper| matches!(keeper, Housekeeper::Moves { .. });
        let is_written = |session: &Session| matches!(session.step, Step::Wrote(_));
        self.housekeepers.iter().any(is_moved) || self.sessions.iter().any(is_written)
    }
}

const TWO_ROTATIONS: Generations = Generations {
    limits: Limits {
        sessions: 3,
        rotations: 2,
        faults: 1,
    },
    without: None,
};

#[test]
fn every_job_stays_in_sight() {
    let states = explore(&TWO_ROTATIONS).unwrap_or_else(|found| panic!("{found:?}"));
    assert_eq!(states, 180_129);
}

/// The promise that is broken first without a mechanism.
#[track_caller]
fn broken(mechanism: Mechanism) -> &'static str {
    let crippled = Generations {
        without: Some(mechanism),
        ..TWO_ROTATIONS
    };
    match explore(&crippled) {
        Ok(states) => panic!("{states} states, and {mechanism:?} is never missed"),
        Err(found) => found.promise,
    }
}

#[test]
fn without_the_writers_lock_a_job_appears_where_no_claim_looks() {
    assert_eq!(broken(Mechanism::WritersLock), IN_SIGHT);
}

#[test]
fn without_the_writers_second_look_a_job_appears_where_no_claim_looks() {
    assert_eq!(broken(Mechanism::WritersReadAgain), IN_SIGHT);
}

#[test]
fn without_condemning_first_a_job_drops_out_of_sight() {
    assert_eq!(broken(Mechanism::CondemnedFirst), IN_SIGHT);
}

#[test]
fn without_the_closers_lock_a_job_appears_where_no_claim_looks() {
    assert_eq!(broken(Mechanism::ClosersLock), IN_SIGHT);
}

#[test]
fn without_the_closers_look_a_job_is_left_behind() {
    assert_eq!(broken(Mechanism::ClosersLook), IN_SIGHT);
}

#[test]
fn without_the_movers_second_look_a_job_is_moved_to_where_no_claim_looks() {
    assert_eq!(broken(Mechanism::MoversLookAgain), IN_SIGHT);
}

#[test]
fn without_reading_the_sequence_first_a_claim_overlooks_a_job() {
    assert_eq!(broken(Mechanism::ReadBefore), COUNTED);
}

/// Twice while one claim looks, the old generation is left: then what it counts has moved on where it does not look.
#[test]
fn without_waiting_for_who_entered_a_claim_overlooks_a_job_that_moves_twice() {
    assert_eq!(broken(Mechanism::MoversAwaitQuiet), COUNTED);
}
