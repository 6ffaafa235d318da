//! The OpenAPI descriptions of the operations on dead jobs: scopes, problems and examples.

use api_common::problem::Code;
use domain::scope::Scope;
use serde_json::json;

use crate::openapi::{Operation, example_values};

pub(in crate::queues) fn descriptions() -> Vec<Operation> {
    let error = "the provider answered 503";
    let job = json!({
        "id": 48_211_907,
        "queue": "analysis",
        "group_id": example_values::TEAM,
        "lane_id": example_values::TEAM,
        "subject_id": example_values::MEDIA,
        "cause": "exhausted",
        "error": error,
        "attempts": 5,
        "max_attempts": 5,
        "created_at": example_values::CREATED_AT,
        "died_at": example_values::CREATED_AT,
    });
    let group = json!({
        "queue": "analysis",
        "cause": "exhausted",
        "error": error,
        "jobs": 99_214,
        "lanes": 41,
        "first_died_at": example_values::CREATED_AT,
        "last_died_at": example_values::CREATED_AT,
    });
    let problems = &[Code::OperatorsOnly];
    vec![
        Operation {
            problems,
            answer: Some(example_values::list(&job)),
            ..Operation::new("listDeadJobs", Scope::QueuesRead)
        },
        Operation {
            problems,
            answer: Some(json!({
                "at": example_values::CREATED_AT,
                "matching": 100_000,
                "left_out": 786,
                "data": [group],
            })),
            ..Operation::new("getDeadJobSummary", Scope::QueuesRead)
        },
        Operation {
            problems,
            request: Some(json!({ "queue": "analysis", "error": "answered 503", "limit": 1_000 })),
            answer: Some(json!({
                "replayed": 1_000,
                "next_cursor": "cnBseQAGSbBh0CgAAAZJsGHQJkAAAAAAAt-lMw",
            })),
            ..Operation::new("replayDeadJobs", Scope::QueuesWrite)
        },
    ]
}
