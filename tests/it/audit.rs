//! `gatehouse audit`, run as operators run it, on the log of a real service.

use std::process::{Output, Stdio};

use serde_json::{Value, json};
use sqlx::{ConnectOptions as _, PgPool};

use crate::support::{DataDir, Up, admin, eventually, gatehouse, new_site, run, text};

fn audit(pool: &PgPool, arguments: &[&str]) -> Output {
    gatehouse(pool)
        .arg("audit")
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .output()
        .unwrap()
}

/// What `verify` says of each chain, and whether everything is in order.
fn verify(pool: &PgPool, arguments: &[&str]) -> (Vec<Value>, bool) {
    let output = audit(pool, &[&["verify", "--json"], arguments].concat());
    let chains = String::from_utf8(output.stdout).unwrap();
    let chains = chains
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    (chains.collect(), output.status.success())
}

#[sqlx::test(migrations = false)]
async fn case_86_the_log_is_verified_and_exported_and_a_known_head_shows_a_forgery(pool: PgPool) {
    let team = {
        new_site(&pool);
        text(
            &admin(&pool, &["create-team", "--name", "other"]),
            "team_id",
        )
    };
    admin(&pool, &["create-site", "--team", &team, "--name", "site"]);
    admin(&pool, &["create-plan", "--name", "plan"]);
    let sealed = String::from_utf8(run(&pool, &["audit", "seal"])).unwrap();
    assert_eq!(sealed, "sealed 8 entries\n");

    let (chains, is_in_order) = verify(&pool, &[]);
    assert!(is_in_order, "{chains:?}");
    assert_eq!(chains.len(), 3, "{chains:?}");
    assert_eq!(chains[0]["team_id"], Value::Null);
    let (of_team, _) = verify(&pool, &["--team", &team]);
    assert_eq!(
        (&of_team[0]["rows"], &of_team[0]["finding"]),
        (&json!(3), &Value::Null)
    );
    let head = text(&of_team[0], "head");

    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("audit.ndjson");
    let path = file.to_str().unwrap();
    let export = run(&pool, &["audit", "export"]);
    std::fs::write(&file, &export).unwrap();
    assert_eq!(String::from_utf8_lossy(&export).lines().count(), 8 + 6);
    let mut without_database = gatehouse(&pool);
    let verified = without_database
        .env_remove("DATABASE_URL")
        .args(["audit", "verify", "--file", path])
        .output()
        .unwrap();
    assert!(verified.status.success(), "{verified:?}");
    let with_head = ["--file", path, "--team", &team, "--head", &head];
    assert!(verify(&pool, &with_head).1);
    let changed = String::from_utf8(export)
        .unwrap()
        .replace("site.create", "site.update");
    std::fs::write(&file, changed).unwrap();
    let (chains, is_in_order) = verify(&pool, &["--file", path]);
    assert!(!is_in_order);
    let finding = text(&chains[2], "finding");
    assert!(finding.contains("row 3 "), "{finding}");

    // A later export goes on from there.
    let later = run(&pool, &["audit", "export", "--since", "2999-01-01"]);
    let later = String::from_utf8(later).unwrap();
    assert_eq!(later.lines().count(), 6, "{later}");
    std::fs::write(&file, later).unwrap();
    assert!(verify(&pool, &["--file", path]).1);

    // Somebody changes an entry and has everything sealed again.
    for statement in [
        "update audit_log set chain_number = null, chain_hash = null where action = 'site.create' and team_id = $1::uuid",
        "update audit_log set actor = 'member', actor_id = id where action = 'site.create' and team_id = $1::uuid",
        "update audit_chains c set head_number = 2, head_hash = l.chain_hash from audit_log l
         where c.chain = $1::uuid and l.team_id = c.chain and l.chain_number = 2",
    ] {
        let mut tx = pool.begin().await.unwrap();
        sqlx::query("set local session_replication_role = replica")
            .execute(&mut *tx)
            .await
            .unwrap();
        let changed = sqlx::query(statement).bind(&team).execute(&mut *tx).await;
        assert_eq!(changed.unwrap().rows_affected(), 1, "{statement}");
        tx.commit().await.unwrap();
    }
    run(&pool, &["audit", "seal"]);
    assert!(verify(&pool, &[]).1);
    let (chains, is_in_order) = verify(&pool, &["--team", &team, "--head", &head]);
    assert!(!is_in_order);
    let finding = text(&chains[0], "finding");
    assert!(finding.contains("row 3 has the hash"), "{finding}");
    let people = audit(&pool, &["verify", "--team", &team, "--head", &head]);
    let told = String::from_utf8(people.stdout).unwrap();
    assert!(told.contains("WRONG: row 3 has the hash"), "{told}");
}

#[sqlx::test(migrations = false)]
async fn a_running_service_seals_what_is_written(pool: PgPool) {
    let (database, data) = (
        pool.connect_options().to_url_lossy().to_string(),
        DataDir::new(),
    );
    let _up = Up::start(&data, &["--database-url", &database]).await;
    admin(&pool, &["create-plan", "--name", "plan"]);
    eventually(
        "everything is sealed",
        std::time::Duration::from_secs(30),
        async || {
            let (unsealed, all): (i64, i64) = sqlx::query_as(
                "select count(*) filter (where chain_number is null), count(*) from audit_log",
            )
            .fetch_one(&pool)
            .await
            .unwrap();
            (unsealed == 0 && all > 1).then_some(())
        },
    )
    .await;
    let (chains, is_in_order) = verify(&pool, &[]);
    assert!(is_in_order && chains.len() > 1, "{chains:?}");
}
