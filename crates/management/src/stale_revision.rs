//! What somebody is told who would change what others have changed meanwhile.

use chrono::{DateTime, Utc};
use domain::{audit::Action, scope::Scope};
use serde_json::Value;
use store::{
    audit::{self, Filter, Recorded},
    names::{self, Kind},
    page::Page,
};
use uuid::Uuid;

use crate::{Refused, Session};

/// The settings are no longer those that the caller has seen. Nothing was changed.
#[derive(Debug)]
pub struct Outdated {
    /// Who changed them last.
    pub by: Changer,
    /// When. `None`: the audit log does not say.
    pub at: Option<DateTime<Utc>>,
}

/// Who changed settings, as far as the caller may know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changer {
    /// The caller, in another window.
    Caller,
    /// A person or a token with this name.
    Named(String),
    /// Somebody whose name the caller does not learn.
    Unnamed,
}

/// Entries that are looked through for the last change of settings.
const ENTRIES: i64 = 20;

impl Session {
    /// Who changed a thing last, by this action. A change of nothing but `besides` does not count.
    pub(crate) async fn outdated(
        &mut self,
        action: Action,
        target: Uuid,
        besides: &str,
    ) -> Result<Outdated, Refused> {
        let filter = Filter {
            action: Some(action),
            target: Some(target),
            ..Filter::default()
        };
        let latest = Page {
            after: None,
            limit: ENTRIES,
        };
        let reach = self.reach();
        let entries = audit::list(self.conn(), reach, filter, latest).await?;
        let last = entries
            .into_iter()
            .find(|entry| changes_more(entry, besides));
        let Some(last) = last else {
            return Ok(Outdated {
                by: Changer::Unnamed,
                at: None,
            });
        };
        let by = match last.actor_id {
            Some(actor) if Some(actor) == self.actor().id() => Changer::Caller,
            Some(actor) => self.named(actor.as_uuid()).await?,
            None => Changer::Unnamed,
        };
        Ok(Outdated {
            by,
            at: Some(last.occurred_at),
        })
    }

    async fn named(&mut self, actor: Uuid) -> Result<Changer, Refused> {
        let kinds: Vec<Kind> = [
            (Kind::People, Scope::PeopleRead),
            (Kind::Tokens, Scope::TokensRead),
        ]
        .into_iter()
        .filter(|(_, scope)| self.has(*scope))
        .map(|(kind, _)| kind)
        .collect();
        let reach = self.reach();
        let mut names = names::of(self.conn(), reach, &kinds, &[actor]).await?;
        Ok(names
            .remove(&actor)
            .map_or(Changer::Unnamed, Changer::Named))
    }
}

/// Whether the entry is about a change of anything else than this member.
fn changes_more(entry: &Recorded, besides: &str) -> bool {
    let details: Value = serde_json::from_str(entry.details.get()).unwrap_or_default();
    match details.get("changed").and_then(Value::as_object) {
        Some(changed) => changed.keys().any(|member| member != besides),
        None => true,
    }
}
