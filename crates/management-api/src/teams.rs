//! Teams: list, create, read, rename.

mod openapi;
mod schemas;

use std::sync::Arc;

use api_common::{
    body::JsonBody,
    path_parameters::Path,
    problem::Refusal,
    query_parameters::Query,
    response::{Created, Json},
};
use domain::id::TeamId;
use management::{Management, teams};
use poem::web::Data;
use poem_openapi::OpenApi;

use super::{
    PREFIX, Tag,
    caller::Caller,
    list::{After, Limit, List, Part},
};

pub(super) use openapi::descriptions;
pub(super) use schemas::{NewTeam, Team, TeamChange};

pub(crate) struct Teams;

#[OpenApi(tag = "Tag::Teams")]
impl Teams {
    /// List teams
    ///
    /// Returns the oldest teams first. A team's token sees only its own team.
    #[oai(path = "/teams", method = "get", operation_id = "listTeams")]
    async fn list_teams(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The most items in one page.
        limit: Query<Limit>,
        /// Where to continue: the `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<Team>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let teams = teams::list(&management, &caller, part.page()).await?;
        Ok(Json(part.list(teams, |team| team.id.as_uuid())))
    }

    /// Create a team
    ///
    /// The team subscribes to a plan at once. Only operators can create teams.
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
        /// The ID of the team.
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
        /// The ID of the team.
        team_id: Path<TeamId>,
        request: JsonBody<TeamChange>,
    ) -> Result<Json<Team>, Refusal> {
        let edit = |_: &str| request.value.name.map(|name| name.0);
        let team = teams::update(&management, &caller, team_id.0, edit).await?;
        Ok(Json(team.into()))
    }
}
