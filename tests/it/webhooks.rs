//! Webhooks through the whole service: what their receivers can rely on, however they behave.

mod health;
mod limits;
mod managed;
mod order;
mod rotation;

use serde_json::json;
use sqlx::{ConnectOptions as _, PgPool};

use crate::support::{DataDir, Receiver, Up};

/// A service whose only endpoint is a receiver in the test.
struct Service {
    receiver: Receiver,
    up: Up,
    pool: PgPool,
    data: DataDir,
}

impl Service {
    async fn start(pool: PgPool) -> Self {
        let (receiver, data) = (Receiver::start().await, DataDir::new());
        let database = pool.connect_options().to_url_lossy().to_string();
        let url = receiver.url();
        let options = ["--database-url", &database, "--demo", "--webhook-url", &url];
        let up = Up::start(&data, &options).await;
        Self {
            receiver,
            up,
            pool,
            data,
        }
    }

    async fn submit(&self) -> String {
        self.up.submit(json!({ "body": "a fine day" })).await
    }

    async fn run(&self, statement: &'static str) {
        sqlx::query(statement).execute(&self.pool).await.unwrap();
    }

    async fn count(&self, query: &'static str) -> i64 {
        sqlx::query_scalar(query)
            .fetch_one(&self.pool)
            .await
            .unwrap()
    }
}
