//! What operators set up: teams, subscriptions, management tokens.

use clap::builder::TypedValueParser;
use domain::{
    id::{PlanId, TeamId},
    name::Name,
    plan::SubscriptionState,
    scope::Scope,
};
use management::{Caller, Management, Refused, subscriptions, teams, tokens};
use serde_json::{Value, json};
use store::subscription::Wanted;

use crate::config::one_of;

/// What `--scopes` takes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scopes {
    All,
    One(Scope),
}

impl Scopes {
    fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::One(scope) => scope.as_str(),
        }
    }
}

/// One of the scopes, or all of them.
pub(super) fn scopes() -> impl TypedValueParser<Value = Scopes> {
    let each = Scope::ALL.iter().copied().map(Scopes::One);
    one_of(std::iter::once(Scopes::All).chain(each), Scopes::as_str)
}

pub(super) async fn create_team(
    management: &Management,
    name: &Name,
    plan: Option<PlanId>,
) -> Result<Value, Refused> {
    let team = teams::create(management, &Caller::command_line(), name, plan).await?;
    Ok(json!({ "team_id": team.id }))
}

pub(super) async fn subscribe(
    management: &Management,
    team: TeamId,
    plan: PlanId,
    state: SubscriptionState,
) -> Result<Value, Refused> {
    let wanted = Wanted {
        plan,
        state,
        started_at: None,
    };
    subscriptions::replace(management, &Caller::command_line(), team, wanted).await?;
    Ok(json!({ "team_id": team, "plan_id": plan, "state": state }))
}

pub(super) async fn create_token(
    management: &Management,
    name: Name,
    team: Option<TeamId>,
    scopes: &[Scopes],
) -> Result<Value, Refused> {
    let wanted = |scope: &Scope| {
        scopes.iter().any(|given| match given {
            Scopes::All => true,
            Scopes::One(one) => one == scope,
        })
    };
    let new = tokens::NewToken {
        name,
        team,
        scopes: Scope::ALL.iter().copied().filter(wanted).collect(),
        expires_at: None,
    };
    let issued = tokens::create(management, &Caller::command_line(), &new).await?;
    let secret = issued.secret.expose();
    Ok(json!({ "token_id": issued.token.id, "management_token": secret }))
}
