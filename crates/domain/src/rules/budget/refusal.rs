//! The message for a group that costs too much.

use super::{Meter, Over};
use crate::rules::Rule;
use crate::rules::error::RuleErrors;

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
