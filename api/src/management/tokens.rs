//! Tokens: list, create, read, disable, with those that they created if so wanted.

use std::sync::Arc;

use domain::{
    id::{TeamId, TokenId},
    name::Name,
    scope::Scope,
};
use management::{Management, tokens};
use poem::web::Data;
use poem_openapi::{Object, OpenApi};
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::token::{self, Extent};
use uuid::Uuid;

mod cascade;

use super::{
    PREFIX, Tag,
    caller::Caller,
    document::{Operation, example},
    list::{After, Limit, List, Part},
    tokens::cascade::Cascade,
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
    /// Who created it: `token`, or `command_line`, which is somebody with access to the database. Null: it is older than this
    /// member.
    #[oai(nullable)]
    creator: Option<String>,
    /// The token that created it; null if none did, or if that is not known.
    #[oai(nullable)]
    created_by: Option<Uuid>,
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
            creator: token.creator,
            created_by: token.created_by.map(TokenId::as_uuid),
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

impl From<tokens::IssuedToken> for IssuedToken {
    fn from(issued: tokens::IssuedToken) -> Self {
        Self {
            secret: issued.secret.expose().to_owned(),
            token: issued.token.into(),
        }
    }
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
    /// From when on it is not valid. Not after the token that creates it expires; omitted or null: when that one does, or
    /// never if that one never does.
    #[oai(nullable)]
    expires_at: Option<Member<Time>>,
}

impl From<NewToken> for tokens::NewToken {
    fn from(new: NewToken) -> Self {
        Self {
            name: new.name.0,
            team: new.team_id.map(|team| team.0),
            scopes: new.scopes.into_iter().map(|scope| scope.0).collect(),
            expires_at: new.expires_at.map(|time| time.0.0),
        }
    }
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
        cursor: After,
        /// Only those that this token created.
        created_by: Query<TokenId>,
    ) -> Result<Json<List<Token>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let tokens = tokens::list(&management, &caller, created_by.0, part.page()).await?;
        Ok(Json(part.list(tokens, |token| token.id.as_uuid())))
    }

    /// Create a token
    ///
    /// It may do no more than the token that creates it, and not for longer: that must have every scope that it gives, a team's
    /// token creates tokens of its own team only, and none expires later than its creator. The secret is shown once.
    #[oai(path = "/tokens", method = "post", operation_id = "createToken")]
    async fn create_token(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        request: JsonBody<NewToken>,
    ) -> Result<Created<IssuedToken>, Refusal> {
        let new = request.value.into();
        let issued = tokens::create(&management, &caller, &new).await?;
        Ok(Created {
            location: format!("{PREFIX}/tokens/{}", issued.token.id),
            value: issued.into(),
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
        let token = tokens::get(&management, &caller, token_id.0).await?;
        Ok(Json(token.into()))
    }

    /// Disable a token
    ///
    /// At once and for ever. A disabled token stays in lists; disabling it again changes nothing. The tokens that it created stay
    /// valid unless `cascade` is true; then they are disabled in the same transaction, with whatever those created. A token
    /// can disable itself, and others that have no scope beyond its own; if any of them has, nothing is disabled. The audit log
    /// has an entry for each token that was disabled.
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
        /// Whether the tokens that it created, and whatever those created, are disabled, too.
        cascade: Query<Cascade>,
    ) -> Result<NoContent, Refusal> {
        let extent = cascade.0.map_or(Extent::One, Cascade::extent);
        tokens::disable(&management, &caller, token_id.0, extent).await?;
        Ok(NoContent)
    }
}

/// What the document says beyond the signatures.
pub(super) fn described() -> Vec<Operation> {
    let token = json!({
        "id": example::TOKEN,
        "team_id": example::TEAM,
        "name": "Nightly report",
        "hint": "v7Qx",
        "scopes": ["teams:read", "usage:read"],
        "creator": "token",
        "created_by": "01980f6d-02aa-7bbb-8ccc-0123456789aa",
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
            answer: Some(issued),
            problems: &[Code::LimitReached],
            ..Operation::new("createToken", Scope::TokensWrite)
        },
        Operation {
            answer: Some(token),
            ..Operation::new("getToken", Scope::TokensRead)
        },
        Operation::new("disableToken", Scope::TokensWrite),
    ]
}
