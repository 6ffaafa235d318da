//! The databases of entries that have one, each with a role. Roles outlive databases, so both are removed.

use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, PgConnection, PgPool};
use url::Url;
use uuid::Uuid;

use super::table::Entry;
use crate::support::gatehouse;

/// The databases of a test, which begin with the same name.
pub(super) struct Databases {
    prefix: String,
    /// A database of the same server.
    near: Url,
}

impl Databases {
    /// Makes a database for each entry that prepares one.
    pub(super) async fn make(pool: &PgPool, entries: &[Entry]) -> Self {
        let mut near = pool.connect_options().to_url_lossy();
        near.set_query(None);
        let databases = Self {
            prefix: format!("wrong_{}", Uuid::now_v7().simple()),
            near,
        };
        let migrated = databases.migrated();
        create(pool, &migrated, "template template0").await;
        let mut migrate = gatehouse(pool);
        migrate.env("DATABASE_URL", databases.url(&migrated).as_str());
        assert!(migrate.arg("migrate").status().unwrap().success());

        for (at, entry) in entries.iter().enumerate() {
            let Some(sql) = &entry.sql else {
                continue;
            };
            let (which, prepare) = sql.split_once('\n').unwrap_or((sql, ""));
            let how = match which {
                "-- an empty database" => "template template0".to_owned(),
                "-- an empty database with the encoding LATIN1" => {
                    "template template0 encoding 'LATIN1' lc_collate 'C' lc_ctype 'C'".to_owned()
                }
                "-- a database of this version" => format!("template {migrated}"),
                other => panic!("{}: {other:?} does not say which database", entry.title),
            };
            let name = databases.name(at);
            create(pool, &name, &how).await;
            if !prepare.is_empty() {
                let prepare = prepare
                    .replace("$NAME", &name)
                    .replace("$ROLE", &databases.role(at));
                let mut conn = PgConnection::connect(databases.url(&name).as_str())
                    .await
                    .unwrap();
                let done = sqlx::raw_sql(AssertSqlSafe(prepare));
                done.execute(&mut conn).await.unwrap();
                conn.close().await.unwrap();
            }
        }
        databases
    }

    /// The variables of an entry with a database. A name that has another one in it comes first.
    pub(super) fn variables(&self, at: usize) -> Vec<(&'static str, String)> {
        let name = self.name(at);
        let host = self.near.host_str().unwrap();
        let port = self.near.port().unwrap_or(5432);
        vec![
            ("DATABASE_URL", self.url(&name).into()),
            ("ROLE", self.role(at)),
            ("NAME", name),
            ("SERVER", format!("{host}:{port}")),
        ]
    }

    /// Removes all databases, and the roles of entries.
    pub(super) async fn remove(self, pool: &PgPool) {
        let there: Vec<String> = sqlx::query_scalar(
            "select datname::text from pg_database where starts_with(datname::text, $1)",
        )
        .bind(&self.prefix)
        .fetch_all(pool)
        .await
        .unwrap();
        for name in there {
            execute(pool, format!("drop database {name} with (force)")).await;
            execute(pool, format!("drop role if exists {}", role(&name))).await;
        }
    }

    fn name(&self, at: usize) -> String {
        format!("{}_{at}", self.prefix)
    }

    fn role(&self, at: usize) -> String {
        role(&self.name(at))
    }

    /// The database that others are copies of.
    fn migrated(&self) -> String {
        format!("{}_migrated", self.prefix)
    }

    fn url(&self, name: &str) -> Url {
        let mut url = self.near.clone();
        url.set_path(name);
        url
    }
}

/// The role of a database.
fn role(name: &str) -> String {
    format!("{name}_role")
}

async fn create(pool: &PgPool, name: &str, how: &str) {
    execute(pool, format!("create database {name} {how}")).await;
}

async fn execute(pool: &PgPool, sql: String) {
    sqlx::raw_sql(AssertSqlSafe(sql))
        .execute(pool)
        .await
        .unwrap();
}
