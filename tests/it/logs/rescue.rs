//! A worker is killed: those who look for it find out which one it was.

use serde_json::{Value, json};
use sqlx::PgPool;

use super::{Logs, message, rules};
use crate::support::{Api, FakeProvider, Mode, SOON, Worker, eventually, new_site, run};

/// The processes that `gatehouse queue status` lists.
fn listed(pool: &PgPool) -> Vec<Value> {
    let status = run(pool, &["queue", "--json", "status"]);
    let status: Value = serde_json::from_slice(&status).unwrap();
    status["workers"].as_array().unwrap().clone()
}

#[sqlx::test(migrations = false)]
async fn a_process_is_named_where_it_lives_and_where_its_jobs_are_rescued(pool: PgPool) {
    let site = new_site(&pool);
    let logs = Logs::new();
    let group = rules(&pool, &logs).await;
    let provider = FakeProvider::openai(Mode::Hang).await;
    let command = |process: &str| {
        let mut command = logs.command(&pool, process);
        command.env("GATEHOUSE_LEASE_SECONDS", "3");
        command.env("GATEHOUSE_OPENAI_API_KEY", FakeProvider::KEY);
        for (name, value) in provider.variables() {
            command.env(name, value);
        }
        command
    };
    let api = Api::launch(logs.command(&pool, "api"), &[]).await;
    let first = Worker::launch(command("first")).await;
    let body = json!({ "api_key": site.key, "body": "a fine day", "rule_group_id": group });
    let (status, _) = api.post("submit-media", None, &body).await.unwrap();
    assert_eq!(status, 200);
    eventually("a job that runs", SOON, async || {
        (provider.asked() > 0).then_some(())
    })
    .await;

    // A process of an older version says nothing about itself.
    sqlx::query("insert into queue.workers (id, expires_at) values (gen_random_uuid(), now() + interval '1 hour')")
        .execute(&pool)
        .await
        .unwrap();
    // The interface may not have sent its first heartbeat yet.
    let processes = eventually("all are listed", SOON, async || {
        let processes = listed(&pool);
        (processes.len() == 3).then_some(processes)
    })
    .await;
    let of_role = |role: Value| {
        let mut found = processes.iter().filter(|process| process["role"] == role);
        let process = found.next().unwrap();
        assert!(found.next().is_none(), "{processes:?}");
        process.clone()
    };
    let worker = of_role("worker".into());
    assert_eq!(worker["pid"], first.id(), "{worker}");
    assert_eq!(worker["version"], env!("CARGO_PKG_VERSION"), "{worker}");
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    assert_eq!(worker["host"], host.trim(), "{worker}");
    let address = worker["metrics_address"].as_str().unwrap();
    assert!(first.metrics_url.contains(address), "{worker}");
    assert_eq!(of_role("api".into())["host"], host.trim());
    assert!(of_role(Value::Null)["host"].is_null());
    let table = String::from_utf8(run(&pool, &["queue", "status"])).unwrap();
    let name = format!("worker on {}, pid {}", host.trim(), first.id());
    assert!(table.contains(&name), "{table}");
    assert!(table.contains("process of an older version"), "{table}");

    first.kill();
    let second = Worker::launch(command("second")).await;
    // The provider never answers.
    second.leaves_jobs();
    // The interface does the housekeeping, too.
    let line = eventually("the rescue is logged", SOON, async || {
        let lines = [logs.lines("api"), logs.lines("second")].concat();
        let is_rescue = |line: &Value| message(line) == "rescued jobs of a process that died";
        lines.into_iter().find(is_rescue)
    })
    .await;
    for (field, known) in [
        ("worker", "worker"),
        ("host", "host"),
        ("role", "role"),
        ("metrics", "metrics_address"),
        ("version", "version"),
    ] {
        assert_eq!(line[field], worker[known], "{field}: {line}");
    }
    assert_eq!(line["pid"], first.id(), "{line}");
    assert!(line["jobs"].as_u64() >= Some(1), "{line}");
    assert!(line["started_at"].is_string(), "{line}");
}
