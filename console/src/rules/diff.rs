//! What differs between two sets of rules, as people read it: which rules came, went and moved, and member by member what changed.

use std::collections::HashSet;

use domain::{
    rule_diff::Difference,
    rules::{Bare, LinkPolicy, Matching, Rule, RuleEffect, RuleKind},
};

use super::{names::Lists, row::Row};
use crate::visible_text::truncate;

/// Rules of each kind of change that are shown.
const RULES: usize = 100;
/// Values of a member that are shown.
const VALUES: usize = 20;
/// Characters of a value that are shown.
const VALUE_CHARS: usize = 2_000;

pub(super) struct Differences {
    pub(super) added: Vec<Row>,
    pub(super) removed: Vec<Row>,
    pub(super) changed: Vec<Changed>,
    pub(super) moved: usize,
    /// How many rules are added, removed or changed beyond those that are shown.
    pub(super) more: usize,
    /// All together.
    pub(super) count: usize,
}

/// A rule that differs.
pub(super) struct Changed {
    pub(super) name: String,
    pub(super) kind: &'static str,
    pub(super) members: Vec<Member>,
}

/// A member of a rule that differs.
pub(super) struct Member {
    pub(super) name: &'static str,
    pub(super) gone: Vec<String>,
    pub(super) gone_more: usize,
    pub(super) came: Vec<String>,
    pub(super) came_more: usize,
}

impl Member {
    /// Whether only the order of the values is another.
    pub(super) fn is_order(&self) -> bool {
        self.gone.is_empty() && self.came.is_empty()
    }
}

impl Differences {
    pub(super) fn of(difference: &Difference, lists: &Lists) -> Self {
        let Difference {
            added,
            removed,
            changed,
            moved,
        } = difference;
        let beyond = |count: usize| count.saturating_sub(RULES);
        let changes = changed.iter().take(RULES);
        Self {
            added: rows(added, lists),
            removed: rows(removed, lists),
            changed: changes
                .map(|(from, to)| Changed::of(from, to, lists))
                .collect(),
            moved: moved.len(),
            more: beyond(added.len()) + beyond(removed.len()) + beyond(changed.len()),
            count: added.len() + removed.len() + changed.len() + moved.len(),
        }
    }
}

fn rows(rules: &[Rule], lists: &Lists) -> Vec<Row> {
    let rules = rules.iter().take(RULES).enumerate();
    rules
        .map(|(place, rule)| Row::of(place, rule, lists))
        .collect()
}

impl Changed {
    fn of(from: &Rule, to: &Rule, lists: &Lists) -> Self {
        let (before, after) = (members(from, lists), members(to, lists));
        let mut names: Vec<&'static str> = after.iter().map(|(name, _)| *name).collect();
        names.extend(
            before
                .iter()
                .map(|(name, _)| *name)
                .filter(|name| !names.contains(name))
                .collect::<Vec<_>>(),
        );
        let values = |of: &[(&'static str, Vec<String>)], wanted: &str| -> Vec<String> {
            let found = of.iter().find(|(name, _)| *name == wanted);
            found.map_or_else(Vec::new, |(_, values)| values.clone())
        };
        let members = names.into_iter().filter_map(|name| {
            let (before, after) = (values(&before, name), values(&after, name));
            (before != after).then(|| {
                let (gone, gone_more) = beyond(&before, &after);
                let (came, came_more) = beyond(&after, &before);
                Member {
                    name,
                    gone,
                    gone_more,
                    came,
                    came_more,
                }
            })
        });
        Self {
            name: to.name.clone(),
            kind: to.kind.rule_type().as_str(),
            members: members.collect(),
        }
    }
}

/// The values that others do not contain: some of them, and how many more there are.
fn beyond(values: &[String], others: &[String]) -> (Vec<String>, usize) {
    let others: HashSet<&String> = others.iter().collect();
    let own = values.iter().filter(|value| !others.contains(value));
    let shown = own
        .clone()
        .take(VALUES)
        .map(|value| truncate(value, VALUE_CHARS))
        .collect();
    (shown, own.count().saturating_sub(VALUES))
}

/// The members of a rule, in words.
fn members(rule: &Rule, lists: &Lists) -> Vec<(&'static str, Vec<String>)> {
    let mut members = vec![
        ("Name", vec![rule.name.clone()]),
        ("Type", vec![rule.kind.rule_type().to_string()]),
        (
            "State",
            vec![if rule.enabled { "on" } else { "off" }.to_owned()],
        ),
    ];
    let effect = |effect: RuleEffect| ("Effect", vec![super::row::effect(effect).0.to_owned()]);
    match &rule.kind {
        RuleKind::Keyword(keyword) => {
            let matching = match keyword.matching {
                Matching::WholeWord => "whole words",
                Matching::Substring => "anywhere",
            };
            members.push(("Keywords", keyword.keywords.clone()));
            members.push(("Matching", vec![matching.to_owned()]));
            members.push(effect(keyword.effect));
        }
        RuleKind::Regex(pattern) => {
            members.push(("Pattern", vec![pattern.pattern.clone()]));
            members.push(effect(pattern.effect));
        }
        RuleKind::Link(link) => {
            let policy = match link.policy {
                LinkPolicy::Deny => "these domains are forbidden",
                LinkPolicy::Allow => "only these domains are allowed",
            };
            members.push(("Policy", vec![policy.to_owned()]));
            let bare = match link.bare {
                Bare::Likely => "if they are probably links",
                Bare::Any => "all of them",
                Bare::None => "none of them",
            };
            members.push(("Domains", link.domains.clone()));
            members.push(("Names without a scheme", vec![bare.to_owned()]));
            members.push(effect(link.effect));
        }
        RuleKind::ImageHash(known) => {
            let names = known.lists.iter().map(|list| lists.name(*list));
            members.push(("Lists", names.collect()));
            members.push(effect(known.effect));
        }
        RuleKind::AiThreshold(threshold) => {
            let at = |at: Option<f64>| at.iter().map(ToString::to_string).collect();
            members.push(("Category", vec![threshold.category.to_string()]));
            members.push(("Review from", at(threshold.review_at)));
            members.push(("Reject from", at(threshold.reject_at)));
        }
    }
    members.push(("Exceptions", rule.exceptions.clone()));
    members
}
