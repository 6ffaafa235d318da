//! How a use case begins: the credential is looked up in the transaction, then the team's turn, the rate limit and the scope
//! are checked.

use std::mem;

use domain::{actor::Actor, id::TeamId, scope::Scope};
use store::{
    PgTransaction,
    person::session::{self, Entered},
    token::{self, Grant},
};

use super::{Caller, Credential, Lent, Session, require::require_factor};
use crate::{Conflict, Management, Refused, boxed, connection_shares::ConnectionShare};

impl Caller {
    /// Begins a use case that only reads. All its statements see the database at one moment.
    ///
    /// # Errors
    /// The credential is not valid, does not have the scope, or has used up its requests of this
    /// minute.
    #[boxed]
    pub async fn read(&self, scope: Scope) -> Result<Session, Refused> {
        let begun = self.begin_reading().await?;
        self.admit(begun, Some(scope))
    }

    /// Begins a use case that changes something. Nothing is changed without [`Session::commit`].
    ///
    /// # Errors
    /// The credential is not valid, does not have the scope, or has used up its requests of this
    /// minute; the team is closed. If the scope needs it, a person must have given the password in the
    /// last 10 minutes.
    #[boxed]
    pub async fn change(&self, scope: Scope) -> Result<Session, Refused> {
        let begun = self.begin_changing().await?;
        let session = self.admit(begun, Some(scope))?;
        if session.grant().is_closed && !scope.is_for_closed_teams() {
            return Err(Refused::conflict(
                Conflict::Closing,
                "The team is closed. What is left of it can be read, but not changed.",
            ));
        }
        Ok(session)
    }

    /// Begins a use case that reads the caller itself. It needs no scope.
    pub(crate) async fn read_own(&self) -> Result<Session, Refused> {
        let begun = self.begin_reading().await?;
        self.admit(begun, None)
    }

    /// Begins a use case that changes the caller itself. It needs no scope.
    pub(crate) async fn change_own(&self) -> Result<Session, Refused> {
        let begun = self.begin_changing().await?;
        self.admit(begun, None)
    }

    async fn begin_reading(&self) -> Result<Option<Lent>, Refused> {
        let credential = self.credential;
        let Some(snapshot) = &self.snapshot else {
            let begun = self.in_turn(For::Reading).await?;
            return Ok(begun.map(Lent::once));
        };
        let begun = match snapshot.take(credential) {
            Some(begun) => Some(begun),
            None => self.in_turn(For::Reading).await?,
        };
        Ok(begun.map(|begun| Lent::by(snapshot, credential, begun)))
    }

    async fn begin_changing(&self) -> Result<Option<Lent>, Refused> {
        if let Some(snapshot) = &self.snapshot {
            snapshot.end();
        }
        let begun = self.in_turn(For::Changing).await?;
        Ok(begun.map(Lent::once))
    }

    /// Begins when it is the turn of the caller's team. Nobody waits with a connection: a transaction that must wait is
    /// ended and begun again.
    async fn in_turn(&self, what: For) -> Result<Option<Begun>, Refused> {
        let Some(begun) = self.look_up(what).await? else {
            return Ok(None);
        };
        if begun.grant.actor == Actor::CommandLine {
            return Ok(Some(begun));
        }
        let holder = begun.grant.reach.team();
        let turns = &self.management.rate_limit.turns;
        if let Some(turn) = turns.at_once(holder) {
            return Ok(Some(begun.with(turn)));
        }
        drop(begun);
        let turn = turns.wait(holder).await?;
        let begun = self.look_up(what).await?;
        Ok(begun.map(|begun| begun.with(turn)))
    }

    async fn look_up(&self, what: For) -> Result<Option<Begun>, Refused> {
        match what {
            For::Reading => self.look_up_to_read().await,
            For::Changing => self.look_up_to_change().await,
        }
    }

