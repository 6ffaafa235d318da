//! The OpenAPI descriptions of the operations on teams: scopes, problems and examples.

use api_common::problem::Code;
use domain::scope::Scope;
use serde_json::json;

use crate::openapi::{Operation, example_values};

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let team = json!({
        "id": example_values::TEAM,
        "name": "Acme forums",
        "closed_at": null,
        "created_at": example_values::CREATED_AT,
    });
    vec![
        Operation {
            answer: Some(example_values::list(&team)),
            ..Operation::new("listTeams", Scope::TeamsRead)
        },
        Operation {
            problems: &[Code::OperatorsOnly],
            request: Some(json!({ "name": "Acme forums", "plan_id": example_values::PLAN })),
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
