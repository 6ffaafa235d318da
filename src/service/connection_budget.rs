//! How many connections to Postgres the processes want together, and how many it allows.

use std::fmt;

use database::connection_shortage::Room;
use store::{Error, PgConnection, PgPool, database_metrics};
use tracing::{debug, warn};

/// What the processes want, and what Postgres allows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wants {
    /// The most connections that all registered processes may open together.
    pub(crate) wanted: i64,
    pub(crate) room: Room,
}

impl Wants {
    /// Asks the database. Others may use the same Postgres: their connections are part of [`Room::used`] only.
    pub(crate) async fn ask(conn: &mut PgConnection) -> Result<Self, Error> {
        Ok(Self {
            wanted: queue::workers::wanted_connections(conn).await?,
            room: Room::ask(conn).await?,
        })
    }

    pub(crate) fn are_too_many(self) -> bool {
        self.wanted > self.room.allowed
    }
}

impl fmt::Display for Wants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { wanted, room } = self;
        write!(
            f,
            "all processes together may open {wanted} connections, and Postgres allows {}",
            room.allowed
        )?;
        if self.are_too_many() {
            f.write_str(
                ": raise its max_connections, or lower GATEHOUSE_DATABASE_CONNECTIONS. When Postgres has none left, they take turns \
                 and are slower",
            )?;
        }
        Ok(())
    }
}

/// Warns at the start of a process that opens up to `own` connections, if that is too many with those of all others.
pub(crate) async fn warn_of_too_many(pool: PgPool, own: usize) {
    let asked = async {
        let mut conn = database_metrics::connect(&pool).await?;
        Wants::ask(&mut conn).await
    };
    match asked.await {
        Ok(Wants { wanted, room }) => {
            let wanted = wanted.saturating_add(i64::try_from(own).unwrap_or(i64::MAX));
            let wants = Wants { wanted, room };
            if wants.are_too_many() {
                warn!("{wants}");
            }
        }
        Err(error) => debug!(%error, "cannot see how many connections Postgres allows"),
    }
}
