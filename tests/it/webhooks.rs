//! Webhooks through the whole service: what their receivers can rely on, however they behave.

mod health;
mod limits;
mod order;
mod recovered;
mod rotation;

use serde_json::json;
use sqlx::{ConnectOptions as _, PgPool};

use crate::support::{DataDir, Receiver, Up};

async fn launch(pool: &PgPool, data: &DataDir, receiver: &Receiver, more: &[&str]) -> Up {
    let database = pool.connect_options().to_url_lossy().to_string();
    let url = receiver.url();
    let mut options = vec!["--database-url", &database, "--demo", "--webhook-url", &url];
    options.extend(more);
    Up::start(data, &options).await
}

/// A service whose only endpoint is a receiver in the test.
struct Service {
    receiver: Receiver,
    up: Up,
    pool: PgPool,
    data: DataDir,
}

impl Service {
    async fn start(pool: PgPool) -> Self {
        Self::with(pool, &[]).await
    }

    async fn with(pool: PgPool, options: &[&str]) -> Self {
        let (receiver, data) = (Receiver::start().await, DataDir::new());
        let up = launch(&pool, &data, &receiver, options).await;
        Self {
            receiver,
            up,
            pool,
            data,
        }
    }

    /// Kills it, and starts it anew with these options.
    async fn kill_and_start(self, options: &[&str]) -> Self {
        self.up.kill();
        let up = launch(&self.pool, &self.data, &self.receiver, options).await;
        Self { up, ..self }
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
