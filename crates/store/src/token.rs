//! Management tokens: who may use the management interface, and for what.

mod authorisation;
mod create;
mod disable;
mod read;

use chrono::{DateTime, Utc};
use domain::{
    id::{TeamId, TokenId},
    scope::Scope,
};
use serde::Serialize;
use uuid::Uuid;

pub use self::{
    authorisation::{Grant, LAST_GENERATION, begin_changing, begin_reading},
    create::{NewToken, create},
    disable::{Disabled, Extent, NotDisabled, disable},
    read::{find, list, of_operators},
};

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
