//! What can happen next.

use crate::generations::{
    Action, Generation, Generations, Housekeeper, Mechanism, Session, State, Step,
};

impl Generations {
    pub(crate) fn actions(self, state: &State) -> Vec<Action> {
        let mut actions = Vec::new();
        for session in 0..state.sessions.len() {
            Self::of_session(state, session, &mut actions);
        }
        self.of_row(state, &mut actions);
        for housekeeper in 0..state.housekeepers.len() {
            self.of_housekeeper(state, housekeeper, &mut actions);
        }
        actions
    }

    fn of_session(state: &State, session: usize, actions: &mut Vec<Action>) {
        let Session { step, is_claim, .. } = &state.sessions[session];
        match step {
            Step::Idle if state.left.sessions == 0 => {}
            Step::Idle => {
                for is_claim in [false, true] {
                    actions.push(Action::Begin { session, is_claim });
                }
            }
            // It waits for the process that closes the generation.
            Step::Read(young) if state.is_being_closed(*young) => {}
            Step::Read(_) => actions.push(Action::Lock { session }),
            Step::Locked(_) => actions.push(Action::Enter { session }),
            Step::Entered if *is_claim => actions.push(Action::Look { session }),
            Step::Entered if state.is_job_locked() => {}
            Step::Entered => actions.push(Action::Write { session }),
            Step::Looked(_) => actions.push(Action::TakeSnapshot { session }),
            Step::Snapshot(_) => actions.push(Action::Count { session }),
            Step::Counts(live) => {
                let is_found = !state.job.is_running && live.contains(&state.job.generation);
                if is_found && !state.is_job_locked() {
                    actions.push(Action::Write { session });
                }
                actions.push(Action::Commit { session });
            }
            Step::Wrote(_) => {
                actions.extend([Action::Commit { session }, Action::Rollback { session }]);
            }
        }
    }

    /// The steps of a rotation that are one statement each, under the row's lock.
    fn of_row(self, state: &State, actions: &mut Vec<Action>) {
        if self.is_row_locked(state) {
            return;
        }
        if state.is_halfway() {
            actions.push(Action::Advance);
        } else if let Some(condemned) = state.row.condemned {
            let is_there = state.is_job_in(condemned) && self.has(Mechanism::HoldersLook);
            if state.left.faults > 0
                && state.is_entered(condemned)
                && !is_there
                && !self.must_await_claims(state)
            {
                actions.push(Action::Hold);
            }
        } else if state.left.rotations > 0 {
            actions.extend([Action::CondemnYoung, Action::CondemnOld]);
            if !self.has(Mechanism::CondemnedFirst) {
                actions.push(Action::Advance);
            }
        }
    }

    fn of_housekeeper(self, state: &State, housekeeper: usize, actions: &mut Vec<Action>) {
        let may_fail = state.left.faults > 0;
        match state.housekeepers[housekeeper] {
            Housekeeper::Idle => {
                for from in state.left_generations() {
                    self.of_generation(state, housekeeper, from, actions);
                }
                return;
            }
            Housekeeper::Sees { .. } => actions.push(Action::LockJob { housekeeper }),
            Housekeeper::Moves { .. } => actions.push(Action::CommitMove { housekeeper }),
            Housekeeper::Closes(_) if self.is_row_locked(state) => {}
            Housekeeper::Closes(_) => actions.push(Action::Close { housekeeper }),
        }
        if may_fail {
            actions.push(Action::Die { housekeeper });
        }
    }

    /// What a housekeeper may begin with a generation that is being left.
    fn of_generation(
        self,
        state: &State,
        housekeeper: usize,
        from: Generation,
        actions: &mut Vec<Action>,
    ) {
        let is_there = state.is_job_in(from);
        if is_there && !state.is_job_locked() && !self.is_row_locked(state) {
            actions.push(Action::SeeJob { housekeeper, from });
        }
        let is_quiet = !state.is_entered(from) && !state.is_being_closed(from);
        let is_last = state.row.condemned == Some(from);
        if (is_quiet || !self.has(Mechanism::ClosersLock))
            && !(is_last && self.must_await_claims(state))
            && (!is_there || state.left.faults > 0)
        {
            actions.push(Action::LockToClose {
                housekeeper,
                generation: from,
            });
        }
    }

    /// Whether somebody who moves jobs has locked the row of `queue.generations`.
    fn is_row_locked(self, state: &State) -> bool {
        let is_idle = |keeper: &Housekeeper| match keeper {
            Housekeeper::Idle | Housekeeper::Closes(_) => true,
            Housekeeper::Sees { .. } | Housekeeper::Moves { .. } => false,
        };
        self.has(Mechanism::MoversLock) && !state.housekeepers.iter().all(is_idle)
    }

    /// Whether a claim is under way that began before the rotation. It looks into the generation
    /// that the rotation leaves.
    fn must_await_claims(self, state: &State) -> bool {
        let mut claims = state.sessions.iter().filter(|session| session.is_claim);
        self.has(Mechanism::ClaimsAreAwaited)
            && claims.any(|claim| claim.locks.contains(&(state.young - 1)))
    }
}
