//! Reading tokens: one, or all within reach.

use domain::{
    id::{TeamId, TokenId},
    reach::Reach,
};
use sqlx::PgConnection;

use super::{Row, Token};
use crate::{Error, page::Page};

/// A token; none if there is none within reach.
pub async fn find(
    conn: &mut PgConnection,
    reach: Reach,
    token: TokenId,
) -> Result<Option<Token>, Error> {
    let row = sqlx::query_as!(
        Row,
        "
        select id, team_id, name, hint, scopes, creator, created_by, created_at, expires_at, disabled_at
        from management_tokens
        where id = $1 and ($2::uuid is null or team_id = $2)
        ",
        token.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.map(Token::from))
}

/// Tokens within reach, the oldest first: all, or those that one token created.
pub async fn list(
    conn: &mut PgConnection,
    reach: Reach,
    created_by: Option<TokenId>,
    page: Page,
) -> Result<Vec<Token>, Error> {
    let rows = sqlx::query_as!(
        Row,
        "
        select id, team_id, name, hint, scopes, creator, created_by, created_at, expires_at, disabled_at
        from management_tokens
        where ($1::uuid is null or team_id = $1) and ($2::uuid is null or id > $2)
            and ($4::uuid is null or created_by = $4)
        order by id
        limit $3
        ",
        reach.team().map(TeamId::as_uuid),
        page.after,
        page.limit,
        created_by.map(TokenId::as_uuid),
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(Token::from).collect())
}

/// Operators' tokens, the oldest first: those that belong to no team.
pub async fn of_operators(conn: &mut PgConnection, page: Page) -> Result<Vec<Token>, Error> {
    let rows = sqlx::query_as!(
        Row,
        "
        select id, team_id, name, hint, scopes, creator, created_by, created_at, expires_at, disabled_at
        from management_tokens
        where team_id is null and ($1::uuid is null or id > $1)
        order by id
        limit $2
        ",
        page.after,
        page.limit,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(Token::from).collect())
}
