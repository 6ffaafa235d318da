//! What operators set up: teams, subscriptions, management tokens.

use anyhow::{Context as _, ensure};
use clap::builder::TypedValueParser;
use domain::{
    audit::Action,
    id::{PlanId, TeamId},
    name::Name,
    plan::SubscriptionState,
    scope::Scope,
};
use serde_json::{Value, json};
use sqlx::PgConnection;
use store::{
    plan,
    subscription::{self, Wanted},
    team,
    token::{self, Grant, NewToken},
};

use crate::{audit, config::one_of};

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
    conn: &mut PgConnection,
    name: &Name,
    plan: Option<PlanId>,
) -> anyhow::Result<Value> {
    let plan = plan.unwrap_or(plan::UNLIMITED);
    let team = team::create(conn, name, plan).await?.id;
    let details = json!({ "name": name, "plan_id": plan });
    audit::record(
        conn,
        Action::TeamCreate,
        Some(team),
        team.as_uuid(),
        details,
    )
    .await?;
    Ok(json!({ "team_id": team }))
}

pub(super) async fn subscribe(
    conn: &mut PgConnection,
    team: TeamId,
    plan: PlanId,
    state: SubscriptionState,
) -> anyhow::Result<Value> {
    let before = subscription::lock(conn, team).await?;
    let before = before.with_context(|| format!("there is no team {team}"))?;
    let wanted = Wanted {
        plan,
        state,
        started_at: None,
    };
    let after = subscription::change(conn, team, wanted).await?;
    let details = json!({
        "changed": {
            "plan_id": { "from": before.plan, "to": after.plan },
            "state": { "from": before.state, "to": after.state },
        },
    });
    audit::record(
        conn,
        Action::SubscriptionUpdate,
        Some(team),
        team.as_uuid(),
        details,
    )
    .await?;
    Ok(json!({ "team_id": team, "plan_id": plan, "state": state }))
}

pub(super) async fn create_token(
    conn: &mut PgConnection,
    name: &Name,
    team: Option<TeamId>,
    scopes: &[Scopes],
) -> anyhow::Result<Value> {
    if let Some(team) = team {
        ensure!(team::exists(conn, team).await?, "there is no team {team}");
    }
    let wanted = |scope: &Scope| {
        scopes.iter().any(|given| match given {
            Scopes::All => true,
            Scopes::One(one) => one == scope,
        })
    };
    let scopes: Vec<Scope> = Scope::ALL.iter().copied().filter(wanted).collect();
    let new = NewToken {
        name,
        team,
        scopes: &scopes,
        expires_at: None,
    };
    let (token, secret) = token::create(conn, &Grant::command_line(), new).await?;
    let details = json!({ "name": name, "scopes": scopes });
    audit::record(conn, Action::TokenCreate, team, token.id.as_uuid(), details).await?;
    Ok(json!({ "token_id": token.id, "management_token": secret.expose() }))
}
