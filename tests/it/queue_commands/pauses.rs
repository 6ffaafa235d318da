//! Pauses of queues, lanes and teams.

use std::time::Duration;

use queue::{Group, Lane, NewJob, NewJobs, QueueName};
use serde_json::{Value, json};
use sqlx::PgPool;
use store::jobs::{ANALYSIS, RULES};
use uuid::Uuid;

use super::{count, running::Gatehouse, until_count};

/// Workers poll twice per second. A job that is untouched for this long stays untouched.
const A_WHILE: Duration = Duration::from_millis(1_500);

/// Changes of queues by commands.
const RECORDED: &str =
    "select count(*) from audit_log where actor = 'command_line' and action = 'queue.update'";

/// Enqueues a job for an item that does not exist, so running it takes no time.
async fn enqueue(pool: &PgPool, queue: QueueName, lane: u128) {
    let payload = json!({ "media": Uuid::now_v7() });
    let job = NewJob::new(queue, Lane(Uuid::from_u128(lane)), &payload);
    let mut conn = pool.acquire().await.unwrap();
    queue::enqueue(&mut conn, &NewJobs::from(job))
        .await
        .unwrap();
}

#[sqlx::test(migrations = false)]
async fn a_pause_holds_over_a_restart_until_it_is_resumed(pool: PgPool) {
    const HELD: &str = "select count(*) from queue.jobs where lane = lpad('1', 32, '0')::uuid";
    const OTHERS: &str = "select count(*) from queue.jobs where lane = lpad('2', 32, '0')::uuid";
    let gatehouse = Gatehouse::on(&pool);
    let lane = Uuid::from_u128(1).to_string();
    for target in [
        &["--queue", "analysis", "--lane", lane.as_str()][..],
        &["--queue", "rules"],
    ] {
        let with_target = |action| [&[action][..], target].concat();
        let paused = gatehouse.json(&with_target("pause"));
        assert_eq!(
            (&paused["paused"], &paused["paused_until"]),
            (&json!(true), &Value::Null)
        );
        let queue = if target.len() > 2 { ANALYSIS } else { RULES };
        enqueue(&pool, queue, 1).await;
        for _ in 0..2 {
            let _worker = gatehouse.worker();
            enqueue(&pool, ANALYSIS, 2).await;
            until_count(&pool, OTHERS, |waiting| waiting == 0).await;
            tokio::time::sleep(A_WHILE).await;
            assert_eq!(count(&pool, HELD).await, 1, "{target:?} was not held");
        }
        let _worker = gatehouse.worker();
        let resumed = gatehouse.json(&with_target("resume"));
        assert_eq!(
            (&resumed["resumed"], &resumed["paused"]),
            (&json!(true), &json!(false))
        );
        until_count(&pool, HELD, |waiting| waiting == 0).await;
    }
    assert_eq!(count(&pool, RECORDED).await, 4);
}

#[sqlx::test(migrations = false)]
async fn a_team_is_held_back_with_all_its_lanes(pool: PgPool) {
    const HELD: &str = "select count(*) from queue.jobs where grp = lpad('1', 32, '0')::uuid";
    let gatehouse = Gatehouse::on(&pool);
    let team = Uuid::from_u128(1).to_string();
    let target = ["--queue", "analysis", "--group", team.as_str()];
    let with_target = |action| [&[action][..], &target].concat();
    let paused = gatehouse.json(&with_target("pause"));
    assert_eq!(
        (&paused["group"], &paused["paused"]),
        (&json!(team), &json!(true))
    );
    let jobs = (11..14).map(|lane| {
        let payload = json!({ "media": Uuid::now_v7() });
        let job = NewJob::new(ANALYSIS, Lane(Uuid::from_u128(lane)), &payload);
        job.group(Group(Uuid::from_u128(1)))
    });
    let mut conn = pool.acquire().await.unwrap();
    queue::enqueue(&mut conn, &jobs.collect::<NewJobs>())
        .await
        .unwrap();
    let _worker = gatehouse.worker();
    tokio::time::sleep(A_WHILE).await;
    assert_eq!(count(&pool, HELD).await, 3);
    let listed = gatehouse.json(&["jobs", "--group", &team]);
    assert_eq!(listed["jobs"].as_array().unwrap().len(), 3);
    assert_eq!(listed["jobs"][0]["group"], json!(team));
    let capped = [&with_target("cap")[..], &["2"]].concat();
    assert_eq!(gatehouse.json(&capped)["cap"], json!(2));
    let status = gatehouse.json(&["status", "--group", &team]);
    let analysis = &status["groups"][1];
    assert_eq!(
        (&analysis["queue"], &analysis["due"], &analysis["cap"]),
        (&json!("analysis"), &json!(3), &json!(2))
    );
    let status = gatehouse.done(&["queue", "status", "--groups"]);
    assert!(
        status.contains("1 group paused, 1 group capped"),
        "{status}"
    );
    assert!(status.contains(&team), "{status}");
    let of_queue = gatehouse.json(&["status"]);
    let analysis = &of_queue["queues"][1];
    assert_eq!(
        (&analysis["due"], &analysis["runnable"]),
        (&json!(3), &json!(0))
    );
    let resumed = gatehouse.json(&with_target("resume"));
    assert_eq!(resumed["resumed"], json!(true));
    until_count(&pool, HELD, |waiting| waiting == 0).await;
    // A command that changes nothing leaves no entry.
    assert_eq!(gatehouse.json(&with_target("resume"))["resumed"], false);
    assert_eq!(count(&pool, RECORDED).await, 3);
}
