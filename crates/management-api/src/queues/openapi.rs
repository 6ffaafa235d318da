//! What the document says of the operations on queues beyond their signatures.

use api_common::problem::Code;
use domain::scope::Scope;
use serde_json::json;

use crate::openapi::{Operation, example_values};

pub(super) fn descriptions() -> Vec<Operation> {
    let queue = json!({
        "name": "webhooks",
        "due": 4_468,
        "runnable": 64,
        "scheduled": 500,
        "running": 32,
        "dead": 3,
        "oldest_due_seconds": 192.4,
        "paused": false,
        "paused_until": null,
        "paused_groups": 0,
        "capped_groups": 1,
        "paused_lanes": 1,
        "capped_lanes": 0,
        "lane_cap": 32,
    });
    let group = json!({
        "queue": "webhooks",
        "group_id": example_values::TEAM,
        "due": 1_584,
        "running": 16,
        "cap": 16,
        "paused": false,
        "paused_until": null,
    });
    let lane = json!({
        "queue": "webhooks",
        "lane_id": example_values::ENDPOINT,
        "due": 1_584,
        "running": 0,
        "cap": null,
        "paused": true,
        "paused_until": example_values::CREATED_AT,
    });
    let worker = json!({
        "id": "01980f6d-51aa-7bbb-8ccc-0123456789ab",
        "host": "gatehouse-worker-7d9c5b6f4-x2v8k",
        "pid": 1,
        "role": "worker",
        "metrics_address": "0.0.0.0:9464",
        "version": "0.1.0",
        "started_at": example_values::CREATED_AT,
        "lease_left_seconds": 27.1,
        "running": 32,
    });
    let reads = |id| Operation {
        problems: &[Code::OperatorsOnly],
        ..Operation::new(id, Scope::QueuesRead)
    };
    let changes = |id| Operation {
        problems: &[Code::OperatorsOnly],
        ..Operation::new(id, Scope::QueuesWrite)
    };
    vec![
        Operation {
            answer: Some(json!({
                "at": example_values::CREATED_AT,
                "data": [queue],
                "workers": [worker],
                "workers_left_out": 0,
            })),
            ..reads("listQueues")
        },
        Operation {
            answer: Some(json!({
                "at": example_values::CREATED_AT,
                "queue": queue,
                "groups": [group],
                "groups_left_out": 3,
                "lanes": [lane],
                "lanes_left_out": 71,
            })),
            ..reads("getQueue")
        },
        Operation {
            request: Some(json!({ "paused": true })),
            answer: Some(queue),
            ..changes("updateQueue")
        },
        Operation {
            answer: Some(group.clone()),
            ..reads("getQueueGroup")
        },
        Operation {
            request: Some(json!({ "cap": 16 })),
            answer: Some(group),
            ..changes("updateQueueGroup")
        },
        Operation {
            answer: Some(lane.clone()),
            ..reads("getQueueLane")
        },
        Operation {
            request: Some(json!({ "paused": true, "cap": null })),
            answer: Some(lane),
            ..changes("updateQueueLane")
        },
    ]
}
