//! A dedicated connection, in addition to the pool, so that heartbeats and finishes never
//! wait behind handlers that hold every connection. It is opened when first needed, and closed
//! after any trouble, and while connections are scarce.

use std::time::Duration;

use sqlx::{AssertSqlSafe, Connection as _, PgConnection, PgPool};
use tokio::time::timeout;

/// How long closing may take.
const CLOSE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct DedicatedConnection {
    /// Knows where the database is.
    pool: PgPool,
    /// Run on every new connection.
    settings: String,
    conn: Option<PgConnection>,
}

impl DedicatedConnection {
    pub(crate) fn new(pool: &PgPool) -> Self {
        Self::with_settings(pool, String::new())
    }

    /// A connection with these `set` statements.
    pub(crate) fn with_settings(pool: &PgPool, settings: String) -> Self {
        Self {
            pool: pool.clone(),
            settings,
            conn: None,
        }
    }

    /// The connection, opened if there is none.
    pub(crate) async fn get(&mut self) -> Result<&mut PgConnection, sqlx::Error> {
        let conn = match self.conn.take() {
            Some(conn) => conn,
            None => self.connect().await?,
        };
        Ok(self.conn.insert(conn))
    }

    async fn connect(&self) -> Result<PgConnection, sqlx::Error> {
        let mut conn = database::connect(&self.pool).await?;
        if !self.settings.is_empty() {
            sqlx::raw_sql(AssertSqlSafe(self.settings.clone()))
                .execute(&mut conn)
                .await?;
        }
        Ok(conn)
    }

    /// Hands the connection back while connections are scarce. Call it when nothing is under way.
    pub(crate) async fn rest(&mut self) {
        if database::connection_shortage::is_scarce()
            && let Some(conn) = self.conn.take()
        {
            let _ = timeout(CLOSE, conn.close()).await;
        }
    }

    /// Closes the connection at once, in whatever state it is. The server rolls back open work.
    pub(crate) fn give_up(&mut self) {
        self.conn = None;
    }
}
