//! An exhaustive model checker. It visits every state that a model can reach, the nearest first, so
//! that an error comes with the shortest schedule that leads to it.
//!
//! States are compared in full, not by a hash. No assumption of fairness is needed to show that
//! everything ends well: a state ends well if it has ended, or if it has successors and all of them
//! end well. Every reachable state must end well, which excludes both getting stuck and going round
//! for ever.

use std::{fmt, hash::Hash, iter};

use indexmap::IndexSet;

/// A system as a graph of states, given by its first state and its steps.
pub(crate) trait Model {
    type State: Clone + Eq + Hash + fmt::Debug;
    type Action: Copy + fmt::Debug;

    fn start(&self) -> Self::State;

    /// What can happen next.
    fn actions(&self, state: &Self::State) -> Vec<Self::Action>;

    /// The state after an action.
    fn after(&self, state: &Self::State, action: Self::Action) -> Self::State;

    /// The first promise that the state breaks.
    fn broken_promise(&self, state: &Self::State) -> Option<&'static str>;

    /// Whether all work is done.
    fn has_ended(&self, state: &Self::State) -> bool;
}

/// A schedule that breaks a promise at its end.
pub(crate) struct Counterexample<M: Model> {
    pub(crate) promise: &'static str,
    pub(crate) schedule: Vec<M::Action>,
    pub(crate) state: M::State,
}

impl<M: Model> fmt::Debug for Counterexample<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "broken promise: {}", self.promise)?;
        for (number, action) in iter::zip(1.., &self.schedule) {
            writeln!(f, "{number:4}. {action:?}")?;
        }
        write!(f, "{:#?}", self.state)
    }
}

/// The promise that is broken by a state that may never end.
pub(crate) const ALL_ENDS: &str = "everything comes to its end";

/// Visits all reachable states and returns how many there are, or the shortest way to a broken
/// promise.
pub(crate) fn explore<M: Model>(model: &M) -> Result<usize, Counterexample<M>> {
    // In the order of discovery: the set is also the queue of the search.
    let mut states = IndexSet::from([model.start()]);
    let mut origins = vec![None];
    let mut predecessors: Vec<Vec<usize>> = vec![Vec::new()];
    let mut unsettled = Vec::new();

    let mut current = 0;
    while let Some(state) = states.get_index(current).cloned() {
        if let Some(promise) = model.broken_promise(&state) {
            return Err(counterexample(promise, current, state, &origins));
        }
        let actions = model.actions(&state);
        unsettled.push(actions.len());
        for action in actions {
            let (successor, is_new) = states.insert_full(model.after(&state, action));
            if is_new {
                origins.push(Some((current, action)));
                predecessors.push(Vec::new());
            }
            predecessors[successor].push(current);
        }
        current += 1;
    }

    // Backwards from the ends: a state counts as ending well when the last of its successors does.
    let mut ends_well: Vec<bool> = states.iter().map(|state| model.has_ended(state)).collect();
    let mut settled: Vec<usize> = (0..states.len()).filter(|&at| ends_well[at]).collect();
    while let Some(successor) = settled.pop() {
        for &state in &predecessors[successor] {
            unsettled[state] -= 1;
            if unsettled[state] == 0 && !ends_well[state] {
                ends_well[state] = true;
                settled.push(state);
            }
        }
    }
    // Among the states that do not end well, a stuck one explains more than one on the way to it.
    let lost = (0..states.len()).filter(|&at| !ends_well[at]);
    match lost.min_by_key(|&at| unsettled[at]) {
        None => Ok(states.len()),
        Some(at) => Err(counterexample(ALL_ENDS, at, states[at].clone(), &origins)),
    }
}

fn counterexample<M: Model>(
    promise: &'static str,
    mut at: usize,
    state: M::State,
    origins: &[Option<(usize, M::Action)>],
) -> Counterexample<M> {
    let mut schedule = Vec::new();
    while let Some((before, action)) = origins[at] {
        schedule.push(action);
        at = before;
    }
    schedule.reverse();
    Counterexample {
        promise,
        schedule,
        state,
    }
}
