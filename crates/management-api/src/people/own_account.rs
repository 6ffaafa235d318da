//! Who the caller is.

use api_common::{Field, Json, Refusal, Schema, Time};
use domain::{id::TeamId, scope::Scope};
use management::account::current_caller::{self, Who};
use poem_openapi::OpenApi;
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use super::super::Tag;
use crate::{Caller, Operation, example_values};

/// Who the caller is, and what it may do.
#[derive(Serialize, Schema)]
pub(super) struct Myself {
    /// The kind of caller: `token`. More may be added.
    actor: String,
    /// The token.
    #[schema(nullable)]
    id: Option<Uuid>,
    /// What it is called.
    #[schema(nullable)]
    name: Option<String>,
    /// The team in which it acts. Null means that it is an operator's and acts in all teams.
    #[schema(nullable)]
    team_id: Option<Uuid>,
    /// What it may do.
    scopes: Vec<Field<Scope>>,
    /// When it expires; null if it never does.
    #[schema(nullable)]
    expires_at: Option<Field<Time>>,
}

impl From<current_caller::Me> for Myself {
    fn from(me: current_caller::Me) -> Self {
        let (name, expires_at) = match me.who {
            Who::Token(token) => (Some(token.name), token.expires_at),
            Who::Person(person, _) => (Some(person.name), None),
            Who::CommandLine => (None, None),
        };
        Self {
            actor: me.actor.kind().to_owned(),
            id: me.actor.as_uuid(),
            name,
            team_id: me.reach.team().map(TeamId::as_uuid),
            scopes: me.scopes.into_iter().map(Field).collect(),
            expires_at: expires_at.map(Field::from),
        }
    }
}

#[derive(Default)]
pub(crate) struct Me;

#[OpenApi(tag = "Tag::People")]
impl Me {
    /// Read who you are
    ///
    /// Tells what the token is and may do. Every valid token may ask.
    #[oai(path = "/me", method = "get", operation_id = "getMe")]
    async fn get_me(&self, caller: Caller) -> Result<Json<Myself>, Refusal> {
        Ok(Json(current_caller::get(&caller).await?.into()))
    }
}

/// What the document says beyond the signatures.
pub(super) fn descriptions() -> Vec<Operation> {
    vec![Operation::without_scope("getMe").answer(json!({
        "actor": "token",
        "id": example_values::TOKEN,
        "name": "Nightly report",
        "team_id": example_values::TEAM,
        "scopes": ["teams:read", "usage:read"],
        "expires_at": null,
    }))]
}
