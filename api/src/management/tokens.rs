//! Tokens: list, create, read, disable.

use std::sync::Arc;

use chrono::Utc;
use domain::{
    audit::Action,
    id::{TeamId, TokenId},
    name::Name,
    scope::Scope,
};
use poem::web::Data;
use poem_openapi::{Object, OpenApi};
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::token::{self, NewToken as Wanted};
use uuid::Uuid;

use super::{
    Management, PREFIX, Tag,
    document::{Operation, example},
    list::{Cursor, Limit, List, Part},
    session::{Caller, Change, Session, created, missing_scope},
};
use crate::{
    answer::{Created, Json, NoContent},
    member::{Member, Time},
    path::Path,
    payload::JsonBody,
    problem::{Code, Refusal},
    query::Query,
};

/// A management token, without its secret.
#[derive(Serialize, Object)]
pub(super) struct Token {
    /// The token.
    id: Uuid,
    /// The team in which it acts; null for an operator's, which acts in all.
    #[oai(nullable)]
    team_id: Option<Uuid>,
    /// What it is called; two may be called the same.
    name: String,
    /// Its last four characters.
    hint: String,
    /// What it may do.
    scopes: Vec<Member<Scope>>,
    /// When it was created.
    created_at: Member<Time>,
    /// From when on it is not valid; null if it is for ever.
    #[oai(nullable)]
    expires_at: Option<Member<Time>>,
    /// When it was disabled; null if it was not.
    #[oai(nullable)]
    disabled_at: Option<Member<Time>>,
}

impl From<token::Token> for Token {
    fn from(token: token::Token) -> Self {
        Self {
            id: token.id.as_uuid(),
            team_id: token.team.map(TeamId::as_uuid),
            name: token.name,
            hint: token.hint,
            scopes: token.scopes.into_iter().map(Member).collect(),
            created_at: token.created_at.into(),
            expires_at: token.expires_at.map(Member::from),
            disabled_at: token.disabled_at.map(Member::from),
        }
    }
}

/// A new token, with its secret.
#[derive(Serialize, Object)]
pub(super) struct IssuedToken {
    /// The token itself. It is shown here and never again.
    secret: String,
    /// What is known of it from now on.
    #[serde(flatten)]
    #[oai(flatten)]
    token: Token,
}

/// A token to be created.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(super) struct NewToken {
    /// What it is to be called.
    name: Member<Name>,
    /// The team in which it is to act. Without, it is the caller's own; an operator creates another operator's token so.
    #[oai(nullable)]
    team_id: Option<Member<TeamId>>,
    /// What it may do: no more than the caller.
    #[oai(validator(min_items = 1))]
    scopes: Vec<Member<Scope>>,
    /// From when on it is not valid; null for never.
    #[oai(nullable)]
    expires_at: Option<Member<Time>>,
}

pub(crate) struct Tokens;

#[OpenApi(tag = "Tag::Tokens")]
impl Tokens {
    /// List tokens
    ///
    /// The oldest first, disabled and expired ones included. A team's token sees those of its team.
    #[oai(path = "/tokens", method = "get", operation_id = "listTokens")]
    async fn list_tokens(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// How many at most.
        limit: Query<Limit>,
        /// Where to go on: `next_cursor` of the part before.
        cursor: Query<Cursor>,
    ) -> Result<Json<List<Token>>, Refusal> {
        let mut session = management.read(&caller, Scope::TokensRead).await?;
        let part = Part::new(&limit, &cursor);
        let of = session.only_team();
        let tokens = token::list(session.conn(), of, part.page()).await?;
        Ok(Json(part.list(tokens, |token| token.id.as_uuid())))
    }

