//! Tokens in requests and responses.

use api_common::field::{Field, Time};
use domain::{
    id::{TeamId, TokenId},
    name::Name,
    scope::Scope,
};
use management::tokens;
use poem_openapi::Object;
use serde::{Deserialize, Serialize};
use store::token;
use uuid::Uuid;

/// A management token, without its secret.
#[derive(Serialize, Object)]
pub(crate) struct Token {
    /// The ID of the token.
    id: Uuid,
    /// The team in which it acts. `null` means that it is an operator's token and acts in all
    /// teams.
    #[oai(nullable)]
    team_id: Option<Uuid>,
    /// The name of the token. Names need not be unique.
    name: String,
    /// Its last four characters.
    hint: String,
    /// What it may do.
    scopes: Vec<Field<Scope>>,
    /// Who created it: `token`, or `command_line`, which means somebody with access to the
    /// database. `null` if it was created before Gatehouse recorded this.
    #[oai(nullable)]
    creator: Option<String>,
    /// The token that created it. `null` if no token created it, or if this is not known.
    #[oai(nullable)]
    created_by: Option<Uuid>,
    /// When it was created.
    created_at: Field<Time>,
    /// When it expires. `null` if it never expires.
    #[oai(nullable)]
    expires_at: Option<Field<Time>>,
    /// When it was disabled. `null` if it is enabled.
    #[oai(nullable)]
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
#[derive(Serialize, Object)]
pub(crate) struct IssuedToken {
    /// The token itself. It is shown only here.
    secret: String,
    /// The token as later answers show it.
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

/// A token to create.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewToken {
    /// The name of the token. Names need not be unique.
    name: Field<Name>,
    /// The team in which it will act. If omitted, it is the team of your token. If an operator
    /// omits it, the new token is an operator's token.
    #[oai(nullable)]
    team_id: Option<Field<TeamId>>,
    /// What it may do. You can give only scopes that your token has.
    #[oai(validator(min_items = 1))]
    scopes: Vec<Field<Scope>>,
    /// When it expires, at the latest when your token expires. If omitted or `null`, it expires
    /// together with your token, or never if your token never expires.
    #[oai(nullable)]
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
