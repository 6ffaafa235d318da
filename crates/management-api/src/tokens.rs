//! Tokens: list, create, read, and disable, on request together with the tokens that they created.

use api_common::{
    Code, Created, Field, Json, JsonBody, NoContent, Path, Query, Refusal, Schema, Time,
};
use domain::{
    id::{TeamId, TokenId},
    name::Name,
    scope::Scope,
};
use management::tokens;
use poem_openapi::OpenApi;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::token::{self, Extent};
use uuid::Uuid;

use super::{After, Caller, Limit, List, Operation, PREFIX, Part, Tag, example_values};

#[derive(Default)]
pub(crate) struct Tokens;

#[OpenApi(tag = "Tag::Tokens")]
impl Tokens {
    /// List tokens
    ///
    /// Returns the oldest tokens first, including disabled and expired tokens. A team's token sees
    /// the tokens of its team.
    #[oai(path = "/tokens", method = "get", operation_id = "listTokens")]
    async fn list_tokens(
        &self,
        caller: Caller,
        /// The most items in one page.
        limit: Query<Limit>,
        /// Where to continue: the `next_cursor` of the previous page.
        cursor: After,
        /// Only tokens that this token created.
        created_by: Query<TokenId>,
    ) -> Result<Json<List<Token>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let tokens = tokens::list(&caller, created_by.0, part.page()).await?;
        Ok(Json(part.list(tokens, |token| token.id.as_uuid())))
    }

    /// Create a token
    ///
    /// The new token cannot do more than your token. It can have only scopes that your token has,
    /// and it cannot expire later. A team's token creates tokens of its own team only. The secret
    /// is shown only in this answer.
    #[oai(path = "/tokens", method = "post", operation_id = "createToken")]
    async fn create_token(
        &self,
        caller: Caller,
        request: JsonBody<NewToken>,
    ) -> Result<Created<IssuedToken>, Refusal> {
        let new = request.value.into();
        let issued = tokens::create(&caller, &new).await?;
        Ok(Created::at(
            format!("{PREFIX}/tokens/{}", issued.token.id),
            issued,
        ))
    }

    /// Read a token
    #[oai(path = "/tokens/:token_id", method = "get", operation_id = "getToken")]
    async fn get_token(
        &self,
        caller: Caller,
        /// The ID of the token.
        token_id: Path<TokenId>,
    ) -> Result<Json<Token>, Refusal> {
        let token = tokens::get(&caller, token_id.0).await?;
        Ok(Json(token.into()))
    }

    /// Disable a token
    ///
    /// The token stops working at once and cannot be enabled again. It stays in lists. Disabling it
    /// again changes nothing. The tokens that it created stay valid unless `cascade` is `true`.
    /// With `cascade`, they are disabled in the same transaction, and so are the tokens that those
    /// created. A token can disable itself, and tokens that have no other scopes than its own. If
    /// one of them has another scope, nothing is disabled. The audit log has an entry for each
    /// token that was disabled.
    #[oai(
        path = "/tokens/:token_id",
        method = "delete",
        operation_id = "disableToken"
    )]
    async fn disable_token(
        &self,
        caller: Caller,
        /// The ID of the token.
        token_id: Path<TokenId>,
        /// Whether to disable the tokens that it created as well, and the tokens that those
        /// created.
        cascade: Query<bool>,
    ) -> Result<NoContent, Refusal> {
        let extent = match cascade.0 {
            Some(true) => Extent::Descendants,
            Some(false) | None => Extent::One,
        };
        tokens::disable(&caller, token_id.0, extent).await?;
        Ok(NoContent)
    }
}

/// A management token, without its secret.
#[derive(Serialize, Schema)]
pub(crate) struct Token {
    /// The ID of the token.
    id: Uuid,
    /// The team in which it acts. `null` means that it is an operator's token and acts in all
    /// teams.
    #[schema(nullable)]
    team_id: Option<Uuid>,
    /// The name of the token. Names need not be unique.
    name: String,
    /// Its last four characters.
    hint: String,
    /// What it may do.
    scopes: Vec<Field<Scope>>,
    /// Who created it: `token`, or `command_line`, which means somebody with access to the
    /// database. `null` if it was created before Gatehouse recorded this.
    #[schema(nullable)]
    creator: Option<String>,
    /// The token that created it. `null` if no token created it, or if this is not known.
    #[schema(nullable)]
    created_by: Option<Uuid>,
    /// When it was created.
    created_at: Field<Time>,
    /// When it expires. `null` if it never expires.
    #[schema(nullable)]
    expires_at: Option<Field<Time>>,
    /// When it was disabled. `null` if it is enabled.
    #[schema(nullable)]
    disabled_at: Option<Field<Time>>,
}

impl From<token::Token> for Token {
    fn from(token: token::Token) -> Self {
        Self {
            id: token.id.as_uuid(),
            team_id: token.team.map(TeamId::as_uuid),
            name: token.name,
            hint: token.hint,
            scopes: token.scopes.into_iter().map(Field).collect(),
            creator: token.creator,
            created_by: token.created_by.map(TokenId::as_uuid),
            created_at: token.created_at.into(),
            expires_at: token.expires_at.map(Field::from),
            disabled_at: token.disabled_at.map(Field::from),
        }
    }
}

/// A new token with its secret.
#[derive(Serialize, Schema)]
pub(crate) struct IssuedToken {
    /// The token itself. It is shown only here.
    secret: String,
    /// The token as later answers show it.
    #[serde(flatten)]
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

/// A token to create.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewToken {
    /// The name of the token. Names need not be unique.
    name: Field<Name>,
    /// The team in which it will act. If omitted, it is the team of your token. If an operator
    /// omits it, the new token is an operator's token.
    #[schema(nullable)]
    team_id: Option<Field<TeamId>>,
    /// What it may do. You can give only scopes that your token has.
    #[schema(min_items = 1)]
    scopes: Vec<Field<Scope>>,
    /// When it expires, at the latest when your token expires. If omitted or `null`, it expires
    /// together with your token, or never if your token never expires.
    #[schema(nullable)]
    expires_at: Option<Field<Time>>,
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

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let token = json!({
        "id": example_values::TOKEN,
        "team_id": example_values::TEAM,
        "name": "Nightly report",
        "hint": "v7Qx",
        "scopes": ["teams:read", "usage:read"],
        "creator": "token",
        "created_by": "01980f6d-02aa-7bbb-8ccc-0123456789aa",
        "created_at": example_values::CREATED_AT,
        "expires_at": "2027-01-31T12:00:00.000000Z",
        "disabled_at": null,
    });
    let mut issued = json!({ "secret": "mgmt_EXAMPLEexampleEXAMPLEexamplev7Qx" });
    api_common::openapi::extend(&mut issued, "", token.clone());
    vec![
        Operation::new("listTokens", Scope::TokensRead).answer(example_values::list(&token)),
        Operation::new("createToken", Scope::TokensWrite)
            .request(json!({
                "name": "Nightly report",
                "team_id": example_values::TEAM,
                "scopes": ["teams:read", "usage:read"],
                "expires_at": "2099-01-31T12:00:00Z",
            }))
            .answer(issued)
            .problems(&[Code::LimitReached]),
        Operation::new("getToken", Scope::TokensRead).answer(token),
        Operation::new("disableToken", Scope::TokensWrite),
    ]
}
