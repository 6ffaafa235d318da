//! What became of a group's rules when they were compiled.

use std::sync::Arc;

use domain::{
    decision::Unchecked,
    id::{BacktestId, GroupVersionId, RuleGroupId},
    rules::CompiledGroup,
};

/// The memory of an entry without its group, in bytes.
pub(super) const ENTRY_BYTES: usize = 1 << 10;

/// What was compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// A version of a group.
    Version(GroupVersionId),
    /// The rules that a backtest tries.
    Backtest(BacktestId),
}

/// What became of a group's rules.
#[derive(Clone)]
pub(crate) enum Compiled {
    /// They can judge.
    Ready(Arc<CompiledGroup>),
    /// They cost more than a group may, so they judge nothing.
    TooHeavy(Arc<TooHeavy>),
}

/// A group that cannot judge.
#[derive(Debug)]
pub(crate) struct TooHeavy {
    pub(crate) group: RuleGroupId,
    pub(super) name: String,
}

impl TooHeavy {
    /// The note on an item that it should have judged.
    pub(crate) fn unchecked(&self) -> Unchecked {
        Unchecked::RulesTooHeavy {
            group: self.group,
            name: self.name.clone(),
        }
    }
}

impl Compiled {
    /// The group.
    pub(crate) fn group(&self) -> RuleGroupId {
        match self {
            Self::Ready(group) => group.group(),
            Self::TooHeavy(heavy) => heavy.group,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        ENTRY_BYTES
            + match self {
                Self::Ready(group) => group.approx_bytes(),
                Self::TooHeavy(heavy) => heavy.name.len(),
            }
    }
}
