//! A connection of the queue's own, beside the pool, so that heartbeats and finishes never wait behind
//! handlers that hold every connection. Opened when first needed, given up after any trouble.

use std::sync::Arc;

use sqlx::{AssertSqlSafe, Connection, PgConnection, postgres::PgConnectOptions};

#[derive(Debug)]
pub(crate) struct Link {
    options: Arc<PgConnectOptions>,
    /// Run on every new connection.
    settings: String,
    conn: Option<PgConnection>,
}

impl Link {
    pub(crate) fn new(options: Arc<PgConnectOptions>) -> Self {
        Self::with_settings(options, String::new())
    }

    /// A connection for which these `set` statements hold.
    pub(crate) const fn with_settings(options: Arc<PgConnectOptions>, settings: String) -> Self {
        Self {
            options,
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
        let mut conn = PgConnection::connect_with(&self.options).await?;
        if !self.settings.is_empty() {
            sqlx::raw_sql(AssertSqlSafe(self.settings.clone()))
                .execute(&mut conn)
                .await?;
        }
        Ok(conn)
    }

    /// Closes the connection at once, in whatever state it is: the server rolls back what was open.
    pub(crate) fn give_up(&mut self) {
        self.conn = None;
    }
}
