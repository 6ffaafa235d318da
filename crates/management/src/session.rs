//! The transaction in which a use case runs: who calls, what the caller can do, and what is recorded.

mod begin;
mod record;
mod require;
mod snapshot;

use domain::{actor::Actor, id::TeamId, reach::Reach};
use store::{PgConnection, person::session::Entered, token::Grant};

pub use record::{Change, Doing, created, difference};
pub(crate) use require::{factor_required, factor_set_up_required, require_recent};
use snapshot::Lent;
pub use snapshot::Snapshot;

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
