//! What a group may cost: memory and time, counted rule by rule while the group is compiled.

mod refusal;

use std::collections::HashMap;
use std::time::Duration;

/// What a state of a keyword machine costs in bytes while the machine is built: three times what it
/// takes afterwards. Measured.
const BYTES_PER_STATE: usize = 36;

/// The limits of one group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Memory of the compiled group, in bytes, including what its searches keep.
    pub bytes: usize,
    /// Time to compile it, by the caller's clock.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 64 << 20,
            time: Duration::from_secs(2),
        }
    }
}

/// The group costs more than it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    /// It needs more than this many bytes.
    MoreThan(usize),
    /// It needs this many bytes.
    Bytes(usize),
    /// Compiling it takes too long.
    Time,
}

/// Counts what a group costs while it is compiled.
pub(super) struct Meter<'a> {
    limits: Limits,
    clock: &'a dyn Fn() -> Duration,
    begun: Duration,
    spent: usize,
    by_rule: HashMap<usize, usize>,
}

impl<'a> Meter<'a> {
    pub(super) fn new(limits: Limits, clock: &'a dyn Fn() -> Duration) -> Self {
        Self {
            limits,
            clock,
            begun: clock(),
            spent: 0,
            by_rule: HashMap::new(),
        }
    }

    /// The whole budget, in bytes.
    pub(super) const fn limit(&self) -> usize {
        self.limits.bytes
    }

    /// How many bytes are left.
    pub(super) const fn left(&self) -> usize {
        self.limits.bytes.saturating_sub(self.spent)
    }

    /// Call this before each piece of work.
    pub(super) fn check_time(&self) -> Result<(), Over> {
        if (self.clock)().saturating_sub(self.begun) > self.limits.time {
            return Err(Over::Time);
        }
        Ok(())
    }

    /// Counts the bytes of a rule, which is identified by its place in the group.
    pub(super) fn charge(&mut self, rule: usize, bytes: usize) -> Result<(), Over> {
        *self.by_rule.entry(rule).or_default() += bytes;
        self.spent = self.spent.saturating_add(bytes);
        if self.spent > self.limits.bytes {
            return Err(self.full());
        }
        Ok(())
    }

    /// Counts bytes that several rules cause together, divided by their weights.
    pub(super) fn divide(&mut self, bytes: usize, rules: &[(usize, usize)]) -> Result<(), Over> {
        let weights: usize = rules.iter().map(|(_, weight)| weight).sum();
        for (rule, weight) in rules {
            let part = bytes as u128 * *weight as u128 / weights.max(1) as u128;
            let part = usize::try_from(part).unwrap_or(usize::MAX);
            let counted = self.by_rule.entry(*rule).or_default();
            *counted = counted.saturating_add(part);
        }
        self.spent = self.spent.saturating_add(bytes);
        if self.spent > self.limits.bytes {
            return Err(self.full());
        }
        Ok(())
    }

    /// Refuses a keyword machine with so many states that building it would take too much memory.
    pub(super) fn check_states(
        &mut self,
        states: usize,
        rules: &[(usize, usize)],
    ) -> Result<(), Over> {
        self.check_time()?;
        let bytes = states.saturating_mul(BYTES_PER_STATE);
        if bytes > self.left() {
            return self.divide(bytes, rules);
        }
        Ok(())
    }

    /// Not enough is left for the next piece of work.
    pub(super) const fn full(&self) -> Over {
        Over::MoreThan(self.limits.bytes)
    }
}
