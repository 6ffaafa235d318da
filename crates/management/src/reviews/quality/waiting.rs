//! What waits now.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use domain::id::{ReviewPolicyId, SiteId};
use store::review::quality;

use super::dimensions::{ByPolicy, Named, Names};

/// What waits, by site and by policy.
#[derive(Debug)]
pub struct Waiting {
    /// By site.
    pub by_site: Vec<(Named<SiteId>, Backlog)>,
    /// By the most severe policy that is suggested.
    pub by_policy: Vec<ByPolicy<Backlog>>,
    /// Whether all that waits was counted.
    pub is_complete: bool,
}

/// Reviews that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// How many there are.
    pub reviews: i64,
    /// How many of them should have been decided by now.
    pub overdue: i64,
    /// Since when the first of them has waited.
    pub oldest: DateTime<Utc>,
}

impl Backlog {
    fn add(&mut self, other: Self) {
        self.reviews += other.reviews;
        self.overdue += other.overdue;
        self.oldest = self.oldest.min(other.oldest);
    }
}

impl Waiting {
    pub(super) fn of(parts: &[quality::Backlog], names: &Names, most: i64) -> Self {
        let mut sites: BTreeMap<SiteId, Backlog> = BTreeMap::new();
        let mut policies: BTreeMap<Option<ReviewPolicyId>, Backlog> = BTreeMap::new();
        let mut total = 0;
        for part in parts {
            let backlog = Backlog {
                reviews: part.reviews,
                overdue: part.overdue,
                oldest: part.oldest,
            };
            total += part.reviews;
            let add = |known: &mut Backlog| known.add(backlog);
            sites.entry(part.site).and_modify(add).or_insert(backlog);
            let add = |known: &mut Backlog| known.add(backlog);
            let policy = policies.entry(part.suggested);
            policy.and_modify(add).or_insert(backlog);
        }
        Self {
            by_site: sites
                .into_iter()
                .map(|(site, backlog)| (names.site(site), backlog))
                .collect(),
            by_policy: names.by_policy(policies),
            is_complete: total < most,
        }
    }
}
