//! An item is examined by one group after another.

use std::{collections::VecDeque, mem, sync::Arc};

use domain::id::GroupVersionId;
use store::verdict::ToJudge;

use super::Instead;
use crate::{
    findings::GroupFindings,
    rule_group_cache::{Key, RuleGroupCache},
};

/// The state of an examination.
pub(super) struct Judgement {
    groups: RuleGroupCache,
    item: Arc<ToJudge>,
    left: VecDeque<Key>,
    instead: Option<Instead>,
    /// Whether the other rules have had their turn.
    joined: bool,
    examined: Vec<GroupFindings>,
}

/// How a turn ends.
pub(super) enum Next {
    /// A group must be compiled before the rest can judge.
    Compile(Key, Judgement),
    Done(Vec<GroupFindings>),
}

impl Judgement {
    pub(super) fn new(
        groups: RuleGroupCache,
        item: Arc<ToJudge>,
        versions: &[GroupVersionId],
        instead: Option<Instead>,
    ) -> Self {
        Self {
            groups,
            item,
            left: versions.iter().copied().map(Key::Version).collect(),
            instead,
            joined: false,
            examined: Vec::with_capacity(versions.len() + 1),
        }
    }

    /// Examines the item with all groups that are compiled already.
    pub(super) fn go_on(mut self) -> Next {
        loop {
            let Some(key) = self.left.front().copied() else {
                match self.instead {
                    Some(other) if !mem::replace(&mut self.joined, true) => {
                        self.left.push_back(other.by);
                        continue;
                    }
                    Some(_) | None => return Next::Done(self.examined),
                }
            };
            let Some(mut found) = self.groups.kept(key) else {
                return Next::Compile(key, self);
            };
            if let Some(other) = self.instead
                && found.group() == other.group
                && key != other.by
            {
                found = match self.groups.kept(other.by) {
                    Some(found) => found,
                    None => return Next::Compile(other.by, self),
                };
                self.joined = true;
            }
            self.examined.push(GroupFindings::of(&self.item, &found));
            self.left.pop_front();
        }
    }
}
