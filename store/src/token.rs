//! Management tokens: who may use the management interface, and for what.

use chrono::{DateTime, Utc};
use domain::{
    id::{TeamId, TokenId},
    key::{ManagementToken, SecretHash},
    name::Name,
    plan::Limit,
    scope::Scope,
};
use sqlx::{PgConnection, PgPool, PgTransaction};
use uuid::Uuid;

use crate::{Error, page::Page, plan::limit};

/// What the holder of a valid token may do.
#[derive(Clone, Debug)]
pub struct Grant {
    /// The token.
    pub token: TokenId,
    /// The only team in which it may act; none for an operator's, which may act in all.
    pub team: Option<TeamId>,
    /// What it may do there.
    pub scopes: Vec<Scope>,
}

/// A token without its secret.
#[derive(Clone, Debug)]
pub struct Token {
    /// The token.
    pub id: TokenId,
    /// The only team in which it may act; none for an operator's.
    pub team: Option<TeamId>,
    /// What it is called.
    pub name: String,
    /// Its last four characters.
    pub hint: String,
    /// What it may do.
    pub scopes: Vec<Scope>,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// From when on it is not valid, if ever.
    pub expires_at: Option<DateTime<Utc>>,
    /// When it was disabled, if it was.
    pub disabled_at: Option<DateTime<Utc>>,
}

/// What a token is to be.
#[derive(Clone, Copy, Debug)]
pub struct NewToken<'a> {
    /// What it is called.
    pub name: &'a Name,
    /// The only team in which it may act; none for an operator's.
    pub team: Option<TeamId>,
    /// What it may do.
    pub scopes: &'a [Scope],
    /// From when on it is not valid, if ever.
    pub expires_at: Option<DateTime<Utc>>,
}

/// Begins a transaction in which the holder of a token looks at things, all of them as they are at one moment. None: the
/// token is unknown, disabled or expired.
pub async fn begin_reading(
    pool: &PgPool,
    hash: SecretHash,
) -> Result<Option<(PgTransaction<'static>, Grant)>, Error> {
    let mut tx = pool
        .begin_with("begin isolation level repeatable read, read only")
        .await?;
    let row = sqlx::query_as!(
        GrantRow,
        "
        select id, team_id, scopes
        from management_tokens
        where hash = $1 and disabled_at is null and (expires_at is null or expires_at > now())
        ",
        hash.as_bytes(),
    )
    .fetch_optional(&mut *tx)
    .await?;
    Ok(row.map(|row| (tx, row.into())))
}

/// Begins a transaction in which the holder of a token changes something. Who disables the token waits until it has ended,
/// so that nothing is changed in the name of a disabled one. None: the token is unknown, disabled or expired.
pub async fn begin_changing(
    pool: &PgPool,
    hash: SecretHash,
) -> Result<Option<(PgTransaction<'static>, Grant)>, Error> {
    let mut tx = pool.begin().await?;
    let row = sqlx::query_as!(
        GrantRow,
        "
        select id, team_id, scopes
        from management_tokens
        where hash = $1 and disabled_at is null and (expires_at is null or expires_at > now())
        for share
        ",
        hash.as_bytes(),
    )
    .fetch_optional(&mut *tx)
    .await?;
    Ok(row.map(|row| (tx, row.into())))
}

/// Creates a token; it is returned to be shown once. Run it in a transaction.
///
/// # Errors
/// [`Error::LimitReached`]: a team has so many tokens that work. Operators have no limit.
pub async fn create(
    conn: &mut PgConnection,
    new: NewToken<'_>,
) -> Result<(Token, ManagementToken), Error> {
    if let Some(team) = new.team {
        limit::require(conn, team, Limit::ManagementTokens).await?;
    }
    let secret = ManagementToken::generate(std::iter::repeat_with(rand::random));
    let hash = secret.hash();
    let scopes: Vec<&str> = new.scopes.iter().map(|scope| scope.as_str()).collect();
    let row = sqlx::query_as!(
        Row,
        "
        insert into management_tokens (id, team_id, name, hash, hint, scopes, expires_at)
        values ($1, $2, $3, $4, $5, $6, $7)
        returning id, team_id, name, hint, scopes, created_at, expires_at, disabled_at
        ",
        Uuid::now_v7(),
        new.team.map(TeamId::as_uuid),
        new.name.as_str(),
        hash.as_bytes(),
        secret.hint(),
        &scopes as &[&str],
        new.expires_at,
    )
    .fetch_one(conn)
    .await?;
    Ok((row.into(), secret))
}

/// A token; none if there is none, or if it is not of the team `of`.
pub async fn find(
    conn: &mut PgConnection,
    of: Option<TeamId>,
    token: TokenId,
) -> Result<Option<Token>, Error> {
    let row = sqlx::query_as!(
        Row,
        "
        select id, team_id, name, hint, scopes, created_at, expires_at, disabled_at
        from management_tokens
        where id = $1 and ($2::uuid is null or team_id = $2)
        ",
        token.as_uuid(),
        of.map(TeamId::as_uuid),
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.map(Token::from))
}

/// Tokens, the oldest first: all, or those of the team `of`.
pub async fn list(
    conn: &mut PgConnection,
    of: Option<TeamId>,
    page: Page,
) -> Result<Vec<Token>, Error> {
    let rows = sqlx::query_as!(
        Row,
        "
        select id, team_id, name, hint, scopes, created_at, expires_at, disabled_at
        from management_tokens
        where ($1::uuid is null or team_id = $1) and ($2::uuid is null or id > $2)
        order by id
        limit $3
        ",
        of.map(TeamId::as_uuid),
        page.after,
        page.limit,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(Token::from).collect())
}

/// Disables a token, for ever. False: it was disabled already.
pub async fn disable(conn: &mut PgConnection, token: TokenId) -> Result<bool, Error> {
    let disabled = sqlx::query!(
        "update management_tokens set disabled_at = now() where id = $1 and disabled_at is null",
        token.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(disabled.rows_affected() > 0)
}

struct GrantRow {
    id: Uuid,
    team_id: Option<Uuid>,
    scopes: Vec<String>,
}

impl From<GrantRow> for Grant {
    fn from(row: GrantRow) -> Self {
        Self {
            token: row.id.into(),
            team: row.team_id.map(TeamId::from),
            scopes: known(&row.scopes),
        }
    }
}

struct Row {
    id: Uuid,
    team_id: Option<Uuid>,
    name: String,
    hint: String,
    scopes: Vec<String>,
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
