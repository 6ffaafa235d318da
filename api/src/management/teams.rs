//! Teams: list, create, read, rename.

use std::sync::Arc;

use domain::{
    id::{PlanId, TeamId},
    name::Name,
    scope::Scope,
};
use management::{Management, teams};
use poem::web::Data;
use poem_openapi::{Object, OpenApi};
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::team;
use uuid::Uuid;

use super::{
    PREFIX, Tag,
    caller::Caller,
    document::{Operation, example},
    list::{After, Limit, List, Part},
};
use crate::{
    answer::{Created, Json},
    member::{Member, Time, given},
    path::Path,
    payload::JsonBody,
    problem::{Code, Refusal},
    query::Query,
};

/// A tenant.
#[derive(Serialize, Object)]
pub(super) struct Team {
    /// The team.
    id: Uuid,
    /// What it is called; two may be called the same.
    name: String,
    /// When it was created.
    created_at: Member<Time>,
}

impl From<team::Team> for Team {
    fn from(team: team::Team) -> Self {
        Self {
            id: team.id.as_uuid(),
            name: team.name,
            created_at: team.created_at.into(),
        }
    }
}

/// A team to be created.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(super) struct NewTeam {
    /// What it is to be called.
    name: Member<Name>,
    /// The plan that it subscribes to, from now on. Without, it is the one that the database came with, which is called
    /// `Unlimited` unless somebody renamed it.
    #[oai(nullable)]
    plan_id: Option<Member<PlanId>>,
}

/// What is to be otherwise of a team.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(super) struct TeamChange {
    /// What it is to be called.
    #[serde(default, deserialize_with = "given")]
    name: Option<Member<Name>>,
}

pub(crate) struct Teams;

#[OpenApi(tag = "Tag::Teams")]
impl Teams {
    /// List teams
    ///
    /// The oldest first. A team's token sees its own team only.
    #[oai(path = "/teams", method = "get", operation_id = "listTeams")]
    async fn list_teams(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// How many at most.
        limit: Query<Limit>,
        /// Where to go on: `next_cursor` of the part before.
        cursor: After,
    ) -> Result<Json<List<Team>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let teams = teams::list(&management, &caller, part.page()).await?;
        Ok(Json(part.list(teams, |team| team.id.as_uuid())))
    }

    /// Create a team
    ///
    /// It subscribes to a plan at once. Only operators may do this.
    #[oai(path = "/teams", method = "post", operation_id = "createTeam")]
    async fn create_team(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        request: JsonBody<NewTeam>,
    ) -> Result<Created<Team>, Refusal> {
        let new = request.value;
        let plan = new.plan_id.map(|plan| plan.0);
        let team = teams::create(&management, &caller, &new.name, plan).await?;
        Ok(Created {
            location: format!("{PREFIX}/teams/{}", team.id),
            value: team.into(),
        })
    }

    /// Read a team
    #[oai(path = "/teams/:team_id", method = "get", operation_id = "getTeam")]
    async fn get_team(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The team.
        team_id: Path<TeamId>,
    ) -> Result<Json<Team>, Refusal> {
        let team = teams::get(&management, &caller, team_id.0).await?;
        Ok(Json(team.into()))
    }

    /// Rename a team
    #[oai(
        path = "/teams/:team_id",
        method = "patch",
        operation_id = "updateTeam"
    )]
    async fn update_team(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The team.
        team_id: Path<TeamId>,
        request: JsonBody<TeamChange>,
    ) -> Result<Json<Team>, Refusal> {
        let edit = |_: &str| request.value.name.map(|name| name.0);
        let team = teams::update(&management, &caller, team_id.0, edit).await?;
        Ok(Json(team.into()))
    }
}

/// What the document says beyond the signatures.
pub(super) fn described() -> Vec<Operation> {
    let team = json!({
        "id": example::TEAM,
        "name": "Acme forums",
        "created_at": example::CREATED_AT,
    });
    vec![
        Operation {
            answer: Some(example::list(&team)),
            ..Operation::new("listTeams", Scope::TeamsRead)
        },
        Operation {
            problems: &[Code::OperatorsOnly],
            request: Some(json!({ "name": "Acme forums", "plan_id": example::PLAN })),
            answer: Some(team.clone()),
            ..Operation::new("createTeam", Scope::TeamsWrite)
        },
        Operation {
            answer: Some(team.clone()),
            ..Operation::new("getTeam", Scope::TeamsRead)
        },
        Operation {
            request: Some(json!({ "name": "Acme forums" })),
            answer: Some(team),
            ..Operation::new("updateTeam", Scope::TeamsWrite)
        },
    ]
}
