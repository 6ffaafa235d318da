//! The rule kind `link`: domains that a text may or may not link to.

mod bare_domains;
mod scan;
#[cfg(test)]
mod tests;

use std::{collections::HashMap, ops::Range};

use serde::{Deserialize, Serialize};
use url::Host;

use self::scan::mentions;
use super::{
    RuleEffect, RuleType, View,
    budget::{Meter, Over},
    content_rule::{ContentRule, Exceptions, Finding},
    error::RuleErrorList,
};
use crate::{media::named_set, text::Readings};

/// The most domains in a group, over all its rules.
pub const MAX_DOMAINS: usize = 50_000;
/// The most link rules in a group. Each link of a text may be compared with each rule.
pub const MAX_LINKS: usize = 1_000;

/// How many domains are read between two checks of the clock: less than a millisecond of work.
const DOMAINS_PER_CHECK: usize = 64;

/// A list of domains, and what it means. A domain includes all names under it: `com` means all of
/// `.com`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Whether the domains are forbidden, or the only allowed ones.
    pub policy: LinkPolicy,
    /// Domains such as `example.com` or `bücher.de`, or addresses such as `203.0.113.9`, without
    /// scheme, port and path. `deny` needs at least one. `allow` with none forbids all links.
    pub domains: Vec<String>,
    /// Which names without a scheme count as links. It changes only `allow`: a denied domain is always
    /// found.
    // Left out of stored rules if nothing was chosen, so that an older binary can read them.
    #[serde(default, skip_serializing_if = "Bare::is_default")]
    pub bare: Bare,
    /// What a match asks for.
    pub effect: RuleEffect,
}

named_set! {
    /// What a list of domains means.
    LinkPolicy {
        /// A text must not name these in any form: as a link, without a scheme, or in a mail
        /// address.
        Deny = "deny",
        /// A text must not link to any others.
        Allow = "allow",
    }
}

named_set! {
    /// Which names without a scheme, such as `example.com`, count as links.
    #[derive(Default)]
    Bare {
        /// Those that are probably meant as links: no names of files, no missing spaces after full
        /// stops.
        #[default]
        Likely = "likely",
        /// All names whose ending is on the public suffix list.
        Any = "any",
        /// None: only names with a scheme, or that begin with `www.`.
        None = "none",
    }
}

impl Bare {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Link {
    pub(super) fn check(
        &self,
        errors: &mut RuleErrorList<'_>,
        meter: &Meter<'_>,
    ) -> Result<(), Over> {
        if self.policy == LinkPolicy::Deny && self.domains.is_empty() {
            errors.add("domains", "at least one domain is required");
        }
        for (at, domain) in self.domains.iter().enumerate() {
            if at % DOMAINS_PER_CHECK == 0 {
                meter.check_time()?;
            }
            if let Err(message) = parse(domain) {
                errors.add(format!("domains[{at}]"), message);
            }
        }
        Ok(())
    }
}

/// A listed domain, in the form in which hosts are compared.
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

/// A host that a text names.
struct Mention {
    /// Bytes of the folded reading.
    at: Range<usize>,
    /// As a browser would open it; `None` if a browser would not.
    exact: Option<String>,
    /// As a reader sees it, if that differs: `exаmple.com` with a Cyrillic letter is `example.com`
    /// here.
    seen: Option<String>,
    /// Where else the host may begin in text without spaces, each as a browser would open it: 例え.jp in
    /// 詳しくは例え.jp. Only if somebody asks for it.
    tails: Vec<Tail>,
    /// How surely it is a link.
    link: Certainty,
}

/// A part of a host in text without spaces.
struct Tail {
    host: String,
    /// Whether a new word clearly begins there, so that the host begins there for a reader, too.
    begins: bool,
}

/// How surely a host is a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Certainty {
    /// It is only named: in a mail address, or in a path.
    Named,
    /// Its ending is on the public suffix list. It may be a file.
    Possible,
    /// It is almost certainly a link.
    Likely,
    /// It has a scheme, or begins with `www.`.
    Certain,
}

impl Mention {
    /// The reading on which the host stands as it is compared. `written` is its original.
    fn view(&self, written: &str) -> View {
        let is_named = |name: &Option<String>| name.as_deref() == Some(written);
        if is_named(&self.exact) {
            View::Original
        } else {
            View::Folded
        }
    }
}

/// A host and the domains above it: `a.b.c`, `b.c`, `c`.
fn domains_of(host: &str) -> impl Iterator<Item = &str> {
    let parents = host.match_indices('.').map(|(dot, _)| &host[dot + 1..]);
    std::iter::once(host).chain(parents)
}

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
