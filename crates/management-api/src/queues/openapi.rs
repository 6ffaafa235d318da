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
    let reads = |id| Operation::new(id, Scope::QueuesRead)
        .problems(&[Code::OperatorsOnly]);
    let changes = |id| Operation::new(id, Scope::QueuesWrite)
        .problems(&[Code::OperatorsOnly]);
    vec![
        reads("listQueues")
            .answer(json!({
                "at": example_values::CREATED_AT,
                "data": [queue],
                "workers": [worker],
                "workers_left_out": 0,
            })),
        reads("getQueue")
            .answer(json!({
                "at": example_values::CREATED_AT,
                "queue": queue,
                "groups": [group],
                "groups_left_out": 3,
                "lanes": [lane],
                "lanes_left_out": 71,
            })),
        changes("updateQueue")
            .request(json!({ "paused": true }))
            .answer(queue),
        reads("getQueueGroup").answer(group.clone()),
        changes("updateQueueGroup")
            .request(json!({ "cap": 16 }))
            .answer(group),
        reads("getQueueLane").answer(lane.clone()),
        changes("updateQueueLane")
            .request(json!({ "paused": true, "cap": null }))
            .answer(lane),
    ]
}
