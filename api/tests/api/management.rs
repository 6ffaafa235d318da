//! The management interface.

mod access;
mod audit_log;
mod closures;
mod document;
mod erasures;
mod exports;
mod hash_lists;
mod keys;
mod legal_holds;
mod lists;
mod media;
mod people;
mod plan_limits;
mod plans;
mod providers;
mod queues;
mod rate_limit;
mod recoveries;
mod review_policies;
mod reviews;
mod rule_groups;
mod sites;
mod statistics;
mod subscriptions;
mod teams;
mod tokens;
mod usage;
mod webhooks;

use std::time::Duration;

use domain::{id::TeamId, key::ManagementToken, scope::Scope};
use serde_json::Value;
use store::token::{self, Grant, NewToken};

use crate::{app::App, client::Answer};

const PREFIX: &str = "/management/v1";

/// Somebody with a token.
pub(crate) struct Caller<'a> {
    app: &'a App,
    token: String,
}

impl App {
    /// Somebody who acts in all teams, with every scope.
    pub(crate) async fn operator(&self) -> Caller<'_> {
        self.caller(None, Scope::ALL).await
    }

    /// Somebody who acts in one team, with every scope.
    pub(crate) async fn member(&self, team: TeamId) -> Caller<'_> {
        self.caller(Some(team), Scope::ALL).await
    }

    pub(crate) async fn caller(&self, team: Option<TeamId>, scopes: &[Scope]) -> Caller<'_> {
        let new = NewToken {
            name: &"test".parse().unwrap(),
            team,
            scopes,
            expires_at: None,
        };
        let mut conn = self.pool.acquire().await.unwrap();
        let (_, secret) = token::create(&mut conn, &Grant::command_line(), new)
            .await
            .unwrap();
        self.caller_with(secret.expose())
    }

    /// Returns when so many statements wait for locks.
    pub(crate) async fn until_waiting(&self, statements: i64) {
        let waiting = "select count(*) from pg_stat_activity
             where datname = current_database() and wait_event_type = 'Lock'";
        while self.count(waiting).await < statements {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    pub(crate) fn caller_with(&self, token: &str) -> Caller<'_> {
        Caller {
            app: self,
            token: token.to_owned(),
        }
    }
}

impl Caller<'_> {
    /// The last characters of the token.
    pub(crate) fn hint(&self) -> &str {
        &self.token[self.token.len() - 4..]
    }

    /// The id of the token.
    pub(crate) async fn id(&self) -> String {
        let token: ManagementToken = self.token.parse().unwrap();
        let id: uuid::Uuid = sqlx::query_scalar("select id from management_tokens where hash = $1")
            .bind(token.hash().as_bytes())
            .fetch_one(&self.app.pool)
            .await
            .unwrap();
        id.to_string()
    }

    /// A request with this raw body, if any, as JSON.
    pub(crate) async fn send(&self, method: &str, path: &str, body: &str) -> Answer {
        self.send_as("application/json", method, path, body).await
    }

    /// A request with this raw body, if any, of a media type.
    pub(crate) async fn send_as(
        &self,
        content_type: &str,
        method: &str,
        path: &str,
        body: &str,
    ) -> Answer {
        let target = format!("{PREFIX}{path}");
        let authorization = format!("Bearer {}", self.token);
        let headers = [
            ("Authorization", authorization.as_str()),
            ("Content-Type", content_type),
        ];
        self.app.request(method, &target, &headers, body).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, "").await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, "").await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.send("POST", path, &body.to_string()).await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> Answer {
        self.send("PUT", path, &body.to_string()).await
    }

    pub(crate) async fn patch(&self, path: &str, body: Value) -> Answer {
        self.send("PATCH", path, &body.to_string()).await
    }
}
