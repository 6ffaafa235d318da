//! What a use case requires of its caller: scopes, teams, sites, a second factor, a recent password.

use chrono::TimeDelta;
use domain::{
    id::{SiteId, TeamId},
    reach::Reach,
    scope::Scope,
    sign_in_limits::RECENT,
};
use store::{person::session::Entered, site, team};

use super::Session;
use crate::{Forbidden, Noun, Refused, boxed};

impl Session {
    /// Whether the caller also has this scope.
    pub fn has(&self, scope: Scope) -> bool {
        self.begun.grant.scopes.contains(&scope)
    }

    fn lacks(&self, scope: Scope) -> Refused {
        match &self.begun.person {
            None => Refused::missing_scope(scope),
            Some(person) => Refused::beyond_own(person.role, scope),
        }
    }

    /// Refuses a person who gave the password more than 10 minutes ago. [`Session::require`] calls
    /// it for scopes that need it. Use cases call it if only some changes of a scope need it.
    ///
    /// # Errors
    /// The person must give the password again.
    pub fn require_recent_password(&self) -> Result<(), Refused> {
        match &self.begun.person {
            Some(person) => require_recent(person.held.password_age),
            None => Ok(()),
        }
    }

    /// The team of a site within the caller's reach.
    ///
    /// # Errors
    /// There is no such site.
    #[boxed]
    pub async fn require_site(&mut self, site: SiteId) -> Result<TeamId, Refused> {
        let team = site::team_of(self.conn(), site).await?;
        team.filter(|team| self.reach().covers(*team))
            .ok_or(Refused::NotFound(Noun::Site))
    }

    /// Whether the caller is a moderator who can decide on some sites only.
    pub fn has_own_sites(&self) -> bool {
        let person = self.person();
        person.is_some_and(|person| person.sites.is_some())
    }

    /// Refuses a moderator who cannot decide on this site.
    ///
    /// # Errors
    /// The moderator was not given this site.
    pub fn require_own_site(&self, site: SiteId) -> Result<(), Refused> {
        let sites = self.person().and_then(|person| person.sites.as_ref());
        if sites.is_none_or(|sites| sites.contains(&site)) {
            return Ok(());
        }
        Err(Refused::Forbidden(
            Forbidden::MissingScope,
            "You decide on other sites only: an admin of your team can give you this one.".into(),
        ))
    }

    /// Refuses a caller who does not have this scope, and a person who must give the password again
    /// to use it.
    ///
    /// # Errors
    /// The caller does not have the scope, or gave the password too long ago.
    pub fn require(&self, scope: Scope) -> Result<(), Refused> {
        if !self.has(scope) {
            return Err(self.lacks(scope));
        }
        if scope.needs_recent_password() {
            self.require_recent_password()?;
        }
        Ok(())
    }

    /// Refuses a team beyond the caller's reach, as if it did not exist.
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

    /// The team that the member `team_id` of a request names. If it names none, it is the team of
    /// the caller; `None` for operators.
    ///
    /// # Errors
    /// It does not exist or is beyond reach.
    #[boxed]
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

    /// Refuses callers who are not operators.
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
}

/// Refuses a session without the second factor, if the person has one or needs one.
pub(super) fn require_factor(person: &Entered) -> Result<(), Refused> {
    let held = &person.held;
    if held.has_given_factor {
        return Ok(());
    }
    if held.has_factor {
        return Err(factor_required());
    }
    if person.role.requires_factor() || person.team_requires_factor {
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

/// Refuses a person who gave the password longer ago than [`RECENT`].
pub(crate) fn require_recent(password_age: TimeDelta) -> Result<(), Refused> {
    if password_age <= RECENT {
        return Ok(());
    }
    Err(Refused::Forbidden(
        Forbidden::ReauthenticationRequired,
        "You gave your password more than 10 minutes ago: give it again first.".into(),
    ))
}
