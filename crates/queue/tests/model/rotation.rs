//! The rotation of generations as a state machine (`migrations/6_generations.sql`,
//! `src/generations.rs`).
//!
//! A session is a transaction that enters the young generation. A writer then puts the job there,
//! due. A claim looks up the live generations, counts what runs in them, and puts the job into the
//! young one, running. Two housekeepers both believe that they are elected; they condemn, advance,
//! move, hold and close. A statement whose parts all see the same moment is one action; any other
//! statement is several. One job is enough, because jobs do not affect each other here.

mod transitions;

use crate::generations::{
    Action, Generations, Housekeeper, Job, Mechanism, Row, Session, State, Step,
};

impl Generations {
    pub(crate) fn start(self) -> State {
        State {
            young: 1,
            row: Row {
                old: 0,
                condemned: None,
                held: Vec::new(),
            },
            job: Job {
                generation: 1,
                is_running: false,
            },
            sessions: Default::default(),
            housekeepers: [Housekeeper::Idle; 2],
            left: self.limits,
        }
    }

    fn has(self, mechanism: Mechanism) -> bool {
        self.without != Some(mechanism)
    }
}

/// The state after an action.
impl Generations {
    pub(crate) fn after(self, state: &State, action: Action) -> State {
        let mut next = state.clone();
        match action {
            Action::Begin { session, is_claim } => {
                next.left.sessions -= 1;
                next.sessions[session].is_claim = is_claim;
                next.sessions[session].step = Step::Read(state.young);
            }
            Action::Lock { session }
            | Action::Enter { session }
            | Action::Look { session }
            | Action::TakeSnapshot { session }
            | Action::Count { session }
            | Action::Write { session } => self.step(state, &mut next.sessions[session]),
            Action::Commit { session } => {
                if let Step::Wrote(job) = state.sessions[session].step {
                    next.job = job;
                    for other in &mut next.sessions {
                        other.knows_job = false;
                    }
                }
                next.sessions[session] = Session::default();
            }
            Action::Rollback { session } => next.sessions[session] = Session::default(),
            Action::CondemnYoung => {
                next.left.rotations -= 1;
                next.row.condemned = Some(state.young);
            }
            Action::CondemnOld => {
                next.left.rotations -= 1;
                next.row.condemned = Some(state.row.old);
                next.row.old = state.young;
            }
            Action::Advance => next.young += 1,
            Action::Hold => {
                next.left.faults -= 1;
                next.row.held.extend(next.row.condemned.take());
            }
            Action::SeeJob { housekeeper, from } => {
                let to = state.row.old;
                next.housekeepers[housekeeper] = Housekeeper::Sees { from, to };
            }
            Action::LockJob { housekeeper } => lock_job(&mut next, housekeeper),
            Action::CommitMove { housekeeper } => {
                if let Housekeeper::Moves { to } = state.housekeepers[housekeeper] {
                    next.job.generation = to;
                }
                next.housekeepers[housekeeper] = Housekeeper::Idle;
            }
            Action::LockToClose {
                housekeeper,
                generation,
            } => {
                // Coming too early is limited, because it could go on for ever.
                next.left.faults -= u8::from(state.is_job_in(generation));
                next.housekeepers[housekeeper] = Housekeeper::Closes(generation);
            }
            Action::Close { housekeeper } => self.close(&mut next, housekeeper),
            Action::Die { housekeeper } => {
                next.left.faults -= 1;
                next.housekeepers[housekeeper] = Housekeeper::Idle;
            }
        }
        // All are alike, so their order does not matter: busy ones come first.
        next.sessions.sort_unstable_by(|one, other| other.cmp(one));
        next.housekeepers
            .sort_unstable_by(|one, other| other.cmp(one));
        next
    }

    /// A session's next step.
    fn step(self, state: &State, session: &mut Session) {
        session.step = match &session.step {
            Step::Read(young) => {
                if self.has(Mechanism::WritersLock) {
                    session.locks.push(*young);
                }
                Step::Locked(*young)
            }
            Step::Locked(young)
                if *young != state.young && self.has(Mechanism::WritersReadAgain) =>
            {
                Step::Read(state.young)
            }
            Step::Locked(young) => {
                session.entered = *young;
                Step::Entered
            }
            Step::Entered if session.is_claim => {
                session.knows_job = state.is_live(state.job.generation);
                Step::Looked(state.young)
            }
            Step::Looked(young) => {
                let young = self.has(Mechanism::ClaimsReadFirst).then_some(*young);
                let live = [young, Some(state.row.old), state.row.condemned];
                Step::Snapshot(live.into_iter().flatten().collect())
            }
            Step::Snapshot(live) => {
                let mut live = live.clone();
                live.push(state.young);
                live.sort_unstable();
                live.dedup();
                Step::Counts(live)
            }
            Step::Entered | Step::Counts(_) => Step::Wrote(Job {
                generation: session.entered,
                is_running: session.is_claim,
            }),
            Step::Idle | Step::Wrote(_) => unreachable!("it has no next step"),
        };
    }

    /// Forgets a generation, unless the job is seen in it.
    fn close(self, next: &mut State, housekeeper: usize) {
        if let Housekeeper::Closes(generation) = next.housekeepers[housekeeper]
            && (!next.is_job_in(generation) || !self.has(Mechanism::ClosersLook))
        {
            let row = &mut next.row;
            row.condemned = row.condemned.filter(|&condemned| condemned != generation);
            row.held.retain(|&held| held != generation);
        }
        next.housekeepers[housekeeper] = Housekeeper::Idle;
    }
}

/// Moves the job, if it is still where it was seen and nobody else has locked it.
fn lock_job(next: &mut State, housekeeper: usize) {
    if let Housekeeper::Sees { from, to } = next.housekeepers[housekeeper] {
        let is_there = next.is_job_in(from) && !next.is_job_locked();
        next.housekeepers[housekeeper] = if is_there {
            Housekeeper::Moves { to }
        } else {
            Housekeeper::Idle
        };
    }
}
