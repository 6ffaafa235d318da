//! Disabling a token, or a token with all below it.

use domain::{
    actor::Actor,
    id::{TeamId, TokenId},
};
use sqlx::PgConnection;
use uuid::Uuid;

use super::authorisation::{Grant, LAST_GENERATION};
use crate::Error;

/// Which tokens to disable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The one that is named.
    One,
    /// The named one, every token that it created, and all that those created.
    Descendants,
}

/// Why nothing was disabled.
#[derive(Debug, thiserror::Error)]
pub enum NotDisabled {
    /// One of them may do more than the caller: it has this scope, which the caller does not have.
    #[error("the token {0} has a scope that the caller does not have")]
    Stronger(TokenId, String),
    /// The database could not be asked.
    #[error(transparent)]
    Store(#[from] Error),
}

/// A token that was disabled just now.
#[derive(Clone, Debug)]
pub struct Disabled {
    /// The token.
    pub id: TokenId,
    /// The team in which it acted; none for an operator's.
    pub team: Option<TeamId>,
    /// What it was called.
    pub name: String,
}

/// Disables a token, for ever, and with [`Extent::Descendants`] the tokens below it; returns those
/// that were not disabled before. A token may do this to itself and to tokens that may do no more
/// than itself; the command line may do it to all. The caller of this function checks which teams'
/// tokens are within reach. When it fails, roll the transaction back.
///
/// A token that is being created below one of them is not missed: its creator's row is locked until
/// it exists, so the update waits for it, and the next round finds it. There are at most as many
/// rounds as generations.
pub async fn disable(
    conn: &mut PgConnection,
    caller: &Grant,
    token: TokenId,
    extent: Extent,
) -> Result<Vec<Disabled>, NotDisabled> {
    let mut disabled = Vec::new();
    for _ in 0..=LAST_GENERATION {
        let round = disable_visible(conn, caller, token, extent).await?;
        let done = round.is_empty() || extent == Extent::One;
        for row in round {
            let id = TokenId::from(row.id);
            if let Some(scope) = row.beyond.into_iter().flatten().next() {
                return Err(NotDisabled::Stronger(id, scope));
            }
            disabled.push(Disabled {
                id,
                team: row.team_id.map(TeamId::from),
                name: row.name,
            });
        }
        if done {
            break;
        }
    }
    Ok(disabled)
}

struct DisabledRow {
    id: Uuid,
    team_id: Option<Uuid>,
    name: String,
    /// Its scopes that the caller does not have; a scope that only a newer version knows counts
    /// too.
    beyond: Option<Vec<String>>,
}

async fn disable_visible(
    conn: &mut PgConnection,
    caller: &Grant,
    token: TokenId,
    extent: Extent,
) -> Result<Vec<DisabledRow>, Error> {
    let of_person: Option<Vec<&str>> = match caller.actor {
        Actor::Member(_) => Some(caller.scopes.iter().map(|scope| scope.as_str()).collect()),
        Actor::Token(_) | Actor::CommandLine => None,
    };
    let rows = sqlx::query_as!(
        DisabledRow,
        r#"
        with recursive below as (
            select id from management_tokens where id = $2
            union
            select t.id from management_tokens t join below b on t.created_by = b.id where $3
        )
        update management_tokens t
        set disabled_at = now()
        -- A person has the scopes of the role. The command line has neither these nor a row, and so no scope that it lacks.
        from (select coalesce($4::text [], (select scopes from management_tokens where id = $1)) as scopes) c
        where t.id in (select id from below) and t.disabled_at is null
        returning t.id, t.team_id, t.name,
            case when t.id = $1 then '{}' else array(
                select s from unnest(t.scopes) as s where s <> all(c.scopes)
            ) end as "beyond: Vec<String>"
        "#,
        caller.actor.as_uuid(),
        token.as_uuid(),
        extent == Extent::Descendants,
        of_person.as_deref() as Option<&[&str]>,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows)
}
