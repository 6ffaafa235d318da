//! The transaction in which a use case runs: who calls, what the caller may do, and what is recorded.

use chrono::TimeDelta;
use domain::{
    actor::Actor,
    audit::Action,
    id::{SiteId, TeamId},
    reach::Reach,
    scope::Scope,
    sign_in::RECENT,
};
use serde::Serialize;
use serde_json::{Map, Value, json};
use store::{
    PgConnection, PgTransaction,
    audit::{self, Entry},
    person::session::{self, Entered},
    team,
    token::{self, Grant},
};
use uuid::Uuid;

use crate::{Caller, Credential, Forbidden, Management, Noun, Refused};

impl Management {
    /// Begins what only looks. All of it sees one moment.
    ///
    /// # Errors
    /// The credential is not valid, lacks the scope, or has had its requests of this minute.
    pub async fn read(&self, caller: &Caller, scope: Scope) -> Result<Session, Refused> {
        let begun = self.begin_reading(caller).await?;
        self.admit(begun, caller, Some(scope))
    }

    /// Begins what changes something. Nothing is changed unless [`Session::commit`] is reached.
    ///
    /// # Errors
    /// The credential is not valid, lacks the scope, or has had its requests of this minute. A person must have given the
    /// password a short while ago where the scope asks for that.
    pub async fn change(&self, caller: &Caller, scope: Scope) -> Result<Session, Refused> {
        let begun = self.begin_changing(caller).await?;
        self.admit(begun, caller, Some(scope))
    }

    /// Begins what only looks at the caller itself, which asks for no scope.
    pub(crate) async fn read_own(&self, caller: &Caller) -> Result<Session, Refused> {
        let begun = self.begin_reading(caller).await?;
        self.admit(begun, caller, None)
    }

    /// Begins what changes the caller itself, which asks for no scope.
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

/// A transaction of somebody with a valid credential.
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

/// A session in which the second factor was not given may do nothing where one is needed, and where there is one.
fn require_factor(person: &Entered) -> Result<(), Refused> {
    let held = &person.held;
    if held.has_factor && !held.has_given_factor {
        return Err(factor_required());
    }
    if !held.has_factor && (person.role.requires_factor() || person.team_requires_factor) {
        return Err(factor_set_up_required());
    }
    Ok(())
}

pub(crate) fn factor_required() -> Refused {
    Refused::Forbidden(
        Forbidden::FactorRequired,
        "Give the code of your second factor first.".into(),
    )
}

pub(crate) fn factor_set_up_required() -> Refused {
    Refused::Forbidden(
        Forbidden::FactorSetUpRequired,
        "You need a second factor here: set one up first.".into(),
    )
}

/// Whether a person who gave the password so long ago must give it again to change what is delicate.
pub(crate) fn require_recent(password_age: TimeDelta) -> Result<(), Refused> {
    if password_age <= RECENT {
        return Ok(());
    }
    Err(Refused::Forbidden(
        Forbidden::ReauthenticationRequired,
        "You gave your password more than 10 minutes ago: give it again first.".into(),
    ))
}

/// A transaction of somebody who has the scope for it.
pub struct Session {
    tx: PgTransaction<'static>,
    grant: Grant,
    /// Who it is, if it is a person.
    person: Option<Entered>,
    request: Option<String>,
}

/// What was changed, for the audit log.
pub struct Change {
    /// What was done.
    pub action: Action,
    /// The team concerned; none where it concerns all.
    pub team: Option<TeamId>,
    /// The thing that was changed.
    pub target: Uuid,
    /// How: [`created`] or [`difference`] make it. Never a secret, never content.
    pub details: Value,
}

impl Session {
    /// Where statements run.
    pub fn conn(&mut self) -> &mut PgConnection {
        &mut self.tx
    }

    /// Who acts.
    pub fn actor(&self) -> Actor {
        self.grant.actor
    }

    /// What the caller may do, and until when.
    pub fn grant(&self) -> &Grant {
        &self.grant
    }

    /// The connection and the grant at once.
    pub fn parts(&mut self) -> (&mut PgConnection, &Grant) {
        (&mut self.tx, &self.grant)
    }

    /// In which teams the caller acts.
    pub fn reach(&self) -> Reach {
        self.grant.reach
    }

    /// The only team that the caller may know of; none for operators, who may know of all.
    pub fn only_team(&self) -> Option<TeamId> {
        self.grant.reach.team()
    }

    /// Whether the caller has this scope, too.
    pub fn has(&self, scope: Scope) -> bool {
        self.grant.scopes.contains(&scope)
    }

