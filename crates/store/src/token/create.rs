//! Creating a token.

use chrono::{DateTime, Utc};
use domain::{
    actor::Actor, id::TeamId, key::ManagementToken, name::Name, plan::Limit, scope::Scope,
};
use sqlx::PgConnection;
use uuid::Uuid;

use super::{Row, Token, authorisation::Grant};
use crate::{Error, plan::limit};

/// A token to create.
#[derive(Clone, Copy, Debug)]
pub struct NewToken<'a> {
    /// What it is called.
    pub name: &'a Name,
    /// The only team in which it may act; none for an operator's.
    pub team: Option<TeamId>,
    /// What it may do.
    pub scopes: &'a [Scope],
    /// When it expires, if ever.
    pub expires_at: Option<DateTime<Utc>>,
}

/// Creates a token; its secret is returned so that it can be shown once. The caller checks what the
/// creator may give. Run it in a transaction.
///
/// # Errors
/// [`Error::LimitReached`]: a team has so many tokens that work. Operators have no limit.
pub async fn create(
    conn: &mut PgConnection,
    creator: &Grant,
    new: NewToken<'_>,
) -> Result<(Token, ManagementToken), Error> {
    if let Some(team) = new.team {
        limit::require(conn, team, Limit::ManagementTokens).await?;
    }
    let generation = match creator.actor {
        Actor::Token(_) => creator.generation.saturating_add(1),
        Actor::Member(_) | Actor::CommandLine => 0,
    };
    let secret = ManagementToken::generate(std::iter::repeat_with(rand::random));
    let hash = secret.hash();
    let scopes: Vec<&str> = new.scopes.iter().map(|scope| scope.as_str()).collect();
    let row = sqlx::query_as!(
        Row,
        "
        insert into management_tokens
            (id, team_id, name, hash, hint, scopes, expires_at, creator, created_by, generation)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        returning id, team_id, name, hint, scopes, creator, created_by, created_at, expires_at, disabled_at
        ",
        Uuid::now_v7(),
        new.team.map(TeamId::as_uuid),
        new.name.as_str(),
        hash.as_bytes(),
        secret.hint(),
        &scopes as &[&str],
        new.expires_at,
        creator.actor.kind(),
        creator.actor.as_uuid(),
        i16::try_from(generation).unwrap_or(i16::MAX),
    )
    .fetch_one(conn)
    .await?;
    Ok((row.into(), secret))
}
