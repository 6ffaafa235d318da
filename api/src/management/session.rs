//! Who calls, by the token in the header `Authorization`, and the transaction in which all of his request is done.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use domain::{
    audit::Action,
    id::{TeamId, TokenId},
    key::{ManagementToken, SecretHash},
    scope::Scope,
};
use poem::{
    Request, RequestBody, Result,
    http::{HeaderMap, header},
};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaSecurityScheme, Registry},
};
use serde::Serialize;
use serde_json::{Map, Value, json};
use store::{
    PgConnection, PgTransaction,
    audit::{self, Actor, Entry},
    team,
    token::{self, Grant, NewToken, Token},
};
use uuid::Uuid;

use super::Management;
use crate::{
    body::sender,
    problem::{Code, Refusal},
    query::Parameters,
    request_id::RequestId,
};

/// The caller as the request tells: a token that is well-formed and may not exist.
pub(super) struct Caller {
    token: SecretHash,
    request: RequestId,
    /// Whether the request was counted for its token: an operation may begin more than one transaction.
    counted: AtomicBool,
    /// What its query has, if it has one.
    parameters: Option<Parameters>,
}

/// The name of the security scheme in the document.
const SCHEME: &str = "token";

impl<'a> ApiExtractor<'a> for Caller {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::SecurityScheme];
    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        registry.create_security_scheme(
            SCHEME,
            MetaSecurityScheme {
                ty: "http",
                description: Some(
                    "A management token: `mgmt_` and 32 characters, shown once when it was created. The first one comes \
                     from `gatehouse admin create-token`.",
                ),
                name: None,
                key_in: None,
                scheme: Some("bearer"),
                bearer_format: Some("mgmt_..."),
                flows: None,
                openid_connect_url: None,
            },
        );
    }

    fn security_schemes() -> Vec<&'static str> {
        vec![SCHEME]
    }

    async fn from_request(
        request: &'a Request,
        _body: &mut RequestBody,
        _options: ExtractParamOptions<()>,
    ) -> Result<Self> {
        let token = bearer(request.headers()).map(|token| token.hash());
        let management = request
            .data::<Arc<Management>>()
            .expect("the listener gives every request its state");
        management.pace.arrive(sender(request), token).await?;
        let token = token.ok_or_else(Refusal::invalid_token)?;
        let parameters = Parameters::of(request)?;
        let request = request
            .data::<RequestId>()
            .expect("the front gives every request its id");
        Ok(Self {
            token,
            request: request.clone(),
            counted: AtomicBool::new(false),
            parameters,
        })
    }
}

/// The one bearer token of a request.
fn bearer(headers: &HeaderMap) -> Option<ManagementToken> {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(header), None) = (given.next(), given.next()) else {
        return None;
    };
    let (scheme, token) = header.to_str().ok()?.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return None;
    }
    token.trim_ascii().parse().ok()
}

impl Management {
    /// Begins what only looks: all of it sees one moment.
    ///
    /// # Errors
    /// The token is not valid, does not have the scope, or has had its requests of this minute.
    pub(super) async fn read(&self, caller: &Caller, scope: Scope) -> Result<Session, Refusal> {
        let begun = token::begin_reading(&self.pool, caller.token).await?;
        self.begin(begun, caller, scope)
    }

    /// Begins what changes something. Nothing is changed unless [`Session::commit`] is reached.
    ///
    /// # Errors
    /// The token is not valid, does not have the scope, or has had its requests of this minute.
    pub(super) async fn change(&self, caller: &Caller, scope: Scope) -> Result<Session, Refusal> {
        let begun = token::begin_changing(&self.pool, caller.token).await?;
        self.begin(begun, caller, scope)
    }

    fn begin(
        &self,
        begun: Option<(PgTransaction<'static>, Grant)>,
        caller: &Caller,
        scope: Scope,
    ) -> Result<Session, Refusal> {
        let (tx, grant) = begun.ok_or_else(Refusal::invalid_token)?;
        if !caller.counted.swap(true, Ordering::Relaxed) {
            self.pace.admit(caller.token, &grant)?;
        }
        let session = Session {
            tx,
            grant,
            request: caller.request.clone(),
        };
        if !session.has(scope) {
            return Err(missing_scope(scope));
        }
        if let Some(parameters) = &caller.parameters {
            parameters.require_taken()?;
        }
        Ok(session)
    }
}

/// What is done outside of a transaction, by somebody who was allowed to: it is recorded when it has ended.
pub(super) struct Doing {
    token: TokenId,
    request: RequestId,
}

impl Doing {
    /// A transaction for what follows from it.
    pub(super) async fn begin(
        &self,
        management: &Management,
    ) -> Result<PgTransaction<'static>, Refusal> {
        Ok(management.pool.begin().await.map_err(store::Error::from)?)
    }

    /// Records what was done, whether or not the token is still valid, and commits.
    pub(super) async fn done(
        self,
        mut tx: PgTransaction<'static>,
        change: Change,
    ) -> Result<(), Refusal> {
        record(&mut tx, self.token, &self.request, &change).await?;
        tx.commit().await.map_err(store::Error::from)?;
        Ok(())
    }
}

/// A transaction of somebody who may do what he asks for, as far as scopes go.
pub(super) struct Session {
    tx: PgTransaction<'static>,
    grant: Grant,
    request: RequestId,
}

/// What was changed, for the audit log.
pub(super) struct Change {
    pub(super) action: Action,
    /// The team concerned; none where it concerns all.
    pub(super) team: Option<TeamId>,
    /// The thing that was changed.
    pub(super) target: Uuid,
    /// How: [`created`] or [`difference`] make it. Never a secret, never content.
    pub(super) details: Value,
}

