//! All link rules of a group, compiled.

use std::collections::HashMap;

use super::linked_host::{Certainty, Mention, domains_of};
use super::scan::mentions;
use super::{Bare, DOMAINS_PER_CHECK, Link, LinkPolicy, parse};
use crate::rules::RuleType;
use crate::rules::budget::{Meter, Over};
use crate::rules::content_rule::{ContentRule, Exceptions, Finding};
use crate::text::Readings;

/// What a listed domain takes in addition to its text: its place in a table that is half empty, and
/// the list of its rules.
const BYTES_PER_DOMAIN: usize = 2 * size_of::<(Box<str>, Vec<usize>)>() + 4 * size_of::<usize>();

/// All link rules of a group, compiled.
pub(crate) struct Links {
    rules: Vec<(ContentRule, LinkPolicy, Certainty)>,
    /// Whether a domain of a script without spaces, or with particles, is listed.
    has_other_scripts: bool,
    /// For each listed domain, the rules that list it, ascending.
    listed: HashMap<Box<str>, Vec<usize>>,
}

impl Links {
    pub(crate) fn new(
        rules: Vec<(ContentRule, &Link)>,
        meter: &mut Meter<'_>,
    ) -> Result<Self, Over> {
        let mut listed: HashMap<Box<str>, Vec<usize>> = HashMap::new();
        let mut has_other_scripts = false;
        for (number, (content, rule)) in rules.iter().enumerate() {
            for (at, domain) in rule.domains.iter().enumerate() {
                if at % DOMAINS_PER_CHECK == 0 {
                    meter.check_time()?;
                }
                let Ok(domain) = parse(domain) else { continue };
                has_other_scripts |= domain.contains("xn--");
                let owners = listed.entry(domain.into_boxed_str()).or_default();
                if owners.last() != Some(&number) {
                    owners.push(number);
                }
            }
            let text: usize = rule.domains.iter().map(String::len).sum();
            meter.charge(content.order, text + rule.domains.len() * BYTES_PER_DOMAIN)?;
        }
        Ok(Self {
            rules: rules
                .into_iter()
                .map(|(content, rule)| (content, rule.policy, least(rule.bare)))
                .collect(),
            has_other_scripts,
            listed,
        })
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Reports the first match of each rule that is not excused.
    pub(crate) fn examine(
        &self,
        text: &Readings<'_>,
        exceptions: &mut Exceptions,
        mut report: impl FnMut(Finding<'_>),
    ) {
        if self.is_empty() {
            return;
        }
        let mut open: Vec<usize> = (0..self.rules.len()).collect();
        // For each rule, the last mention that it lists, counted from 1.
        let mut listed = vec![0; self.rules.len()];
        for (mention, number) in mentions(text, self.has_other_scripts).iter().zip(1..) {
            self.mark(mention, number, &mut listed);
            open.retain(|&at| {
                let (rule, policy, least) = &self.rules[at];
                let is_listed = listed[at] == number;
                let (is_violated, details) = match policy {
                    LinkPolicy::Deny => {
                        (is_listed, "The text names a domain that this rule denies.")
                    }
                    LinkPolicy::Allow => (
                        mention.link >= *least && !is_listed,
                        "The text links to a domain that this rule does not allow.",
                    ),
                };
                if !is_violated || exceptions.excuse(rule, text, &mention.at) {
                    return true;
                }
                let span = text.original_span(mention.at.clone());
                report(Finding {
                    rule,
                    rule_type: RuleType::Link,
                    view: mention.view(&text.original()[span.clone()]),
                    span,
                    details,
                });
                false
            });
            if open.is_empty() {
                return;
            }
        }
    }

    /// Marks the rules that list a host or a domain above it. What a reader sees counts only for
    /// deny lists: a look-alike of an allowed domain is another domain.
    fn mark(&self, mention: &Mention, number: usize, listed: &mut [usize]) {
        let mut mark = |host: &str, policies: &[LinkPolicy]| {
            for owners in domains_of(host).filter_map(|domain| self.listed.get(domain)) {
                for &owner in owners {
                    if policies.contains(&self.rules[owner].1) {
                        listed[owner] = number;
                    }
                }
            }
        };
        if let Some(host) = &mention.exact {
            mark(host, &[LinkPolicy::Deny, LinkPolicy::Allow]);
        }
        if let Some(host) = &mention.seen {
            mark(host, &[LinkPolicy::Deny]);
        }
        for tail in &mention.tails {
            let both = [LinkPolicy::Deny, LinkPolicy::Allow];
            mark(&tail.host, &both[..=usize::from(tail.begins)]);
        }
    }

    pub(crate) fn approx_bytes(&self) -> usize {
        let rules = self.rules.iter().map(|(rule, ..)| rule.approx_bytes());
        let listed = self
            .listed
            .iter()
            .map(|(domain, owners)| domain.len() + owners.capacity() * size_of::<usize>());
        let table = self.listed.capacity() * size_of::<(Box<str>, Vec<usize>)>();
        rules.sum::<usize>() + listed.sum::<usize>() + table
    }
}

/// How certain a link must be for a rule.
const fn least(bare: Bare) -> Certainty {
    match bare {
        Bare::Any => Certainty::Possible,
        Bare::Likely => Certainty::Likely,
        Bare::None => Certainty::Certain,
    }
}
