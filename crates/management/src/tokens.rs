//! Tokens: list, create, read, disable.

use chrono::{DateTime, SecondsFormat, Utc};
use domain::{
    actor::Actor,
    audit::Action,
    id::{TeamId, TokenId},
    key::ManagementToken,
    name::Name,
    scope::Scope,
};
use serde_json::json;
pub use store::token::{Extent, Token};
use store::{
    page::Page,
    person::one_time_link,
    token::{self, LAST_GENERATION, NotDisabled},
};

use crate::{Caller, Change, Conflict, Forbidden, Noun, Refused, Session, boxed, created};

/// A token that was just created.
#[derive(Debug)]
pub struct IssuedToken {
    /// The token.
    pub token: Token,
    /// The token itself. It is shown once.
    pub secret: ManagementToken,
}

/// Tokens within the caller's reach, the oldest first: all of them, or those that one token
/// created.
///
/// # Errors
/// The caller may not do it.
#[boxed]
pub async fn list(
    caller: &Caller,
    created_by: Option<TokenId>,
    page: Page,
) -> Result<Vec<Token>, Refused> {
    let mut session = caller.read(Scope::TokensRead).await?;
    let reach = session.reach();
    Ok(token::list(session.conn(), reach, created_by, page).await?)
}

/// Operators' tokens, the oldest first.
///
/// # Errors
/// The caller may not do it, or is not an operator.
#[boxed]
pub async fn of_operators(caller: &Caller, page: Page) -> Result<Vec<Token>, Refused> {
    let mut session = caller.read(Scope::TokensRead).await?;
    session.require_operator()?;
    Ok(token::of_operators(session.conn(), page).await?)
}

/// A token.
///
/// # Errors
/// The caller may not do it; there is no such token within reach.
#[boxed]
pub async fn get(caller: &Caller, token: TokenId) -> Result<Token, Refused> {
    let mut session = caller.read(Scope::TokensRead).await?;
    find(&mut session, token).await
}

/// Creates a token. It cannot do more than its creator, and cannot expire later.
///
/// # Errors
/// The caller may not do it, or does not have one of the scopes; there is no such team within
/// reach; the expiry is not in the future, or after the caller's own; too many tokens stand above
/// this one; the plan allows no further token.
#[boxed]
pub async fn create(caller: &Caller, new: &NewToken) -> Result<IssuedToken, Refused> {
    let mut session = caller.change(Scope::TokensWrite).await?;
    let (issued, change) = add(&mut session, new).await?;
    session.commit(change).await?;
    Ok(issued)
}

/// Creates a token in a session that has the scope for it.
pub(crate) async fn add(
    session: &mut Session,
    new: &NewToken,
) -> Result<(IssuedToken, Change), Refused> {
    let scopes = scopes(session, new)?;
    let team = session.named_team(new.team).await?;
    let expires_at = expires_at(session, new)?;
    if session.grant().generation >= LAST_GENERATION {
        return Err(Refused::conflict(
            Conflict::LimitReached,
            format!(
                "{LAST_GENERATION} tokens stand above this one, each created by the next: create it with one of those, or \
                 with `gatehouse admin create-token`."
            ),
        ));
    }
    let wanted = token::NewToken {
        name: &new.name,
        team,
        scopes: &scopes,
        expires_at,
    };
    let (conn, grant) = session.parts();
    let (token, secret) = token::create(conn, grant, wanted).await?;
    let change = Change::new(Action::TokenCreate, team, token.id, created(&token));
    Ok((IssuedToken { token, secret }, change))
}

/// Disables a token at once and for good. [`Extent::Descendants`] also disables the tokens that it
/// created, and those that they created. Open invitations and links to a new password that they
/// have made stop working. A token that is already disabled stays as it is. The audit log gets an
/// entry for each token that was disabled.
///
/// # Errors
/// The caller may not do it; there is no such token within reach; one of the tokens has a scope
/// that the caller does not have.
#[boxed]
pub async fn disable(caller: &Caller, token: TokenId, extent: Extent) -> Result<(), Refused> {
    let mut session = caller.change(Scope::TokensWrite).await?;
    let token = find(&mut session, token).await?;
    let (conn, own) = session.parts();
    let disabled = token::disable(conn, own, token.id, extent).await;
    let disabled = disabled.map_err(|error| not_disabled(error, token.id))?;
    let actors: Vec<Actor> = disabled
        .iter()
        .map(|token| Actor::Token(token.id))
        .collect();
    one_time_link::cancel_made_by(conn, &actors).await?;
    let changes = disabled.into_iter().map(|disabled| {
        let details = if disabled.id == token.id {
            json!({ "name": disabled.name })
        } else {
            json!({ "name": disabled.name, "with": token.id })
        };
        Change::new(Action::TokenDisable, disabled.team, disabled.id, details)
    });
    session.commit_all(changes.collect()).await
}

async fn find(session: &mut Session, token: TokenId) -> Result<Token, Refused> {
    let reach = session.reach();
    let token = token::find(session.conn(), reach, token).await?;
    token.ok_or(Refused::NotFound(Noun::Token))
}

fn not_disabled(error: NotDisabled, asked: TokenId) -> Refused {
    let detail = match error {
        NotDisabled::Stronger(token, scope) if token == asked => format!(
            "This token does not have the scope {scope}, which the token to be disabled has: use one that has all of its \
             scopes."
        ),
        NotDisabled::Stronger(token, scope) => format!(
            "This token does not have the scope {scope}, which the token {token} below the one to be disabled has: use \
             one that has all of its scopes. Nothing was disabled."
        ),
        NotDisabled::Store(error) => return error.into(),
    };
    Refused::Forbidden(Forbidden::MissingScope, detail.into())
}

/// A token to create.
#[derive(Debug)]
pub struct NewToken {
    /// What it is called.
    pub name: Name,
    /// The team in which it acts. `None`: the team of the caller. If an operator names no team, the
    /// new token is an operator's token.
    pub team: Option<TeamId>,
    /// What it can do: only scopes that the caller has.
    pub scopes: Vec<Scope>,
    /// When it expires, at the latest when the caller does. `None`: when the caller does.
    pub expires_at: Option<DateTime<Utc>>,
}

/// The scopes of a new token, each once. There must be at least one, and the caller must have all
/// of them.
fn scopes(session: &Session, new: &NewToken) -> Result<Vec<Scope>, Refused> {
    let mut scopes = new.scopes.clone();
    scopes.sort_unstable();
    scopes.dedup();
    if scopes.is_empty() {
        return Err(Refused::field("scopes", "must have at least one"));
    }
    match scopes.iter().find(|scope| !session.has(**scope)) {
        Some(lacking) => Err(Refused::missing_scope(*lacking)),
        None => Ok(scopes),
    }
}

/// When a new token expires: in the future, and not after the caller does.
fn expires_at(session: &Session, new: &NewToken) -> Result<Option<DateTime<Utc>>, Refused> {
    if new.expires_at.is_some_and(|at| at <= Utc::now()) {
        return Err(Refused::field("expires_at", "must be in the future"));
    }
    session
        .grant()
        .expiry_of_child(new.expires_at)
        .map_err(|own| {
            let own = own.to_rfc3339_opts(SecondsFormat::Micros, true);
            let message =
                format!("must not be after {own}, when the token that creates it expires");
            Refused::field("expires_at", message)
        })
}
