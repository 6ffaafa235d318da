//! How a use case begins: the credential is looked up in the transaction, then the pace and the scope are checked.

use domain::{actor::Actor, id::TeamId, scope::Scope};
use store::{
    PgTransaction,
    person::session::{self, Entered},
    token::{self, Grant},
};

use super::{Session, require::require_factor};
use crate::{Caller, Credential, Management, Refused};

impl Management {
    /// Begins a use case that only reads. All its statements see the database at one moment.
    ///
    /// # Errors
    /// The credential is not valid, does not have the scope, or has used up its requests of this
    /// minute.
    pub async fn read(&self, caller: &Caller, scope: Scope) -> Result<Session, Refused> {
        let begun = self.begin_reading(caller).await?;
        self.admit(begun, caller, Some(scope))
    }

    /// Begins a use case that changes something. Nothing is changed without [`Session::commit`].
    ///
    /// # Errors
    /// The credential is not valid, does not have the scope, or has used up its requests of this
    /// minute. If the scope needs it, a person must have given the password in the last 10 minutes.
    pub async fn change(&self, caller: &Caller, scope: Scope) -> Result<Session, Refused> {
        let begun = self.begin_changing(caller).await?;
        self.admit(begun, caller, Some(scope))
    }

    /// Begins a use case that reads the caller itself. It needs no scope.
    pub(crate) async fn read_own(&self, caller: &Caller) -> Result<Session, Refused> {
        let begun = self.begin_reading(caller).await?;
        self.admit(begun, caller, None)
    }

    /// Begins a use case that changes the caller itself. It needs no scope.
    pub(crate) async fn change_own(&self, caller: &Caller) -> Result<Session, Refused> {
        let begun = self.begin_changing(caller).await?;
        self.admit(begun, caller, None)
    }

    async fn begin_reading(&self, caller: &Caller) -> Result<Option<Begun>, Refused> {
        Ok(match caller.credential {
            Credential::Token(hash) => token::begin_reading(&self.pool, hash)
                .await?
                .map(Begun::by_token),
            Credential::Session { hash, team } => {
                session::touch(&self.pool, hash).await?;
                session::begin_reading(&self.pool, hash, team)
                    .await?
                    .map(|begun| Begun::by_person(begun, team))
            }
            Credential::CommandLine => Some(Begun::by_token((
                self.begin().await?,
                Grant::command_line(),
            ))),
        })
    }

    async fn begin_changing(&self, caller: &Caller) -> Result<Option<Begun>, Refused> {
        Ok(match caller.credential {
            Credential::Token(hash) => token::begin_changing(&self.pool, hash)
                .await?
                .map(Begun::by_token),
            Credential::Session { hash, team } => {
                session::touch(&self.pool, hash).await?;
                session::begin_changing(&self.pool, hash, team)
                    .await?
                    .map(|begun| Begun::by_person(begun, team))
            }
            Credential::CommandLine => Some(Begun::by_token((
                self.begin().await?,
                Grant::command_line(),
            ))),
        })
    }

    pub(crate) async fn begin(&self) -> Result<PgTransaction<'static>, Refused> {
        Ok(self.pool.begin().await.map_err(store::Error::from)?)
    }

    fn admit(
        &self,
        begun: Option<Begun>,
        caller: &Caller,
        scope: Option<Scope>,
    ) -> Result<Session, Refused> {
        let Begun { tx, grant, person } = begun.ok_or(Refused::Unauthenticated)?;
        match caller.credential {
            Credential::Token(hash) | Credential::Session { hash, .. } if caller.is_first() => {
                self.pace.admit(hash, &grant)?;
            }
            Credential::Token(_) | Credential::Session { .. } | Credential::CommandLine => {}
        }
        if let Some(person) = &person {
            require_factor(person)?;
        }
        let session = Session {
            tx,
            grant,
            person,
            request: caller.request.clone(),
        };
        if let Some(scope) = scope {
            session.require(scope)?;
        }
        let problems = caller.problems();
        if !problems.is_empty() {
            return Err(Refused::fields(problems));
        }
        Ok(session)
    }
}

/// A transaction of a caller with a valid credential.
struct Begun {
    tx: PgTransaction<'static>,
    grant: Grant,
    person: Option<Entered>,
}

impl Begun {
    fn by_token((tx, grant): (PgTransaction<'static>, Grant)) -> Self {
        Self {
            tx,
            grant,
            person: None,
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
        };
        Self {
            tx,
            grant,
            person: Some(person),
        }
    }
}
