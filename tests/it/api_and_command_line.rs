//! The command line and the management interface are two ways to the same use cases: both refuse
//! the same and record the same.

mod audit;
mod checks;
mod demo;

use std::process::Stdio;

use reqwest::Method;
use serde_json::{Map, Value, json};
use sqlx::PgPool;

use crate::support::{Api, admin, gatehouse, http, text};

/// Both faces on one database.
struct Faces {
    pool: PgPool,
    api: Api,
    token: String,
}

impl Faces {
    async fn open(pool: &PgPool) -> Self {
        let token = admin(pool, &["create-token", "--name", "t", "--scopes", "all"]);
        Self {
            pool: pool.clone(),
            api: Api::start(pool).await,
            token: text(&token, "management_token"),
        }
    }

    /// The management interface.
    async fn ask(&self, method: Method, path: &str, body: &Value) -> (u16, Value) {
        let base = self.api.base_url.replace("/functions/", "/management/");
        let request = http().request(method, format!("{base}{path}"));
        let request = request.bearer_auth(&self.token).json(body);
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        (status, answer.json().await.unwrap_or_default())
    }

    async fn made(&self, path: &str, body: Value) -> Value {
        let (status, made) = self.ask(Method::POST, path, &body).await;
        assert_eq!(status, 201, "{path}: {made}");
        made
    }

    /// The interface's message about the first member that it refuses.
    async fn refused(&self, path: &str, body: Value) -> String {
        let (status, problem) = self.ask(Method::POST, path, &body).await;
        assert!((400..500).contains(&status), "{path}: {status} {problem}");
        let told = problem.pointer("/errors/0/message");
        let told = told.or(problem.get("detail")).unwrap();
        told.as_str().unwrap().to_owned()
    }

    /// The command line's error.
    fn refused_command(&self, arguments: &[&str]) -> String {
        let mut command = gatehouse(&self.pool);
        command.arg("admin").args(arguments).stderr(Stdio::piped());
        let output = command.output().unwrap();
        assert!(!output.status.success(), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    /// The entries that the audit log got since it had `before` entries. Values that differ between
    /// entries are replaced.
    async fn recorded(&self, before: i64) -> Vec<(String, Value)> {
        let entries: Vec<(String, Value)> =
            sqlx::query_as("select action, details::jsonb from audit_log order by id offset $1")
                .bind(before)
                .fetch_all(&self.pool)
                .await
                .unwrap();
        let entries = entries.into_iter();
        entries
            .map(|(action, details)| (action, shape(&details)))
            .collect()
    }

    async fn entries(&self) -> i64 {
        count(&self.pool, "select count(*) from audit_log").await
    }
}

async fn count(pool: &PgPool, sql: &'static str) -> i64 {
    sqlx::query_scalar(sql).fetch_one(pool).await.unwrap()
}

/// Replaces ids, times, hints, names, numbers and creators, so that details can be compared.
fn shape(details: &Value) -> Value {
    match details {
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| {
                let value = match name.as_str() {
                    "hint" | "name" | "number" | "creator" | "created_by" => json!("any"),
                    _ => shape(value),
                };
                (name.clone(), value)
            });
            Value::Object(members.collect::<Map<_, _>>())
        }
        Value::Array(values) => values.iter().map(shape).collect(),
        Value::String(text) if text.parse::<uuid::Uuid>().is_ok() => json!("an id"),
        Value::String(text) if chrono::DateTime::parse_from_rfc3339(text).is_ok() => {
            json!("a time")
        }
        other => other.clone(),
    }
}
