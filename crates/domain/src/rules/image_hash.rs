//! The rule kind `image_hash`: an image is on a list of known pictures.

#[cfg(test)]
mod tests;

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::{Evidence, Rule, RuleEffect, RuleType, Violation, error::RuleErrorList};
use crate::{
    id::{HashListId, RuleGroupId, RuleId},
    image_hash::{HashAlgorithm, HashMatch, ListKind},
};

/// The most lists of a rule.
pub const MAX_LISTS: usize = 100;
/// The most such rules in a group. Each match of an image is compared with each rule.
pub const MAX_IMAGE_HASHES: usize = 1_000;

/// Lists, and what a match means. An image on a deny list violates the rule, unless an allow list
/// of the same rule contains it, too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageHash {
    /// From 1 to [`MAX_LISTS`] different ones. Each list defines its kind, and how far an image may
    /// differ from its entries.
    pub lists: Vec<HashListId>,
    /// What a match asks for.
    pub effect: RuleEffect,
}

impl ImageHash {
    pub(super) fn check(&self, errors: &mut RuleErrorList<'_>) {
        if self.lists.is_empty() {
            errors.add("lists", "at least one list is required");
        }
        if self.lists.len() > MAX_LISTS {
            errors.add("lists", format!("must contain at most {MAX_LISTS} lists"));
            return;
        }
        let mut seen = HashSet::new();
        for (at, list) in self.lists.iter().enumerate() {
            if !seen.insert(list) {
                errors.add(format!("lists[{at}]"), "is listed twice");
            }
        }
    }
}

/// A compiled, enabled rule.
pub(super) struct Recognition {
    id: RuleId,
    name: String,
    /// Ascending.
    lists: Vec<HashListId>,
    effect: RuleEffect,
}

impl Recognition {
    pub(super) fn new(rule: &Rule, kind: &ImageHash) -> Self {
        let mut lists = kind.lists.clone();
        lists.sort_unstable();
        Self {
            id: rule.id,
            name: rule.name.clone(),
            lists,
            effect: kind.effect,
        }
    }

    fn own<'a>(&self, matches: &'a [HashMatch]) -> impl Iterator<Item = &'a HashMatch> {
        matches
            .iter()
            .filter(|found| self.lists.binary_search(&found.list).is_ok())
    }

    /// Whether the image is on any of the lists, of either kind.
    pub(super) fn knows(&self, matches: &[HashMatch]) -> bool {
        self.own(matches).next().is_some()
    }

    /// Whether the image is on an allow list.
    pub(super) fn allows(&self, matches: &[HashMatch]) -> bool {
        self.own(matches).any(|found| found.kind == ListKind::Allow)
    }

    /// The violation, with the nearest match.
    pub(super) fn examine(&self, group: RuleGroupId, matches: &[HashMatch]) -> Option<Violation> {
        if self.allows(matches) {
            return None;
        }
        let nearest = self
            .own(matches)
            .min_by_key(|found| (found.distance, found.algorithm, found.list))?;
        let HashMatch {
            list,
            kind: _,
            entry,
            algorithm,
            distance,
        } = *nearest;
        let details = match algorithm {
            HashAlgorithm::Sha256 => {
                format!("The image is the same file as one on the list {list}.")
            }
            HashAlgorithm::Pdq => {
                format!(
                    "The image looks like one on the list {list}: {distance} of 256 bits differ."
                )
            }
        };
        Some(Violation {
            rule_id: self.id,
            rule_name: self.name.clone(),
            rule_type: RuleType::ImageHash,
            effect: self.effect,
            confidence: 1.0,
            details,
            matched_text: None,
            evidence: Evidence::Hash {
                group,
                list,
                entry,
                algorithm,
                distance,
            },
        })
    }

    pub(super) fn approx_bytes(&self) -> usize {
        size_of::<Self>() + self.name.capacity() + self.lists.capacity() * size_of::<HashListId>()
    }
}
