//! How a use case ends: its change is recorded in the audit log in the same transaction.

use domain::{actor::Actor, audit::Action, id::TeamId};
use serde::Serialize;
use serde_json::{Map, Value, json};
use store::{
    PgConnection, PgTransaction,
    audit::{self, Entry},
};
use uuid::Uuid;

use super::Session;
use crate::{Management, Refused};

/// What was changed, for the audit log.
pub struct Change {
    /// What was done.
    pub action: Action,
    /// The team that the change is about. `None` if it is about all teams.
    pub team: Option<TeamId>,
    /// The thing that was changed.
    pub target: Uuid,
    /// What exactly was done, from [`created`] or [`difference`]. It never contains secrets or
    /// content.
    pub details: Value,
}

impl Session {
    /// Records the change and commits, in one transaction.
    ///
    /// # Errors
    /// The database failed.
    pub async fn commit(self, change: Change) -> Result<(), Refused> {
        self.commit_all(vec![change]).await
    }

    /// Records all these changes and commits, in one transaction. Without a change, nothing is
    /// committed.
    ///
    /// # Errors
    /// The database failed.
    pub async fn commit_all(mut self, changes: Vec<Change>) -> Result<(), Refused> {
        for change in &changes {
            let begun = &mut *self.begun;
            record(
                &mut begun.tx,
                begun.grant.actor,
                self.request.as_deref(),
                change,
            )
            .await?;
        }
        if !changes.is_empty() {
            let begun = self.begun.keep();
            begun.tx.commit().await.map_err(store::Error::from)?;
        }
        Ok(())
    }

    /// Records a change of something that has no id of its own, and commits, in one transaction.
    ///
    /// # Errors
    /// The database failed.
    pub async fn commit_without_target(
        mut self,
        action: Action,
        team: Option<TeamId>,
        details: &Value,
    ) -> Result<(), Refused> {
        let entry = Entry {
            actor: self.actor(),
            action,
            team,
            target: None,
            details,
            request_id: self.request.as_deref(),
        };
        audit::record(&mut self.begun.tx, entry).await?;
        let begun = self.begun.keep();
        begun.tx.commit().await.map_err(store::Error::from)?;
        Ok(())
    }

    /// Commits without an entry in the audit log. Only for what nobody sets up or decides: leases of
    /// reviews.
    ///
    /// # Errors
    /// The database failed.
    pub(crate) async fn commit_unrecorded(self) -> Result<(), Refused> {
        let begun = self.begun.keep();
        begun.tx.commit().await.map_err(store::Error::from)?;
        Ok(())
    }

    /// Ends the transaction, before work that takes too long for a transaction.
    pub fn leave(self) -> Doing {
        let doing = Doing {
            actor: self.actor(),
            request: self.request.clone(),
        };
        self.end();
        doing
    }
}

/// Work outside of a transaction, by a caller who was allowed to do it. It is recorded when it has
/// ended.
pub struct Doing {
    actor: Actor,
    request: Option<String>,
}

impl Doing {
    /// A transaction for the results of the work.
    ///
    /// # Errors
    /// The database failed.
    pub async fn begin(&self, management: &Management) -> Result<PgTransaction<'static>, Refused> {
        management.begin().await
    }

    /// Records what was done, whether or not the credential is still valid, and commits.
    ///
    /// # Errors
    /// The database failed.
    pub async fn done(self, mut tx: PgTransaction<'static>, change: Change) -> Result<(), Refused> {
        record(&mut tx, self.actor, self.request.as_deref(), &change).await?;
        tx.commit().await.map_err(store::Error::from)?;
        Ok(())
    }
}

async fn record(
    conn: &mut PgConnection,
    actor: Actor,
    request_id: Option<&str>,
    change: &Change,
) -> Result<(), store::Error> {
    let entry = Entry {
        actor,
        action: change.action,
        team: change.team,
        target: Some(change.target),
        details: &change.details,
        request_id,
    };
    audit::record(conn, entry).await
}

/// The details of something new: its members as the JSON interface shows them.
pub fn created(thing: &impl Serialize) -> Value {
    json!({ "created": thing })
}

/// The details of a change: the members that differ before and after, under the names of the JSON
/// interface. `None` if nothing differs.
pub fn difference(before: &impl Serialize, after: &impl Serialize) -> Option<Value> {
    let members = |thing| match thing {
        Ok(Value::Object(members)) => members,
        Ok(_) | Err(_) => Map::new(),
    };
    let before = members(serde_json::to_value(before));
    let changed: Map<String, Value> = members(serde_json::to_value(after))
        .into_iter()
        .filter(|(name, to)| before.get(name) != Some(to))
        .map(|(name, to)| {
            let from = before.get(&name).cloned().unwrap_or_default();
            (name, json!({ "from": from, "to": to }))
        })
        .collect();
    (!changed.is_empty()).then(|| json!({ "changed": changed }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_has_the_changed_members_only() {
        let before = json!({ "name": "a", "limit": 1, "note": null });
        let after = json!({ "name": "a", "limit": null, "note": "x" });
        assert_eq!(difference(&before, &before), None);
        assert_eq!(
            difference(&before, &after),
            Some(json!({ "changed": {
                "limit": { "from": 1, "to": null },
                "note": { "from": null, "to": "x" },
            } }))
        );
    }
}