    async fn look_up_to_read(&self) -> Result<Option<Begun>, Refused> {
        let pool = &self.management.pool;
        Ok(match self.credential {
            Credential::Token(hash) => token::begin_reading(pool, hash).await?.map(Begun::by_token),
            Credential::Session { hash, team } => {
                let mut begun = session::begin_reading(pool, hash, team).await?;
                if begun
                    .as_ref()
                    .is_some_and(|(_, person)| person.is_untouched)
                {
                    // This transaction cannot write, and nobody waits for a second connection with the first.
                    drop(begun);
                    session::touch(pool, hash).await?;
                    begun = session::begin_reading(pool, hash, team).await?;
                }
                begun.map(|begun| Begun::by_person(begun, team))
            }
            Credential::CommandLine => Some(Begun::by_token((
                self.management.begin().await?,
                Grant::command_line(),
            ))),
        })
    }

    async fn look_up_to_change(&self) -> Result<Option<Begun>, Refused> {
        let pool = &self.management.pool;
        Ok(match self.credential {
            Credential::Token(hash) => token::begin_changing(pool, hash)
                .await?
                .map(Begun::by_token),
            Credential::Session { hash, team } => {
                session::touch(pool, hash).await?;
                session::begin_changing(pool, hash, team)
                    .await?
                    .map(|begun| Begun::by_person(begun, team))
            }
            Credential::CommandLine => Some(Begun::by_token((
                self.management.begin().await?,
                Grant::command_line(),
            ))),
        })
    }

    fn admit(&self, begun: Option<Lent>, scope: Option<Scope>) -> Result<Session, Refused> {
        let mut begun = begun.ok_or(Refused::Unauthenticated)?;
        let was_admitted = mem::replace(&mut begun.is_admitted, true);
        let is_first = self.is_first() && !was_admitted;
        match self.credential {
            Credential::Token(hash) | Credential::Session { hash, .. } if is_first => {
                self.management.rate_limit.admit(hash, &begun.grant)?;
            }
            Credential::Token(_) | Credential::Session { .. } | Credential::CommandLine => {}
        }
        if let Some(person) = &begun.person {
            require_factor(person)?;
        }
        let session = Session {
            begun,
            request: self.request.clone(),
        };
        if let Some(scope) = scope {
            session.require(scope)?;
        }
        let problems = self.problems();
        if !problems.is_empty() {
            return Err(Refused::fields(problems));
        }
        Ok(session)
    }
}

impl Management {
    pub(crate) async fn begin(&self) -> Result<PgTransaction<'static>, Refused> {
        Ok(self.pool.begin().await.map_err(store::Error::from)?)
    }
}

/// What a transaction is for.
#[derive(Clone, Copy)]
enum For {
    Reading,
    Changing,
}

/// A transaction of a caller with a valid credential.
pub(super) struct Begun {
    pub(super) tx: PgTransaction<'static>,
    pub(super) grant: Grant,
    /// The person, if the caller is one.
    pub(super) person: Option<Entered>,
    /// Whether the request was counted.
    is_admitted: bool,
    /// Held until the transaction has ended. The command line has none.
    _turn: Option<ConnectionShare>,
}

impl Begun {
    fn by_token((tx, grant): (PgTransaction<'static>, Grant)) -> Self {
        Self {
            tx,
            grant,
            person: None,
            is_admitted: false,
            _turn: None,
        }
    }

    fn by_person((tx, person): (PgTransaction<'static>, Entered), team: Option<TeamId>) -> Self {
        let grant = Grant {
            actor: Actor::Member(person.member),
            reach: team.into(),
            scopes: person.role.scopes().to_vec(),
            // What a person creates outlasts the session.
            expires_at: None,
            generation: 0,
            is_closed: person.team_is_closed,
        };
        Self {
            tx,
            grant,
            person: Some(person),
            is_admitted: false,
            _turn: None,
        }
    }

    fn with(self, turn: ConnectionShare) -> Self {
        Self {
            _turn: Some(turn),
            ..self
        }
    }
}
