//! When Postgres has almost no free connections, this process closes its own, so that every
//! process gets one in turn.
//!
//! Without this, the connections that rest in the pools of some processes would keep others from
//! sending a heartbeat or claiming a job, for as long as they rest. While connections are scarce:
//! - nobody keeps a connection that is not used at the moment ([`keeps`]),
//! - a connection that is used all the time is closed at a certain age, so that somebody else can
//!   have its place,
//! - whoever listens does not ([`begins`]), and asks from time to time instead.
//!
//! So a place on the server is free again within a moment, whatever the number of processes. The
//! work is slower: each takes its turn, and new connections cost time.

use std::{
    sync::LazyLock,
    time::{Duration, Instant},
};

use sqlx::{Error, PgConnection, Row as _, error::DatabaseError};
use tokio::{sync::watch, time::sleep};

/// Connections are scarce for so long after the last sign of it.
const LASTS: Duration = Duration::from_secs(15);
/// While they are scarce, no connection becomes much older.
const TURN: Duration = Duration::from_millis(300);
/// Fewer free connections than this are a sign. It leaves room for commands, which people use when
/// there is trouble.
const SPARE: i64 = 3;
/// Postgres has no connection left: for anybody, for this role, or for this database.
const TOO_MANY: &str = "53300";

/// Until when connections are scarce, as far as it is known.
static UNTIL: LazyLock<watch::Sender<Option<Instant>>> = LazyLock::new(|| watch::Sender::new(None));

/// How many connections Postgres allows, and how many are open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Without those that Postgres reserves for administrators.
    pub allowed: i64,
    /// By all clients of the server.
    pub used: i64,
}

impl Room {
    /// Asks the server.
    ///
    /// # Errors
    /// No answer.
    pub async fn ask(conn: &mut PgConnection) -> Result<Self, Error> {
        // Of the sessions of other roles, the kind is hidden. Some of Postgres's own processes count
        // as clients then, never the other way round.
        let row = sqlx::raw_sql(
            "select current_setting('max_connections')::bigint
                  - current_setting('superuser_reserved_connections')::bigint
                  - coalesce(current_setting('reserved_connections', true)::bigint, 0),
                    (select count(*)
                       from pg_stat_activity
                      where datid is not null and coalesce(backend_type, '') in ('', 'client backend'))",
        )
        .fetch_one(conn)
        .await?;
        Ok(Self {
            allowed: row.try_get(0)?,
            used: row.try_get(1)?,
        })
    }

    fn is_scarce(self) -> bool {
        self.allowed - self.used < SPARE
    }
}

/// Whether connections are scarce.
pub fn is_scarce() -> bool {
    is_on(*UNTIL.borrow(), Instant::now())
}

/// Waits until connections are scarce.
pub async fn begins() {
    let mut until = UNTIL.subscribe();
    // The sender is never dropped.
    let _ = until.wait_for(|until| is_on(*until, Instant::now())).await;
}

/// Waits until connections are no longer scarce.
pub async fn ends() {
    while is_scarce() {
        sleep(TURN).await;
    }
}

/// Whether a connection that has done its work, and was opened so long ago, may stay open.
pub(crate) fn keeps(age: Duration) -> bool {
    age < TURN || !is_scarce()
}

/// Runs something that keeps a connection, while connections are not scarce. `None` once they are.
pub async fn unless_scarce<T>(keeping: impl Future<Output = T>) -> Option<T> {
    ends().await;
    tokio::select! {
        () = begins() => None,
        done = keeping => Some(done),
    }
}

/// Postgres refused a connection because it has none left.
pub fn is_refusal(error: &Error) -> bool {
    let code = error.as_database_error().and_then(DatabaseError::code);
    code.is_some_and(|code| code == TOO_MANY)
}

/// Waits until somebody may have handed back a connection. Not all who wait ask at the same time.
pub(crate) async fn turn() {
    sleep(rand::random_range(TURN / 10..TURN)).await;
}

/// A connection was refused, or almost none is free.
pub(crate) fn sign() {
    UNTIL.send_replace(Some(Instant::now() + LASTS));
}

/// What the server says about its connections. It is a sign if almost none is free.
pub(crate) fn learn(room: Room) {
    if room.is_scarce() {
        sign();
    }
}

fn is_on(until: Option<Instant>, now: Instant) -> bool {
    until.is_some_and(|until| now < until)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_lasts_for_a_while() {
        let now = Instant::now();
        assert!(!is_on(None, now));
        assert!(is_on(Some(now + LASTS), now));
        assert!(!is_on(Some(now), now));
    }

    #[test]
    fn the_last_connections_are_a_sign() {
        let room = |used| Room { allowed: 24, used };
        assert!(!room(21).is_scarce());
        assert!(room(22).is_scarce());
        assert!(room(24).is_scarce());
    }

    #[sqlx::test(migrations = false)]
    async fn the_server_says_how_many_connections_it_has(pool: sqlx::PgPool) {
        let mut conn = pool.acquire().await.unwrap();
        let room = Room::ask(&mut conn).await.unwrap();
        assert!(room.allowed > 20, "{room:?}");
        assert!((1..=room.allowed + 3).contains(&room.used), "{room:?}");
    }
}
