//! The transaction in which a use case runs: who calls, what the caller can do, and what is recorded.

mod begin;
mod record;
mod require;

use domain::{actor::Actor, id::TeamId, reach::Reach};
use store::{PgConnection, PgTransaction, person::session::Entered, token::Grant};

pub use record::{Change, Doing, created, difference};
pub(crate) use require::{factor_required, factor_set_up_required, require_recent};

/// A transaction of a caller who has the scope for it.
pub struct Session {
    tx: PgTransaction<'static>,
    grant: Grant,
    /// The person, if the caller is one.
    person: Option<Entered>,
    request: Option<String>,
}

impl Session {
    /// The connection that statements run on.
    pub fn conn(&mut self) -> &mut PgConnection {
        &mut self.tx
    }

    /// The actor, for the audit log.
    pub fn actor(&self) -> Actor {
        self.grant.actor
    }

    /// What the caller can do, and until when.
    pub fn grant(&self) -> &Grant {
        &self.grant
    }

    /// The connection and the grant at once.
    pub fn parts(&mut self) -> (&mut PgConnection, &Grant) {
        (&mut self.tx, &self.grant)
    }

    /// The teams in which the caller acts.
    pub fn reach(&self) -> Reach {
        self.grant.reach
    }

    /// The only team that the caller can see. `None` for operators, who see all teams.
    pub fn only_team(&self) -> Option<TeamId> {
        self.grant.reach.team()
    }

    /// The person and the session. `None` for a token and for the command line.
    pub(crate) fn person(&self) -> Option<&Entered> {
        self.person.as_ref()
    }
}
