//! What a group may cost: memory and time, counted rule by rule while the group is compiled.

use std::{collections::HashMap, time::Duration};

use super::{Rule, error::RuleErrors};

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

/// How many of the heaviest rules a refusal names.
const NAMED: usize = 3;

impl Meter<'_> {
    /// Says what is too much, and which rules cause most of it.
    pub(crate) fn refuse(&self, over: Over, rules: &[Rule]) -> RuleErrors {
        let cost = match over {
            Over::MoreThan(_) => format!(
                "the group needs more than {} of memory once compiled, which is the limit",
                mebibytes(self.limits.bytes)
            ),
            Over::Bytes(bytes) => format!(
                "the group needs {} of memory once compiled; the limit is {}",
                mebibytes(bytes),
                mebibytes(self.limits.bytes)
            ),
            Over::Time => format!(
                "the group takes more than {} s to compile, which is the limit",
                self.limits.time.as_secs_f64()
            ),
        };
        let mut heaviest: Vec<(usize, usize)> = self
            .by_rule
            .iter()
            .map(|(rule, bytes)| (*rule, *bytes))
            .collect();
        heaviest.sort_unstable_by_key(|(rule, bytes)| (usize::MAX - bytes, *rule));
        let named: Vec<String> = heaviest
            .iter()
            .take(NAMED)
            .filter_map(|(rule, bytes)| {
                let name = &rules.get(*rule)?.name;
                Some(format!("`{name}` ({})", mebibytes(*bytes)))
            })
            .collect();
        let heaviest = if named.is_empty() {
            String::new()
        } else {
            format!(" The heaviest rules: {}.", named.join(", "))
        };
        let advice = "Write ASCII classes such as `[0-9A-Za-z_]` instead of `\\w`, repeat less, or divide the rules among \
                      several groups.";
        RuleErrors::too_heavy(format!("{cost}.{heaviest} {advice}"))
    }
}

/// With one decimal below ten, so that a small rule does not show as 0.
fn mebibytes(bytes: usize) -> String {
    let tenths = (bytes as u128 * 10).div_ceil(1 << 20);
    if tenths < 100 {
        format!("{}.{} MiB", tenths / 10, tenths % 10)
    } else {
        format!("{} MiB", tenths / 10)
    }
}
