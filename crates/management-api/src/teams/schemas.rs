//! Teams in requests and responses.

use api_common::field::{Field, Time, given};
use domain::{id::PlanId, name::Name};
use poem_openapi::Object;
use serde::{Deserialize, Serialize};
use store::team;
use uuid::Uuid;

/// A tenant. Sites, keys, rule groups and tokens belong to a team.
#[derive(Serialize, Object)]
pub(crate) struct Team {
    /// The ID of the team.
    id: Uuid,
    /// The name of the team. Names need not be unique.
    name: String,
    /// Since when the team is closed for good. `null` before.
    #[oai(nullable)]
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
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewTeam {
    /// The name of the team. Names need not be unique.
    pub(super) name: Field<Name>,
    /// The plan that the team subscribes to. If omitted, it is the plan that every new database
    /// has. Its name is `Unlimited` unless an operator renamed it.
    #[oai(nullable)]
    pub(super) plan_id: Option<Field<PlanId>>,
}

/// Fields of a team to change. Omitted fields keep their value.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(crate) struct TeamChange {
    /// The name of the team. Names need not be unique.
    #[serde(default, deserialize_with = "given")]
    pub(super) name: Option<Field<Name>>,
}
