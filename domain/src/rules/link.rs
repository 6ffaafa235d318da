//! The rule kind `link`: domains that a text may or may not link to.

mod scan;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use url::Host;

use self::scan::{Mention, domains_of, mentions};
use super::budget::{Meter, Over};
use super::content::{ContentRule, Exceptions, Finding};
use super::error::RuleFaults;
use super::{RuleEffect, RuleType};
use crate::text::Readings;

/// The most domains in a group, over all its rules.
pub const MAX_DOMAINS: usize = 50_000;
/// The most link rules in a group. Each link of a text may be held against each.
pub const MAX_LINKS: usize = 1_000;

/// How many domains are read between two looks at the clock: less than a millisecond's work.
const DOMAINS_PER_CHECK: usize = 64;
/// What a listed domain takes besides its text: its place in a table that is half empty, and the list of its rules.
const BYTES_PER_DOMAIN: usize = 2 * size_of::<(Box<str>, Vec<usize>)>() + 4 * size_of::<usize>();

/// A list of domains with what it means. A domain stands for all names under it too, `com` for all of `.com`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Whether the domains are the bad ones or the only good ones.
    pub policy: LinkPolicy,
    /// Domains such as `example.com` or `bücher.de`, or addresses such as `203.0.113.9`; no schemes, ports and paths.
    /// At least one with `deny`; none with `allow` is no link at all.
    pub domains: Vec<String>,
    /// What a match asks for.
    pub effect: RuleEffect,
}

/// What a list of domains means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkPolicy {
    /// A text must not name these, however it is written: as a link, without a scheme, in a mail address.
    Deny,
    /// A text must not link to any others.
    Allow,
}

impl Link {
    pub(super) fn check(&self, faults: &mut RuleFaults<'_>, meter: &Meter<'_>) -> Result<(), Over> {
        if self.policy == LinkPolicy::Deny && self.domains.is_empty() {
            faults.add("domains", "at least one domain is required");
        }
        for (at, domain) in self.domains.iter().enumerate() {
            if at % DOMAINS_PER_CHECK == 0 {
                meter.check_time()?;
            }
            if let Err(message) = parse(domain) {
                faults.add(format!("domains[{at}]"), message);
            }
        }
        Ok(())
    }
}

/// A listed domain in the form in which hosts are compared.
fn parse(domain: &str) -> Result<String, &'static str> {
    if domain.starts_with("*.") {
        return Err("a domain includes all names under it: leave out `*.`");
    }
    let name = domain.trim_matches('.');
    if name.contains("..") || name.contains('%') {
        return Err("is not a domain");
    }
    match Host::parse(name) {
        Ok(Host::Domain(name))
            if name.len() > 253 || name.split('.').any(|label| label.len() > 63) =>
        {
            Err("is not a domain: it is too long")
        }
        Ok(host) => Ok(host.to_string()),
        Err(_) => Err("must be a domain without scheme, port and path, such as `example.com`"),
    }
}

/// All link rules of a group, ready to be asked.
pub(super) struct Links {
    rules: Vec<(ContentRule, LinkPolicy)>,
    /// For each listed domain the rules that list it, ascending.
    listed: HashMap<Box<str>, Vec<usize>>,
}

impl Links {
    pub(super) fn new(
        rules: Vec<(ContentRule, &Link)>,
        meter: &mut Meter<'_>,
    ) -> Result<Self, Over> {
        let mut listed: HashMap<Box<str>, Vec<usize>> = HashMap::new();
        for (number, (content, rule)) in rules.iter().enumerate() {
            for (at, domain) in rule.domains.iter().enumerate() {
                if at % DOMAINS_PER_CHECK == 0 {
                    meter.check_time()?;
                }
                let Ok(domain) = parse(domain) else { continue };
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
                .map(|(content, rule)| (content, rule.policy))
                .collect(),
            listed,
        })
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Reports the first unexcused match of each rule.
    pub(super) fn examine(
        &self,
        text: &Readings<'_>,
        exceptions: &mut Exceptions,
        mut report: impl FnMut(Finding<'_>),
    ) {
        if self.is_empty() {
            return;
        }
        let mut open: Vec<usize> = (0..self.rules.len()).collect();
        // For each rule the last mention that it lists, counted from 1.
        let mut listed = vec![0; self.rules.len()];
        for (mention, number) in mentions(text).iter().zip(1..) {
            self.mark(mention, number, &mut listed);
            open.retain(|&at| {
                let (rule, policy) = &self.rules[at];
                let is_listed = listed[at] == number;
                let (is_violated, details) = match policy {
                    LinkPolicy::Deny => {
                        (is_listed, "The text names a domain that this rule denies.")
                    }
                    LinkPolicy::Allow => (
                        mention.is_link && !is_listed,
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

    /// Marks the rules that list a host or a domain above it. What a reader sees only counts against it: a look-alike
    /// of an allowed domain is another domain.
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
    }

    pub(super) fn approx_bytes(&self) -> usize {
        let rules = self.rules.iter().map(|(rule, _)| rule.approx_bytes());
        let listed = self
            .listed
            .iter()
            .map(|(domain, owners)| domain.len() + owners.capacity() * size_of::<usize>());
        let table = self.listed.capacity() * size_of::<(Box<str>, Vec<usize>)>();
        rules.sum::<usize>() + listed.sum::<usize>() + table
    }
}

#[cfg(test)]
mod tests;
