//! Tokens: list, create, read, and disable, on request together with the tokens that they created.

mod cascade;
mod openapi;
mod schemas;

use std::sync::Arc;

use api_common::{
    body::JsonBody,
    path_parameters::Path,
    problem::Refusal,
    query_parameters::Query,
    response::{Created, Json, NoContent},
};
use domain::id::TokenId;
use management::{Management, tokens};
use poem::web::Data;
use poem_openapi::OpenApi;
use store::token::Extent;

use super::{
    PREFIX, Tag,
    caller::Caller,
    list::{After, Limit, List, Part},
    tokens::cascade::Cascade,
};

pub(super) use openapi::descriptions;
pub(super) use schemas::{IssuedToken, NewToken, Token};

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
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The most items in one page.
        limit: Query<Limit>,
        /// Where to continue: the `next_cursor` of the previous page.
        cursor: After,
        /// Only tokens that this token created.
        created_by: Query<TokenId>,
    ) -> Result<Json<List<Token>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let tokens = tokens::list(&management, &caller, created_by.0, part.page()).await?;
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
        /// The ID of the token.
        token_id: Path<TokenId>,
    ) -> Result<Json<Token>, Refusal> {
        let token = tokens::get(&management, &caller, token_id.0).await?;
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
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The ID of the token.
        token_id: Path<TokenId>,
        /// Whether to disable the tokens that it created as well, and the tokens that those
        /// created.
        cascade: Query<Cascade>,
    ) -> Result<NoContent, Refusal> {
        let extent = cascade.0.map_or(Extent::One, Cascade::extent);
        tokens::disable(&management, &caller, token_id.0, extent).await?;
        Ok(NoContent)
    }
}
