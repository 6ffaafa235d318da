//! The rule kind `link`: domains that a text may or may not link to.

mod bare_domains;
mod compiled;
mod linked_host;
mod scan;

use serde::{Deserialize, Serialize};
use url::Host;

pub(super) use self::compiled::Links;
use super::RuleEffect;
use super::budget::{Meter, Over};
use super::error_list::RuleErrorList;

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

/// What a list of domains means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkPolicy {
    /// A text must not name these in any form: as a link, without a scheme, or in a mail address.
    Deny,
    /// A text must not link to any others.
    Allow,
}

/// Which names without a scheme, such as `example.com`, count as links.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bare {
    /// Those that are probably meant as links: no names of files, no missing spaces after full stops.
    #[default]
    Likely,
    /// All names whose ending is on the public suffix list.
    Any,
    /// None: only names with a scheme, or that begin with `www.`.
    None,
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

#[cfg(test)]
mod tests;
