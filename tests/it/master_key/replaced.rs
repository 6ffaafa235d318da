//! A master key that is replaced under running processes.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command, Stdio},
};

use serde_json::json;
use sqlx::PgPool;
use store::encryption::MasterKey;
use uuid::Uuid;

use super::{
    NEW_KEY, SOON, new_key, old_key,
    refused::{refusal, starts},
};
use crate::support::{
    Api, DataDir, MASTER_KEY, Receiver, Site, Worker, admin, eventually, gatehouse, new_site, text,
};

/// With this many sites, a rotation takes a while.
const SITES: i64 = 20_000;

/// Adds many sites beside the test's own, each with a secret that the old key sealed.
async fn add_sites(pool: &PgPool, site: &Site) {
    let key = MasterKey::new(old_key());
    let ids: Vec<Uuid> = (0..SITES).map(|_| Uuid::now_v7()).collect();
    let sealed: Vec<Vec<u8>> = ids
        .iter()
        .map(|id| key.seal(&format!("webhook_secret:{id}"), b"whsec_any"))
        .collect();
    sqlx::query(
        "insert into sites (id, team_id, name, default_rule_group_id, webhook_secret)
         select n.id, s.team_id, n.id::text, s.default_rule_group_id, n.sealed
         from unnest($1::uuid [], $2::bytea []) as n (id, sealed), sites s
         where s.id = $3::uuid",
    )
    .bind(&ids)
    .bind(&sealed)
    .bind(&site.id)
    .execute(pool)
    .await
    .unwrap();
}

/// The number of secrets that this key sealed.
async fn sealed_by(pool: &PgPool, key: [u8; 32]) -> i64 {
    let mark = MasterKey::new(key).seal("", b"")[..4].to_vec();
    sqlx::query_scalar("select count(*) from sites where substr(webhook_secret, 1, 4) = $1")
        .bind(mark)
        .fetch_one(pool)
        .await
        .unwrap()
}

fn rotate(pool: &PgPool, keys: &Path) -> Command {
    let mut command = gatehouse(pool);
    command
        .args(["admin", "--json", "rotate-master-key"])
        .env_remove("GATEHOUSE_MASTER_KEY")
        .env("GATEHOUSE_MASTER_KEY_FILE", keys);
    command
}

/// An interface, a worker, and the receiver of its webhooks.
struct Service {
    api: Api,
    _worker: Worker,
}

impl Service {
    async fn start(pool: &PgPool, keys: &Path, receiver: &Receiver) -> Self {
        let command = || {
            let mut command = gatehouse(pool);
            command
                .env_remove("GATEHOUSE_MASTER_KEY")
                .env("GATEHOUSE_MASTER_KEY_FILE", keys)
                .env("GATEHOUSE_EGRESS_ALLOW", receiver.host());
            command
        };
        Self {
            api: Api::launch(command(), &[]).await,
            _worker: Worker::launch(command()).await,
        }
    }

    /// Submits an item, and checks that both webhooks arrive, signed with the site's secret.
    async fn tells(&self, site: &Site, receiver: &Receiver) {
        let body = json!({ "api_key": site.key, "body": "a text" });
        let (status, answer) = self.api.post("submit-media", None, &body).await.unwrap();
        assert_eq!(status, 200, "{answer}");
        for event in ["media.created", "media.moderated"] {
            let told = receiver
                .event(event, answer["id"].as_str().unwrap(), SOON)
                .await;
            told.assert_signed(&site.webhook_secret);
        }
    }
}

#[sqlx::test(migrations = false)]
async fn case_32_the_master_key_is_replaced_under_running_processes(pool: PgPool) {
    let site = new_site(&pool);
    let receiver = Receiver::start().await;
    admin(
        &pool,
        &[
            "create-endpoint",
            "--site",
            &site.id,
            "--url",
            &receiver.url(),
            "--egress-allow",
            &receiver.host(),
        ],
    );
    add_sites(&pool, &site).await;
    let data = DataDir::new();
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, keys: &[&str]| {
        let path = directory.path().join(name);
        fs::write(&path, keys.join("\n")).unwrap();
        path
    };
    let new = new_key();
    let (old_only, both, new_only) = (
        file("old", &[MASTER_KEY]),
        file("both", &[&new, MASTER_KEY]),
        file("new", &[&new]),
    );

    let service = Service::start(&pool, &both, &receiver).await;
    service.tells(&site, &receiver).await;
    // Killed when it waits for a site in the middle, which somebody holds.
    let mut held = pool.begin().await.unwrap();
    // Found first: with an offset, those before it would be locked, too.
    let middle: Uuid = sqlx::query_scalar("select id from sites order by id offset 10000 limit 1")
        .fetch_one(&mut *held)
        .await
        .unwrap();
    sqlx::query("select from sites where id = $1 for update")
        .bind(middle)
        .execute(&mut *held)
        .await
        .unwrap();
    let mut first = rotate(&pool, &both).stderr(Stdio::piped()).spawn().unwrap();
    let mut progress = BufReader::new(first.stderr.take().unwrap()).lines();
    let line = progress.next().unwrap().unwrap();
    assert_eq!(line, format!("sealed 500 of {}", SITES + 1));
    eventually("it waits for the site", SOON, async || {
        let waiting = "select count(*) from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'";
        let waiting: i64 = sqlx::query_scalar(waiting).fetch_one(&pool).await.unwrap();
        (waiting > 0).then_some(())
    })
    .await;
    first.kill().unwrap();
    first.wait().unwrap();
    held.rollback().await.unwrap();
    let some = sealed_by(&pool, NEW_KEY).await;
    assert!((500..SITES).contains(&some), "{some}");
    assert_eq!(sealed_by(&pool, old_key()).await, SITES + 1 - some);
    service.tells(&site, &receiver).await;
    // Both keys are needed until the rotation is complete.
    for command in starts(
        &pool,
        &data,
        &[("GATEHOUSE_MASTER_KEY_FILE", new_only.to_str().unwrap())],
    ) {
        refusal(command);
    }

    let output = rotate(&pool, &both)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let made: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(made["resealed"], SITES + 1 - some);
    assert_eq!(sealed_by(&pool, NEW_KEY).await, SITES + 1);
    service.tells(&site, &receiver).await;
    drop(service);

    // The old key opens nothing any more, and is not needed.
    for command in starts(
        &pool,
        &data,
        &[("GATEHOUSE_MASTER_KEY_FILE", old_only.to_str().unwrap())],
    ) {
        refusal(command);
    }
    let service = Service::start(&pool, &new_only, &receiver).await;
    service.tells(&site, &receiver).await;
    let again = rotate(&pool, &new_only)
        .stdout(Stdio::piped())
        .output()
        .unwrap();
    let again: serde_json::Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(
        (&again["resealed"], text(&again, "key_id")),
        (&json!(0), text(&made, "key_id"))
    );
    let recorded: Vec<(String, serde_json::Value)> =
        sqlx::query_as("select actor, details from audit_log where action = 'master_key.rotate'")
            .fetch_all(&pool)
            .await
            .unwrap();
    assert_eq!(recorded.len(), 1, "{recorded:?}");
    assert_eq!(recorded[0].0, "command_line");
    assert_eq!(recorded[0].1["to"], made["key_id"]);
}
