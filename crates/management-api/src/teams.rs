//! Teams: list, create, read, rename.

use api_common::{Code, Created, Field, Json, JsonBody, Path, Query, Refusal, Schema, Time, given};
use domain::{
    id::{PlanId, TeamId},
    name::Name,
    scope::Scope,
};
use management::teams;
use poem_openapi::OpenApi;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::team;
use uuid::Uuid;

use super::{After, Caller, Limit, List, Operation, PREFIX, Part, Tag, example_values};

#[derive(Default)]
pub(crate) struct Teams;

#[OpenApi(tag = "Tag::Teams")]
impl Teams {
    /// List teams
    ///
    /// Returns the oldest teams first. A team's token sees only its own team.
    #[oai(path = "/teams", method = "get", operation_id = "listTeams")]
    async fn list_teams(
        &self,
        caller: Caller,
        /// The most items in one page.
        limit: Query<Limit>,
        /// Where to continue: the `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<Team>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let teams = teams::list(&caller, part.page()).await?;
        Ok(Json(part.list(teams, |team| team.id.as_uuid())))
    }

    /// Create a team
    ///
    /// The team subscribes to a plan at once. Only operators can create teams.
    #[oai(path = "/teams", method = "post", operation_id = "createTeam")]
    async fn create_team(
        &self,
        caller: Caller,
        request: JsonBody<NewTeam>,
    ) -> Result<Created<Team>, Refusal> {
        let new = request.value;
        let plan = new.plan_id.map(|plan| plan.0);
        let team = teams::create(&caller, &new.name, plan).await?;
        Ok(Created::at(format!("{PREFIX}/teams/{}", team.id), team))
    }

    /// Read a team
    #[oai(path = "/teams/:team_id", method = "get", operation_id = "getTeam")]
    async fn get_team(
        &self,
        caller: Caller,
        /// The ID of the team.
        team_id: Path<TeamId>,
    ) -> Result<Json<Team>, Refusal> {
        let team = teams::get(&caller, team_id.0).await?;
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
        caller: Caller,
        /// The ID of the team.
        team_id: Path<TeamId>,
        request: JsonBody<TeamChange>,
    ) -> Result<Json<Team>, Refusal> {
        let edit = |_: &str| request.value.name.map(|name| name.0);
        let team = teams::update(&caller, team_id.0, edit).await?;
        Ok(Json(team.into()))
    }
}

/// A tenant. Sites, keys, rule groups and tokens belong to a team.
#[derive(Serialize, Schema)]
pub(crate) struct Team {
    /// The ID of the team.
    id: Uuid,
    /// The name of the team. Names need not be unique.
    name: String,
    /// Since when the team is closed for good. `null` before.
    #[schema(nullable)]
    closed_at: Option<Field<Time>>,
    /// When it was created.
    created_at: Field<Time>,
}

impl From<team::Team> for Team {
    fn from(team: team::Team) -> Self {
        Self {
            id: team.id.as_uuid(),
            name: team.name,
            closed_at: team.closed_at.map(Field::from),
            created_at: team.created_at.into(),
        }
    }
}

/// A team to create.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewTeam {
    /// The name of the team. Names need not be unique.
    name: Field<Name>,
    /// The plan that the team subscribes to. If omitted, it is the plan that every new database
    /// has. Its name is `Unlimited` unless an operator renamed it.
    #[schema(nullable)]
    plan_id: Option<Field<PlanId>>,
}

/// Fields of a team to change. Omitted fields keep their value.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TeamChange {
    /// The name of the team. Names need not be unique.
    #[serde(default, deserialize_with = "given")]
    name: Option<Field<Name>>,
}

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let team = json!({
        "id": example_values::TEAM,
        "name": "Acme forums",
        "closed_at": null,
        "created_at": example_values::CREATED_AT,
    });
    vec![
        Operation::new("listTeams", Scope::TeamsRead).answer(example_values::list(&team)),
        Operation::new("createTeam", Scope::TeamsWrite)
            .problems(&[Code::OperatorsOnly])
            .request(json!({ "name": "Acme forums", "plan_id": example_values::PLAN }))
            .answer(team.clone()),
        Operation::new("getTeam", Scope::TeamsRead).answer(team.clone()),
        Operation::new("updateTeam", Scope::TeamsWrite)
            .request(json!({ "name": "Acme forums" }))
            .answer(team),
    ]
}