    /// Create a token
    ///
    /// It may do no more than the token that creates it: that must have every scope that it gives, and a team's token
    /// creates tokens of its own team only. The secret is shown once.
    #[oai(path = "/tokens", method = "post", operation_id = "createToken")]
    async fn create_token(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        request: JsonBody<NewToken>,
    ) -> Result<Created<IssuedToken>, Refusal> {
        let mut session = management.change(&caller, Scope::TokensWrite).await?;
        let new = request.value;
        let scopes = scopes(&session, &new)?;
        let team = session.named_team(new.team_id.as_deref().copied()).await?;
        let expires_at = new.expires_at.as_ref().map(|time| time.0.0);
        if expires_at.is_some_and(|at| at <= Utc::now()) {
            return Err(Refusal::invalid_field(
                "expires_at",
                "must be in the future",
            ));
        }
        let wanted = Wanted {
            name: &new.name,
            team,
            scopes: &scopes,
            expires_at,
        };
        let (token, secret) = token::create(session.conn(), wanted).await?;
        let token = Token::from(token);
        session
            .commit(Change {
                action: Action::TokenCreate,
                team,
                target: token.id,
                details: created(&token),
            })
            .await?;
        Ok(Created {
            location: format!("{PREFIX}/tokens/{}", token.id),
            value: IssuedToken {
                secret: secret.expose().to_owned(),
                token,
            },
        })
    }

    /// Read a token
    #[oai(path = "/tokens/:token_id", method = "get", operation_id = "getToken")]
    async fn get_token(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The token.
        token_id: Path<TokenId>,
    ) -> Result<Json<Token>, Refusal> {
        let mut session = management.read(&caller, Scope::TokensRead).await?;
        let of = session.only_team();
        let token = token::find(session.conn(), of, token_id.0).await?;
        Ok(Json(token.ok_or_else(unknown)?.into()))
    }

    /// Disable a token
    ///
    /// At once and for ever. A disabled token stays in lists; disabling it again changes nothing.
    #[oai(
        path = "/tokens/:token_id",
        method = "delete",
        operation_id = "disableToken"
    )]
    async fn disable_token(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The token.
        token_id: Path<TokenId>,
    ) -> Result<NoContent, Refusal> {
        let mut session = management.change(&caller, Scope::TokensWrite).await?;
        let of = session.only_team();
        let token = token::find(session.conn(), of, token_id.0).await?;
        let token = token.ok_or_else(unknown)?;
        if token::disable(session.conn(), token.id).await? {
            session
                .commit(Change {
                    action: Action::TokenDisable,
                    team: token.team,
                    target: token.id.as_uuid(),
                    details: json!({ "name": token.name }),
                })
                .await?;
        }
        Ok(NoContent)
    }
}

/// The scopes of a new token, each once: there is one at least, and the caller has them all.
fn scopes(session: &Session, new: &NewToken) -> Result<Vec<Scope>, Refusal> {
    let mut scopes: Vec<Scope> = new.scopes.iter().map(|scope| scope.0).collect();
    scopes.sort_unstable();
    scopes.dedup();
    if scopes.is_empty() {
        return Err(Refusal::invalid_field("scopes", "must have at least one"));
    }
    match scopes.iter().find(|scope| !session.has(**scope)) {
        Some(lacking) => Err(missing_scope(*lacking)),
        None => Ok(scopes),
    }
}

fn unknown() -> Refusal {
    Refusal::not_found("token")
}

/// What the document says beyond the signatures.
pub(super) fn described() -> Vec<Operation> {
    let token = json!({
        "id": example::TOKEN,
        "team_id": example::TEAM,
        "name": "Nightly report",
        "hint": "v7Qx",
        "scopes": ["teams:read", "usage:read"],
        "created_at": example::CREATED_AT,
        "expires_at": "2027-01-31T12:00:00.000000Z",
        "disabled_at": null,
    });
    let mut issued = json!({ "secret": "mgmt_EXAMPLEexampleEXAMPLEexamplev7Qx" });
    crate::openapi::extend(&mut issued, "", token.clone());
    vec![
        Operation {
            answer: Some(example::list(&token)),
            ..Operation::new("listTokens", Scope::TokensRead)
        },
        Operation {
            request: Some(json!({
                "name": "Nightly report",
                "team_id": example::TEAM,
                "scopes": ["teams:read", "usage:read"],
                "expires_at": "2099-01-31T12:00:00Z",
            })),
            problems: &[Code::LimitReached],
            answer: Some(issued),
            ..Operation::new("createToken", Scope::TokensWrite)
        },
        Operation {
            answer: Some(token),
            ..Operation::new("getToken", Scope::TokensRead)
        },
        Operation::new("disableToken", Scope::TokensWrite),
    ]
}
