//! A database role with few rights: `check` and a process say what they cannot see, and the metrics are absent.

use std::{
    fs,
    process::{Command, Stdio},
};

use sqlx::{AssertSqlSafe, ConnectOptions as _, PgPool};
use uuid::Uuid;

use crate::support::{SOON, Worker, eventually, gatehouse, http};

async fn sql(pool: &PgPool, text: String) {
    sqlx::raw_sql(AssertSqlSafe(text))
        .execute(pool)
        .await
        .unwrap();
}

/// A role of this database's own that owns the schema, and nothing else. Call [`Role::remove`] at the end: roles outlive databases.
struct Role {
    name: String,
    pool: PgPool,
}

impl Role {
    async fn new(pool: &PgPool) -> Self {
        let name = format!("plain_{}", Uuid::now_v7().simple());
        sql(
            pool,
            format!(
                "drop schema if exists ops, queue cascade; drop schema public cascade; create schema public; create role {name};
                 grant usage, create on schema public to {name};
                 do $$ begin execute format('grant create on database %I to {name}', current_database()); end $$;"
            ),
        )
        .await;
        Self {
            name,
            pool: pool.clone(),
        }
    }

    fn gatehouse(&self) -> Command {
        let mut url = self.pool.connect_options().to_url_lossy();
        let options = format!("-c role={}", self.name);
        url.query_pairs_mut().append_pair("options", &options);
        let mut command = gatehouse(&self.pool);
        command.env("DATABASE_URL", url.as_str());
        command
    }

    /// What a command that succeeds wrote to its standard output.
    fn printed(&self, command: &str) -> String {
        let mut run = self.gatehouse();
        run.stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = run.arg(command).output().unwrap();
        assert!(output.status.success(), "{command}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    async fn remove(self) {
        let name = &self.name;
        sql(
            &self.pool,
            format!("drop owned by {name} cascade; drop role {name}"),
        )
        .await;
    }
}

#[sqlx::test(migrations = false)]
async fn what_a_role_cannot_see_is_told_and_absent_until_it_is_granted(pool: PgPool) {
    let role = Role::new(&pool).await;
    role.printed("migrate");
    let before = role.printed("check");

    let log = tempfile::NamedTempFile::new().unwrap();
    let mut command = role.gatehouse();
    command
        .env("GATEHOUSE_LOG_FORMAT", "human")
        .stderr(log.reopen().unwrap());
    let mut worker = Worker::launch(command).await;
    // The statistics begin at once.
    worker.leaves_jobs();
    let page = eventually("figures of the database", SOON, async || {
        let page = http().get(&worker.metrics_url).send().await.ok()?;
        let page = page.text().await.ok()?;
        page.contains("\ngatehouse_dead_tuples{").then_some(page)
    })
    .await;
    worker.stop().await;
    let logged = fs::read_to_string(log.path()).unwrap();

    sql(&pool, format!("grant pg_monitor to {}", role.name)).await;
    let after = role.printed("check");
    let name = role.name.clone();
    role.remove().await;

    for (metric, grant) in [
        (
            "gatehouse_oldest_transaction_seconds",
            format!("grant pg_read_all_stats to {name}"),
        ),
        (
            "gatehouse_wal_files_bytes",
            format!("grant pg_monitor to {name}"),
        ),
    ] {
        let told = format!("the metric {metric} is absent: the role {name} ");
        let is_noted = |line: &str| line.contains(&told) && line.contains(&grant);
        assert!(before.lines().any(is_noted), "{metric}: {before}");
        let warned = logged.lines().filter(|line| is_noted(line)).count();
        assert_eq!(warned, 1, "{metric}: {logged}");
        assert!(!page.contains(&format!("\n{metric} ")), "{page}");
        assert!(!after.contains(metric), "{after}");
    }
    assert!(page.contains("\ngatehouse_database_bytes "), "{page}");
    for told in [&before, &after] {
        let verbosity = "note: log_error_verbosity of this Postgres is `default`";
        assert!(told.contains(verbosity), "{told}");
    }
}