impl Session {
    /// Where statements run.
    pub(super) fn conn(&mut self) -> &mut PgConnection {
        &mut self.tx
    }

    /// The caller's token.
    pub(super) fn token(&self) -> TokenId {
        self.grant.token
    }

    /// What the caller's token may do, and until when.
    pub(super) fn grant(&self) -> &Grant {
        &self.grant
    }

    /// Ends the transaction, for what no transaction may wait for.
    pub(super) fn leave(self) -> Doing {
        Doing {
            token: self.grant.token,
            request: self.request,
        }
    }

    /// Creates a token in the name of the caller's.
    pub(super) async fn mint(
        &mut self,
        new: NewToken<'_>,
    ) -> Result<(Token, ManagementToken), Refusal> {
        Ok(token::mint(&mut self.tx, &self.grant, new).await?)
    }

    /// The only team that the caller may know of; none for an operator, who may know of all.
    pub(super) fn only_team(&self) -> Option<TeamId> {
        self.grant.team
    }

    /// Whether the caller has this scope, too.
    pub(super) fn has(&self, scope: Scope) -> bool {
        self.grant.scopes.contains(&scope)
    }

    /// Refuses a team that the caller may not know of, as one that does not exist.
    pub(super) fn require_team(&self, team: TeamId) -> Result<(), Refusal> {
        match self.grant.team {
            Some(only) if only != team => Err(Refusal::not_found("team")),
            Some(_) | None => Ok(()),
        }
    }

    /// The team that a request names in its member `team_id`, or the caller's own; none if an operator names none. One that
    /// the caller may not know of is refused as one that does not exist.
    pub(super) async fn named_team(
        &mut self,
        named: Option<TeamId>,
    ) -> Result<Option<TeamId>, Refusal> {
        let Some(team) = named else {
            return Ok(self.only_team());
        };
        let known = self.require_team(team).is_ok() && team::exists(self.conn(), team).await?;
        if known {
            Ok(Some(team))
        } else {
            Err(Refusal::invalid_field("team_id", "is no team"))
        }
    }

    /// Refuses whoever is no operator.
    pub(super) fn require_operator(&self) -> Result<(), Refusal> {
        match self.grant.team {
            Some(_) => Err(Refusal::new(
                Code::OperatorsOnly,
                "Only operators may do this: this token is a team's.",
            )),
            None => Ok(()),
        }
    }

    /// Records the change and commits, both or neither.
    pub(super) async fn commit(self, change: Change) -> Result<(), Refusal> {
        self.commit_all(vec![change]).await
    }

    /// Records all of these changes and commits, or does none of it. Without a change there is nothing to commit.
    pub(super) async fn commit_all(mut self, changes: Vec<Change>) -> Result<(), Refusal> {
        for change in &changes {
            record(&mut self.tx, self.grant.token, &self.request, change).await?;
        }
        if !changes.is_empty() {
            self.tx.commit().await.map_err(store::Error::from)?;
        }
        Ok(())
    }
}

async fn record(
    conn: &mut PgConnection,
    token: TokenId,
    request: &RequestId,
    change: &Change,
) -> Result<(), store::Error> {
    let entry = Entry {
        actor: Actor::Token(token),
        action: change.action,
        team: change.team,
        target: Some(change.target),
        details: &change.details,
        request_id: Some(request.as_str()),
    };
    audit::record(conn, entry).await
}

/// What refuses a token that lacks a scope.
pub(super) fn missing_scope(scope: Scope) -> Refusal {
    Refusal::new(
        Code::MissingScope,
        format!("This token does not have the scope {scope}."),
    )
}

/// The details of something new: the thing as the interface shows it.
pub(super) fn created(thing: &impl Serialize) -> Value {
    json!({ "created": thing })
}

/// The details of a change: the members that differ, as the interface shows the thing before and after. None: nothing
/// does.
pub(super) fn difference(before: &impl Serialize, after: &impl Serialize) -> Option<Value> {
    let shown = |thing| match thing {
        Ok(Value::Object(members)) => members,
        Ok(_) | Err(_) => Map::new(),
    };
    let before = shown(serde_json::to_value(before));
    let changed: Map<String, Value> = shown(serde_json::to_value(after))
        .into_iter()
        .filter(|(name, to)| before.get(name) != Some(to))
        .map(|(name, to)| {
            let from = before.get(&name).cloned().unwrap_or_default();
            (name, json!({ "from": from, "to": to }))
        })
        .collect();
    (!changed.is_empty()).then(|| json!({ "changed": changed }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_well_formed_bearer_token_is_taken() {
        let taken = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::AUTHORIZATION, value.parse().unwrap());
            }
            bearer(&headers).is_some()
        };
        assert!(taken(&["Bearer mgmt_a"]) && taken(&["bEARER   mgmt_a"]));
        for values in [
            &[][..],
            &["mgmt_a"],
            &["Bearer"],
            &["Bearer "],
            &["Basic mgmt_a"],
            &["Bearer site_a"],
            &["Bearer mgmt_a mgmt_b"],
            &["Bearer mgmt_a", "Bearer mgmt_a"],
        ] {
            assert!(!taken(values), "{values:?}");
        }
    }

    #[test]
    fn a_difference_has_the_changed_members_only() {
        let before = json!({ "name": "a", "limit": 1, "note": null });
        let after = json!({ "name": "a", "limit": null, "note": "x" });
        assert_eq!(difference(&before, &before), None);
        assert_eq!(
            difference(&before, &after),
            Some(json!({ "changed": {
                "limit": { "from": 1, "to": null },
                "note": { "from": null, "to": "x" },
            } }))
        );
    }
}
