//! A connection of the queue's own, beside the pool, so that heartbeats and finishes never wait behind
//! handlers that hold every connection. Opened when first needed, given up after any trouble.

use std::sync::Arc;

use sqlx::{Connection, PgConnection, postgres::PgConnectOptions};

#[derive(Debug)]
pub(crate) struct Link {
    options: Arc<PgConnectOptions>,
    conn: Option<PgConnection>,
}

impl Link {
    pub(crate) fn new(options: Arc<PgConnectOptions>) -> Self {
        Self {
            options,
            conn: None,
        }
    }

    /// The connection, opened if there is none.
    pub(crate) async fn get(&mut self) -> Result<&mut PgConnection, sqlx::Error> {
        let conn = match self.conn.take() {
            Some(conn) => conn,
            None => PgConnection::connect_with(&self.options).await?,
        };
        Ok(self.conn.insert(conn))
    }

    /// Closes the connection at once, in whatever state it is: the server rolls back what was open.
    pub(crate) fn give_up(&mut self) {
        self.conn = None;
    }
}
