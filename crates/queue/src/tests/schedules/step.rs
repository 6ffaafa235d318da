//! One step of a schedule, in the database and in the model.

use std::mem::{Discriminant, discriminant};

use super::{
    action::Action,
    actual::Actual,
    configuration::Protocol,
    state::{Hand, State},
};

/// The next step: one action, or a statement that takes whatever it finds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Act(Action),
    Claim {
        worker: usize,
    },
    Rescue,
    MoveDoomed,
    /// A worker sleeps beyond its lease, and comes back after its jobs were taken.
    Stall {
        worker: usize,
    },
}

impl Step {
    pub(super) fn kind(&self) -> (Discriminant<Self>, Option<Discriminant<Action>>) {
        let action = match self {
            Self::Act(action) => Some(discriminant(action)),
            Self::Claim { .. } | Self::Rescue | Self::MoveDoomed | Self::Stall { .. } => None,
        };
        (discriminant(self), action)
    }

    pub(super) fn parts(self) -> Vec<Self> {
        match self {
            Self::Stall { worker } => vec![
                Self::Act(Action::LeaseEnds { worker }),
                Self::Rescue,
                Self::Act(Action::Heartbeat { worker }),
            ],
            Self::Act(_) | Self::Claim { .. } | Self::Rescue | Self::MoveDoomed => vec![self],
        }
    }
}

/// All possible steps, including those that will find nothing to do.
pub(super) fn steps(protocol: Protocol, state: &State) -> Vec<Step> {
    let mut steps = vec![Step::Rescue, Step::MoveDoomed];
    for (worker, now) in state.workers.iter().enumerate() {
        if now.is_alive && now.has_lease {
            steps.push(Step::Claim { worker });
            if state.left.faults > 0 {
                steps.push(Step::Stall { worker });
            }
        }
    }
    let actions = protocol.actions(state).into_iter();
    steps.extend(actions.filter_map(|action| match action {
        Action::Claim { .. } | Action::Rescue { .. } | Action::MoveDoomed { .. } => None,
        _ => Some(Step::Act(action)),
    }));
    steps
}

/// Takes a step in the database, and the same in the model.
pub(super) async fn take(
    actual: &mut Actual,
    protocol: Protocol,
    state: &State,
    step: Step,
) -> Result<State, String> {
    let possible = protocol.actions(state);
    let all = |wanted: fn(&Action) -> bool| {
        let chosen = possible.iter().copied().filter(wanted);
        chosen.fold(state.clone(), |state, action| {
            protocol.after(&state, action)
        })
    };
    Ok(match step {
        Step::Act(action) => {
            actual.act(protocol, state, action).await?;
            protocol.after(state, action)
        }
        Step::Stall { .. } => unreachable!("it is taken in parts"),
        Step::Rescue => {
            actual.rescue().await;
            all(|action| matches!(action, Action::Rescue { .. }))
        }
        Step::MoveDoomed => {
            actual.move_doomed().await;
            all(|action| matches!(action, Action::MoveDoomed { .. }))
        }
        Step::Claim { worker } => {
            let claimed = actual.claim(worker, protocol.cap).await;
            let may_claim = |job: usize| possible.contains(&Action::Claim { worker, job });
            match claimed {
                Some(Hand { job, .. }) if may_claim(job) => {
                    protocol.after(state, Action::Claim { worker, job })
                }
                None if !(0..state.jobs.len()).any(may_claim) => state.clone(),
                _ => return Err(format!("{claimed:?} is not what may be claimed")),
            }
        }
    })
}
