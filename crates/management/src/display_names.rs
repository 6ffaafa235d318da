//! The names of things that the audit log and other records know by their ids only.

use std::collections::HashMap;

use domain::scope::Scope;
use store::names::{self, Kind};
use uuid::Uuid;

use crate::{Caller, Refused, boxed};

/// The names of those people, tokens, teams and sites among `ids` that the caller may see. So a team does not learn the
/// name of an operator.
///
/// # Errors
/// The credential is not valid.
#[boxed]
pub async fn of(caller: &Caller, ids: &[Uuid]) -> Result<HashMap<Uuid, String>, Refused> {
    let mut session = caller.read_own().await?;
    let kinds: Vec<Kind> = [
        (Kind::People, Scope::PeopleRead),
        (Kind::Tokens, Scope::TokensRead),
        (Kind::Teams, Scope::TeamsRead),
        (Kind::Sites, Scope::SitesRead),
    ]
    .into_iter()
    .filter(|(_, scope)| session.has(*scope))
    .map(|(kind, _)| kind)
    .collect();
    let reach = session.reach();
    Ok(names::of(session.conn(), reach, &kinds, ids).await?)
}
