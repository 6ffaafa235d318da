//! Management tokens: who may use the management interface, and for what.

mod grant;

use chrono::{DateTime, Utc};
use domain::{
    actor::Actor,
    id::{TeamId, TokenId},
    key::ManagementToken,
    name::Name,
    plan::Limit,
    reach::Reach,
    scope::Scope,
};
use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

pub use self::grant::{Grant, LAST_GENERATION, begin_changing, begin_reading};
use crate::{Error, page::Page, plan::limit};

/// A token without its secret. The audit log shows it as the management interface does.
#[derive(Clone, Debug, Serialize)]
pub struct Token {
    /// The token.
    pub id: TokenId,
    /// The only team in which it may act; none for an operator's.
    #[serde(rename = "team_id")]
    pub team: Option<TeamId>,
    /// What it is called.
    pub name: String,
    /// Its last four characters.
    pub hint: String,
    /// What it may do.
    pub scopes: Vec<Scope>,
    /// Who created it: `token` or `command_line`; none if that was not recorded.
    pub creator: Option<String>,
    /// The token that created it, if one did.
    pub created_by: Option<TokenId>,
    /// When it was created.
    #[serde(serialize_with = "domain::event::iso8601")]
    pub created_at: DateTime<Utc>,
    /// When it expires, if ever.
    #[serde(serialize_with = "domain::event::iso8601_or_null")]
    pub expires_at: Option<DateTime<Utc>>,
    /// When it was disabled, if it was.
    #[serde(serialize_with = "domain::event::iso8601_or_null")]
    pub disabled_at: Option<DateTime<Utc>>,
}

struct Row {
    id: Uuid,
    team_id: Option<Uuid>,
    name: String,
    hint: String,
    scopes: Vec<String>,
    creator: Option<String>,
    created_by: Option<Uuid>,
    created_at: DateTime<Utc>,
    expires_at: Option<DateTime<Utc>>,
    disabled_at: Option<DateTime<Utc>>,
}

impl From<Row> for Token {
    fn from(row: Row) -> Self {
        Self {
            id: row.id.into(),
            team: row.team_id.map(TeamId::from),
            name: row.name,
            hint: row.hint,
            scopes: known(&row.scopes),
            creator: row.creator,
            created_by: row.created_by.map(TokenId::from),
            created_at: row.created_at,
            expires_at: row.expires_at,
            disabled_at: row.disabled_at,
        }
    }
}

/// A scope that only a newer version knows allows nothing here.
fn known(scopes: &[String]) -> Vec<Scope> {
    scopes.iter().filter_map(|name| name.parse().ok()).collect()
}

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

/// The tokens that meet a condition.
macro_rules! select {
    ($conn:expr, $condition:literal, $($value:expr),+) => {
        sqlx::query_as!(
            Row,
            "
        select id, team_id, name, hint, scopes, creator, created_by, created_at, expires_at, disabled_at
        from management_tokens
        where "
                + $condition
                + "
        ",
            $($value),+
        )
        .fetch_all($conn)
        .await?
        .into_iter()
        .map(Token::from)
        .collect::<Vec<_>>()
    };
}

/// A token; none if there is none within reach.
pub async fn find(
    conn: &mut PgConnection,
    reach: Reach,
    token: TokenId,
) -> Result<Option<Token>, Error> {
    let mut found = select!(
        conn,
        "id = $1 and ($2::uuid is null or team_id = $2)",
        token.as_uuid(),
        reach.team().map(TeamId::as_uuid)
    );
    Ok(found.pop())
}

/// Tokens within reach, the oldest first: all, or those that one token created.
pub async fn list(
    conn: &mut PgConnection,
    reach: Reach,
    created_by: Option<TokenId>,
    page: Page,
) -> Result<Vec<Token>, Error> {
    Ok(select!(
        conn,
        "($1::uuid is null or team_id = $1) and ($2::uuid is null or id > $2)
            and ($4::uuid is null or created_by = $4)
        order by id
        limit $3",
        reach.team().map(TeamId::as_uuid),
        page.after,
        page.limit,
        created_by.map(TokenId::as_uuid)
    ))
}

/// Operators' tokens, the oldest first: those that belong to no team.
pub async fn of_operators(conn: &mut PgConnection, page: Page) -> Result<Vec<Token>, Error> {
    Ok(select!(
        conn,
        "team_id is null and ($1::uuid is null or id > $1)
        order by id
        limit $2",
        page.after,
        page.limit
    ))
}
