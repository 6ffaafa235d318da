//! A connection of the queue's own, beside the pool, so that heartbeats and finishes never wait behind
//! handlers that hold every connection. Opened when first needed, given up after any trouble.

use sqlx::{AssertSqlSafe, PgConnection, PgPool};

#[derive(Debug)]
pub(crate) struct Link {
    /// Knows where the database is.
    pool: PgPool,
    /// Run on every new connection.
    settings: String,
    conn: Option<PgConnection>,
}

impl Link {
    pub(crate) fn new(pool: &PgPool) -> Self {
        Self::with_settings(pool, String::new())
    }

    /// A connection for which these `set` statements hold.
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

    /// Closes the connection at once, in whatever state it is: the server rolls back what was open.
    pub(crate) fn give_up(&mut self) {
        self.conn = None;
    }
}
