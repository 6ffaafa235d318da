//! The arithmetic of the HPA, which KEDA configures: from a ratio of a metric to its target to a
//! number of workers.
//!
//! See <https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/#algorithm-details>.

#[cfg(test)]
mod tests;

use std::{collections::VecDeque, time::Duration};

/// A ratio this close to 1 changes nothing.
const TOLERANCE: f64 = 0.1;

/// The bounds of an autoscaler.
#[derive(Clone, Copy, Debug)]
pub(super) struct Policy {
    pub(super) least: usize,
    pub(super) most: usize,
    /// Before workers are stopped, the highest recommendation of this time counts.
    pub(super) window: Duration,
    /// At most so many workers are started within this time.
    pub(super) up: (usize, Duration),
    /// At most so many workers are stopped within this time.
    pub(super) down: (usize, Duration),
}

/// Decides how many workers there should be. Times count from the start of a scene.
#[derive(Debug)]
pub(super) struct Autoscaler {
    policy: Policy,
    recommended: VecDeque<(Duration, usize)>,
    changes: Vec<Change>,
}

/// A change of the number of workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) at: Duration,
    pub(super) from: usize,
    pub(super) to: usize,
}

impl Change {
    pub(super) const fn is_up(self) -> bool {
        self.to > self.from
    }
}

impl Autoscaler {
    pub(super) const fn new(policy: Policy) -> Self {
        Self {
            policy,
            recommended: VecDeque::new(),
            changes: Vec::new(),
        }
    }

    /// How many workers there should be, if there are `current` ones. A ratio is a metric divided by
    /// its target; the metric that wants the most workers counts.
    pub(super) fn decide(&mut self, at: Duration, current: usize, ratios: &[f64]) -> usize {
        let Policy {
            least,
            most,
            window,
            ..
        } = self.policy;
        let wanted = ratios.iter().map(|ratio| desired(current, *ratio)).max();
        let wanted = wanted.unwrap_or(current).clamp(least, most);
        self.recommended.push_back((at, wanted));
        while self
            .recommended
            .front()
            .is_some_and(|(then, _)| *then + window < at)
        {
            self.recommended.pop_front();
        }
        let highest = self.recommended.iter().map(|(_, count)| *count).max();
        // The highest recommendation can stop a decrease. It causes no increase by itself.
        let stable = wanted.max(highest.unwrap_or(wanted).min(current));
        let allowed = stable.clamp(
            current.saturating_sub(self.left(at, self.policy.down, |change| !change.is_up())),
            current + self.left(at, self.policy.up, Change::is_up),
        );
        if allowed != current {
            self.changes.push(Change {
                at,
                from: current,
                to: allowed,
            });
        }
        allowed
    }

    /// How many more may change in one direction.
    fn left(
        &self,
        at: Duration,
        (count, period): (usize, Duration),
        is_of: impl Fn(Change) -> bool,
    ) -> usize {
        let recent = self.changes.iter().filter(|change| change.at + period > at);
        let used: usize = recent
            .filter(|change| is_of(**change))
            .map(|change| change.from.abs_diff(change.to))
            .sum();
        count.saturating_sub(used)
    }

    pub(super) fn into_changes(self) -> Vec<Change> {
        self.changes
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "there are few workers, and ratios are not negative"
)]
fn desired(current: usize, ratio: f64) -> usize {
    if (ratio - 1.0).abs() <= TOLERANCE {
        return current;
    }
    (current as f64 * ratio).ceil() as usize
}

/// How often the direction changed. A load that rises once and falls once changes it once.
pub(super) fn turns(changes: &[Change]) -> usize {
    let pairs = changes.windows(2);
    pairs
        .filter(|pair| pair[0].is_up() != pair[1].is_up())
        .count()
}
