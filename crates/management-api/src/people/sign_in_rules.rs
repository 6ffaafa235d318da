//! A team's rules for signing in: read, change.

use api_common::{Json, JsonBody, Path, Refusal, Schema, given};
use domain::{id::TeamId, scope::Scope};
use management::people::sign_in_rules::{self, Rules};
use poem_openapi::OpenApi;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::super::Tag;
use crate::{Caller, Operation};

/// A team's rules for signing in.
#[derive(Serialize, Schema)]
pub(super) struct SignInRules {
    /// Whether everybody in the team needs a second factor. Admins and owners need one in any case.
    factor_required: bool,
}

impl From<Rules> for SignInRules {
    fn from(rules: Rules) -> Self {
        Self {
            factor_required: rules.factor_required,
        }
    }
}

/// Fields to change. Omitted fields keep their value.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(super) struct SignInRulesChange {
    /// Whether everybody in the team needs a second factor.
    #[serde(default, deserialize_with = "given")]
    factor_required: Option<bool>,
}

#[derive(Default)]
pub(crate) struct SignIn;

#[OpenApi(tag = "Tag::People")]
impl SignIn {
    /// Read a team's rules for signing in
    #[oai(
        path = "/teams/:team_id/sign-in",
        method = "get",
        operation_id = "getSignInRules"
    )]
    async fn get_sign_in_rules(
        &self,
        caller: Caller,
        /// The team.
        team_id: Path<TeamId>,
    ) -> Result<Json<SignInRules>, Refusal> {
        let rules = sign_in_rules::get(&caller, team_id.0).await?;
        Ok(Json(rules.into()))
    }

    /// Change a team's rules for signing in
    ///
    /// The rules apply at once, also to people who are signed in. A person who needs a second factor and has none can only set one up.
    #[oai(
        path = "/teams/:team_id/sign-in",
        method = "patch",
        operation_id = "updateSignInRules"
    )]
    async fn update_sign_in_rules(
        &self,
        caller: Caller,
        /// The team.
        team_id: Path<TeamId>,
        request: JsonBody<SignInRulesChange>,
    ) -> Result<Json<SignInRules>, Refusal> {
        let change = request.value;
        let edit = |rules: Rules| Rules {
            factor_required: change.factor_required.unwrap_or(rules.factor_required),
        };
        let rules = sign_in_rules::update(&caller, team_id.0, edit).await?;
        Ok(Json(rules.into()))
    }
}

/// What the document says beyond the signatures.
pub(super) fn descriptions() -> Vec<Operation> {
    let rules = json!({ "factor_required": true });
    vec![
        Operation::new("getSignInRules", Scope::PeopleRead).answer(rules.clone()),
        Operation::new("updateSignInRules", Scope::PeopleWrite)
            .request(rules.clone())
            .answer(rules),
    ]
}
