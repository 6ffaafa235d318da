//! What figures are told apart by, with what it is called.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
};

use domain::id::{ActorId, ReviewPolicyId, SiteId, TeamId};
use store::{
    PgConnection,
    review::quality::{Backlog, Opinion, PolicyName, named_people, named_policies, named_sites},
};

use crate::Refused;

/// A policy, as reports name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPolicy {
    /// The policy.
    pub id: ReviewPolicyId,
    /// What programs call it.
    pub code: String,
    /// What people read.
    pub name: String,
}

/// Something with an id, as reports name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named<Id> {
    /// Which one.
    pub id: Id,
    /// What it is called; none if it is gone.
    pub name: Option<String>,
}

/// Figures of one policy. Without a policy: those of reviews that no policy fits.
#[derive(Clone, Debug)]
pub struct ByPolicy<T> {
    /// The policy.
    pub policy: Option<NamedPolicy>,
    /// Its figures.
    pub figures: T,
}

/// What things are called.
pub(super) struct Names {
    policies: HashMap<ReviewPolicyId, PolicyName>,
    people: HashMap<ActorId, String>,
    sites: HashMap<SiteId, String>,
}

impl Names {
    /// The names of all that a report names.
    pub(super) async fn of(
        conn: &mut PgConnection,
        team: TeamId,
        backlog: &[Backlog],
        said: &[Opinion],
    ) -> Result<Self, Refused> {
        let policies = said.iter().filter_map(about);
        let waiting = backlog.iter().filter_map(|part| part.suggested);
        let policies = unique(policies.chain(waiting));
        let people = unique(said.iter().map(|opinion| opinion.by));
        let sites = unique(backlog.iter().map(|part| part.site));
        Ok(Self {
            policies: named_policies(conn, team, &policies).await?,
            people: named_people(conn, team, &people).await?,
            sites: named_sites(conn, team, &sites).await?,
        })
    }

    pub(super) fn person(&self, id: ActorId) -> Named<ActorId> {
        Named {
            id,
            name: self.people.get(&id).cloned(),
        }
    }

    pub(super) fn site(&self, id: SiteId) -> Named<SiteId> {
        Named {
            id,
            name: self.sites.get(&id).cloned(),
        }
    }

    /// Figures by policy, in the order of their codes, those without a policy last.
    pub(super) fn by_policy<T>(
        &self,
        figures: BTreeMap<Option<ReviewPolicyId>, T>,
    ) -> Vec<ByPolicy<T>> {
        let mut parts: Vec<ByPolicy<T>> = figures
            .into_iter()
            .map(|(id, figures)| ByPolicy {
                policy: id.map(|id| self.policy(id)),
                figures,
            })
            .collect();
        parts.sort_by(|one, other| {
            let key = |part: &ByPolicy<T>| {
                let policy = part.policy.as_ref();
                (policy.is_none(), policy.map(|policy| policy.code.clone()))
            };
            key(one).cmp(&key(other))
        });
        parts
    }

    fn policy(&self, id: ReviewPolicyId) -> NamedPolicy {
        let known = self.policies.get(&id);
        NamedPolicy {
            id,
            code: known.map_or_else(|| id.to_string(), |known| known.code.clone()),
            name: known.map_or_else(|| id.to_string(), |known| known.name.clone()),
        }
    }
}

/// The policy that an opinion counts for: the one that was suggested, whatever the person said. Only where none was suggested,
/// the one that the first person named, or this one. If what people say chose the policy, disagreements would count elsewhere
/// than agreements.
pub(super) fn about(opinion: &Opinion) -> Option<ReviewPolicyId> {
    let first = opinion.first.and_then(|first| first.policy);
    opinion.suggested.or(first).or(opinion.policy)
}

fn unique<T: Ord>(all: impl Iterator<Item = T>) -> Vec<T> {
    let all: std::collections::BTreeSet<T> = all.collect();
    all.into_iter().collect()
}

impl<Id: fmt::Display> Named<Id> {
    /// The name, or else the id.
    pub fn text(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.id.to_string())
    }
}
