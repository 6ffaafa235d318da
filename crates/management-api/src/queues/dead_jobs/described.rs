//! What the document says of the operations on dead jobs beyond their signatures.

use api_common::problem::Code;
use domain::scope::Scope;
use serde_json::json;

use crate::document::{Operation, example};

pub(in crate::queues) fn described() -> Vec<Operation> {
    let error = "the provider answered 503";
    let job = json!({
        "id": 48_211_907,
        "queue": "analysis",
        "group_id": example::TEAM,
        "lane_id": example::TEAM,
        "subject_id": example::MEDIA,
        "cause": "exhausted",
        "error": error,
        "attempts": 5,
        "max_attempts": 5,
        "created_at": example::CREATED_AT,
        "died_at": example::CREATED_AT,
    });
    let group = json!({
        "queue": "analysis",
        "cause": "exhausted",
        "error": error,
        "jobs": 99_214,
        "lanes": 41,
        "first_died_at": example::CREATED_AT,
        "last_died_at": example::CREATED_AT,
    });
    let problems = &[Code::OperatorsOnly];
    vec![
        Operation {
            problems,
            answer: Some(example::list(&job)),
            ..Operation::new("listDeadJobs", Scope::QueuesRead)
        },
        Operation {
            problems,
            answer: Some(json!({
                "at": example::CREATED_AT,
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
