//! Sessions of the people of a team: list, end.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use domain::{
    audit::Action,
    id::{MemberId, SessionId},
    scope::Scope,
};
use serde_json::json;
pub use store::person::session::Listed;
use store::{
    page::Page,
    person::{self, session},
};

use super::{find, require_scopes_of};
use crate::{Caller, Noun, Refused, boxed, record};

/// Sessions of people within the caller's reach, the oldest first. A team sees those of people who
/// are in no other team.
///
/// # Errors
/// The caller may not do it.
#[boxed]
pub async fn list(caller: &Caller, page: Page) -> Result<Vec<Listed>, Refused> {
    let mut session = caller.read(Scope::PeopleRead).await?;
    let reach = session.reach();
    Ok(session::list(session.conn(), reach, None, page).await?)
}

/// The sessions of one person, the latest first. None: the person is also in a team beyond the caller's reach, so the
/// sessions are not the caller's business.
///
/// # Errors
/// The caller may not do it; there is no such person within reach.
#[boxed]
pub async fn of_person(caller: &Caller, member: MemberId) -> Result<Option<Vec<Listed>>, Refused> {
    let mut session = caller.read(Scope::PeopleRead).await?;
    let person = find(&mut session, member).await?;
    let only = session.only_team();
    let memberships = person::memberships(session.conn(), person.user).await?;
    if only.is_some() && memberships.iter().any(|one| one.team != only) {
        return Ok(None);
    }
    Ok(Some(session::of_user(session.conn(), person.user).await?))
}

/// When these people were here last. Nobody is in it who was not here lately: a session is forgotten some time after its
/// end. A team sees it of people who are in no other team.
///
/// # Errors
/// The caller may not do it.
#[boxed]
pub async fn last_used(
    caller: &Caller,
    members: &[MemberId],
) -> Result<HashMap<MemberId, DateTime<Utc>>, Refused> {
    let mut session = caller.read(Scope::PeopleRead).await?;
    let reach = session.reach();
    Ok(session::last_used(session.conn(), reach, members).await?)
}

/// Ends a session, at once. The person can sign in again; disable the person to prevent that.
///
/// # Errors
/// The caller may not do it, or lacks a scope of the person; there is no such session within reach.
#[boxed]
pub async fn end(caller: &Caller, ended: SessionId) -> Result<(), Refused> {
    let mut session = caller.change(Scope::PeopleWrite).await?;
    let reach = session.reach();
    let found = session::list(session.conn(), reach, Some(ended), Page::ONE).await?;
    let found = found.first().ok_or(Refused::NotFound(Noun::Session))?;
    let (user, team) = (found.user, found.team);
    for membership in person::memberships(session.conn(), user).await? {
        require_scopes_of(&session, membership.role)?;
    }
    if !session::end(session.conn(), user, ended).await? {
        return Err(Refused::NotFound(Noun::Session));
    }
    let details = json!({ "person_id": found.member });
    record(session, Action::SessionEnd, team, ended, details).await
}