    fn lacks(&self, scope: Scope) -> Refused {
        match &self.person {
            None => Refused::missing_scope(scope),
            Some(person) => Refused::beyond_own(person.role, scope),
        }
    }

    /// The person who acts and the session; none if it is a token or the command line.
    pub(crate) fn person(&self) -> Option<&Entered> {
        self.person.as_ref()
    }

    /// Refuses a person who gave the password more than 10 minutes ago. [`Session::require`] asks for it where the scope does; use
    /// cases ask for it where only some changes of a scope are delicate.
    ///
    /// # Errors
    /// The person must give the password again.
    pub fn require_recent_password(&self) -> Result<(), Refused> {
        match &self.person {
            Some(person) => require_recent(person.held.password_age),
            None => Ok(()),
        }
    }

    /// Whether the caller is a moderator who may decide on some sites only.
    pub fn has_own_sites(&self) -> bool {
        let person = self.person.as_ref();
        person.is_some_and(|person| person.sites.is_some())
    }

    /// Refuses a moderator who may not decide on this site.
    ///
    /// # Errors
    /// The site is not one of those that were given to the moderator.
    pub fn require_own_site(&self, site: SiteId) -> Result<(), Refused> {
        let sites = self
            .person
            .as_ref()
            .and_then(|person| person.sites.as_ref());
        if sites.is_none_or(|sites| sites.contains(&site)) {
            return Ok(());
        }
        Err(Refused::Forbidden(
            Forbidden::MissingScope,
            "You decide on other sites only: an admin of your team can give you this one.".into(),
        ))
    }

    /// Refuses whoever does not have this scope, too, and a person who must give the password again to use it.
    ///
    /// # Errors
    /// The caller lacks the scope, or gave the password too long ago.
    pub fn require(&self, scope: Scope) -> Result<(), Refused> {
        if !self.has(scope) {
            return Err(self.lacks(scope));
        }
        if scope.needs_recent_password() {
            self.require_recent_password()?;
        }
        Ok(())
    }

    /// Refuses a team beyond the caller's reach, as one that does not exist.
    ///
    /// # Errors
    /// It is beyond reach.
    pub fn require_team(&self, team: TeamId) -> Result<(), Refused> {
        if self.reach().covers(team) {
            Ok(())
        } else {
            Err(Refused::NotFound(Noun::Team))
        }
    }

    /// The team that the member `team_id` of a request names, or the caller's own; none if an operator names none.
    ///
    /// # Errors
    /// It does not exist or is beyond reach.
    pub async fn named_team(&mut self, named: Option<TeamId>) -> Result<Option<TeamId>, Refused> {
        let Some(team) = named else {
            return Ok(self.only_team());
        };
        if self.reach().covers(team) && team::exists(self.conn(), team).await? {
            Ok(Some(team))
        } else {
            Err(Refused::field("team_id", "is no team"))
        }
    }

    /// Refuses whoever is no operator.
    ///
    /// # Errors
    /// The caller is not an operator.
    pub fn require_operator(&self) -> Result<(), Refused> {
        match self.reach() {
            Reach::Everything => Ok(()),
            Reach::Team(_) => Err(Refused::Forbidden(
                Forbidden::OperatorsOnly,
                "Only operators may do this: this token is a team's.".into(),
            )),
        }
    }

    /// Records the change and commits: both or neither.
    ///
    /// # Errors
    /// The database failed.
    pub async fn commit(self, change: Change) -> Result<(), Refused> {
        self.commit_all(vec![change]).await
    }

    /// Records all of these changes and commits, or does none of it. Without a change there is nothing to commit.
    ///
    /// # Errors
    /// The database failed.
    pub async fn commit_all(mut self, changes: Vec<Change>) -> Result<(), Refused> {
        for change in &changes {
            record(
                &mut self.tx,
                self.grant.actor,
                self.request.as_deref(),
                change,
            )
            .await?;
        }
        if !changes.is_empty() {
            self.tx.commit().await.map_err(store::Error::from)?;
        }
        Ok(())
    }

    /// Ends the transaction, for work that no transaction may wait for.
    pub fn leave(self) -> Doing {
        Doing {
            actor: self.grant.actor,
            request: self.request,
        }
    }
}

/// Work outside of a transaction, by somebody who was allowed to do it. It is recorded when it has ended.
pub struct Doing {
    actor: Actor,
    request: Option<String>,
}

impl Doing {
    /// A transaction for what follows from the work.
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

/// The details of a change: the members that differ before and after, under the names of the JSON interface. None if nothing
/// differs.
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
