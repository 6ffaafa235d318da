//! The transaction in which a use case runs: who calls, what the caller can do, and what is recorded.

mod begin;
mod caller;
mod require;

use std::{
    ops::{Deref, DerefMut},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use domain::{actor::Actor, audit::Action, id::TeamId, reach::Reach};
use serde::Serialize;
use serde_json::{Map, Value, json};
use store::{
    PgConnection, PgTransaction,
    audit::{self, Entry},
    person::session::Entered,
    token::Grant,
};
use uuid::Uuid;

use self::begin::Begun;
use super::{Management, Refused};
use crate::boxed;

pub use self::caller::{AnonymousCaller, Caller, Credential};
pub(crate) use self::require::{factor_required, factor_set_up_required, require_recent};

/// A transaction of a caller who has the scope for it.
pub struct Session {
    begun: Lent,
    request: Option<String>,
}

impl Session {
    /// The connection that statements run on.
    pub fn conn(&mut self) -> &mut PgConnection {
        &mut self.begun.tx
    }

    /// The actor, for the audit log.
    pub fn actor(&self) -> Actor {
        self.begun.grant.actor
    }

    /// What the caller can do, and until when.
    pub fn grant(&self) -> &Grant {
        &self.begun.grant
    }

    /// The connection and the grant at once.
    pub fn parts(&mut self) -> (&mut PgConnection, &Grant) {
        let begun = &mut *self.begun;
        (&mut begun.tx, &begun.grant)
    }

    /// The teams in which the caller acts.
    pub fn reach(&self) -> Reach {
        self.begun.grant.reach
    }

    /// The only team that the caller can see. `None` for operators, who see all teams.
    pub fn only_team(&self) -> Option<TeamId> {
        self.begun.grant.reach.team()
    }

    /// The person and the session. `None` for a token and for the command line.
    pub(crate) fn person(&self) -> Option<&Entered> {
        self.begun.person.as_ref()
    }

    /// Ends the transaction for good, before work that takes too long for a transaction. A session
    /// that is only dropped may go on in the next use case of its request.
    pub(crate) fn end(self) {
        drop(self.begun.keep());
    }
}

/// The transaction in which a request reads. It begins with the first use case. It ends when this is dropped, when a use
/// case ends it before work that takes long, or when the request changes something.
#[derive(Default)]
pub struct Snapshot(Mutex<Option<(Credential, Begun)>>);

impl Snapshot {
    /// The transaction, if it has begun for this credential and no use case has it now. The transaction of another
    /// credential is ended, so that no request waits for a second connection while it holds the first.
    fn take(&self, credential: Credential) -> Option<Begun> {
        let (of, begun) = self.lock().take()?;
        (of == credential).then_some(begun)
    }

    /// Ends the transaction.
    fn end(&self) {
        let ended = self.lock().take();
        drop(ended);
    }

    fn give_back(&self, credential: Credential, begun: Begun) {
        let earlier = self.lock().replace((credential, begun));
        drop(earlier);
    }

    fn lock(&self) -> MutexGuard<'_, Option<(Credential, Begun)>> {
        // Nothing panics while it is locked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A transaction that a use case has. When the use case is done, the request's snapshot gets it back, if there is one.
struct Lent {
    begun: Option<Begun>,
    by: Option<(Arc<Snapshot>, Credential)>,
}

impl Lent {
    /// A transaction that ends with its use case.
    fn once(begun: Begun) -> Self {
        Self {
            begun: Some(begun),
            by: None,
        }
    }

    /// A transaction that the next use case gets, too.
    fn by(snapshot: &Arc<Snapshot>, credential: Credential, begun: Begun) -> Self {
        Self {
            begun: Some(begun),
            by: Some((Arc::clone(snapshot), credential)),
        }
    }

    /// Keeps the transaction from the next use case.
    fn keep(mut self) -> Begun {
        self.begun.take().expect(HAS_ONE)
    }
}

/// Only [`Lent::keep`] and the end take the transaction out.
const HAS_ONE: &str = "a use case has its transaction until it ends";

impl Deref for Lent {
    type Target = Begun;

    fn deref(&self) -> &Begun {
        self.begun.as_ref().expect(HAS_ONE)
    }
}

impl DerefMut for Lent {
    fn deref_mut(&mut self) -> &mut Begun {
        self.begun.as_mut().expect(HAS_ONE)
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let (Some(begun), Some((snapshot, credential))) = (self.begun.take(), &self.by) {
            snapshot.give_back(*credential, begun);
        }
    }
}

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

impl Change {
    /// A change of this thing, which belongs to this team.
    pub fn new(
        action: Action,
        team: impl Into<Option<TeamId>>,
        target: impl Into<Uuid>,
        details: Value,
    ) -> Self {
        Self {
            action,
            team: team.into(),
            target: target.into(),
            details,
        }
    }
}

/// Records a change of this thing, which belongs to this team, and commits.
pub(crate) async fn record(
    session: Session,
    action: Action,
    team: impl Into<Option<TeamId>>,
    target: impl Into<Uuid>,
    details: Value,
) -> Result<(), Refused> {
    let change = Change::new(action, team, target, details);
    session.commit(change).await
}

impl Session {
    /// Records the change and commits, in one transaction.
    ///
    /// # Errors
    /// The database failed.
    #[boxed]
    pub async fn commit(self, change: Change) -> Result<(), Refused> {
        self.commit_all(vec![change]).await
    }

    /// Records all these changes and commits, in one transaction. Without a change, nothing is
    /// committed.
    ///
    /// # Errors
    /// The database failed.
    #[boxed]
    pub async fn commit_all(mut self, changes: Vec<Change>) -> Result<(), Refused> {
        for change in &changes {
            let begun = &mut *self.begun;
            let request = self.request.as_deref();
            enter(&mut begun.tx, begun.grant.actor, request, change).await?;
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
    #[boxed]
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
    #[boxed]
    pub async fn begin(&self, management: &Management) -> Result<PgTransaction<'static>, Refused> {
        management.begin().await
    }

    /// Records what was done, whether or not the credential is still valid, and commits.
    ///
    /// # Errors
    /// The database failed.
    #[boxed]
    pub async fn done(self, mut tx: PgTransaction<'static>, change: Change) -> Result<(), Refused> {
        enter(&mut tx, self.actor, self.request.as_deref(), &change).await?;
        tx.commit().await.map_err(store::Error::from)?;
        Ok(())
    }
}

/// Writes a change into the audit log.
async fn enter(
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
