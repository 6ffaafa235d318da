//! Which process removes what has expired. One of them holds the lease, in a row of the database, and renews it while it lives. When it
//! has not done so for [`LEASE`], any other takes the lease.

use std::time::Duration;

use database::Trouble;
use sqlx::PgPool;
use telemetry::{failed, over};
use tokio::time::sleep;
use tracing::info;
use uuid::Uuid;

/// How long the lease is valid if it is not renewed.
const LEASE: Duration = Duration::from_mins(3);

/// How often its holder renews it, and others look whether it is free.
const LOOK: Duration = Duration::from_mins(1);

pub(super) struct LeaderLease {
    pool: PgPool,
    holder: Uuid,
    /// Taking or renewing the lease.
    trouble: Trouble,
}

/// What a process may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// Another process holds the lease.
    Others,
    /// This process holds it. It is not time yet.
    Waits,
    /// This process holds it, and begins now.
    Begins,
}

impl LeaderLease {
    pub(super) fn new(pool: PgPool) -> Self {
        Self {
            pool,
            holder: Uuid::now_v7(),
            trouble: Trouble::in_turn(),
        }
    }

    /// Waits until this process has the lease, and at least `every` has passed since any process began.
    pub(super) async fn wait(&self, every: Duration) {
        loop {
            match self.take(every).await.map_err(database::counted) {
                Ok(standing) => {
                    self.known_again();
                    if standing == Standing::Begins {
                        return;
                    }
                }
                Err(error) => failed!(
                    self.trouble.failed(&error),
                    %error,
                    "cannot determine which process removes what has expired; trying again"
                ),
            }
            sleep(LOOK).await;
        }
    }

    /// Renews the lease until another process has it.
    pub(super) async fn keep(&self) {
        loop {
            sleep(LOOK).await;
            match self.renew().await.map_err(database::counted) {
                Ok(true) => self.known_again(),
                Ok(false) => {
                    self.known_again();
                    info!("another process now removes what has expired");
                    return;
                }
                Err(error) => failed!(
                    self.trouble.failed(&error),
                    %error,
                    "cannot say that this process still removes what has expired"
                ),
            }
        }
    }

    fn known_again(&self) {
        over!(
            self.trouble.worked(),
            "it is known again which process removes what has expired"
        );
    }

    /// Takes the lease if it is free, or renews it. The time of the next beginning moves when this process begins.
    async fn take(&self, every: Duration) -> Result<Standing, sqlx::Error> {
        if !self.renew().await? {
            return Ok(Standing::Others);
        }
        let begun = sqlx::query!(
            "
            update retention_turns
            set next_at = now() + $2 * interval '1 second'
            where holder = $1 and next_at <= now()
            ",
            self.holder,
            every.as_secs_f64(),
        )
        .execute(&self.pool)
        .await?;
        Ok(if begun.rows_affected() > 0 {
            Standing::Begins
        } else {
            Standing::Waits
        })
    }

    /// Whether this process holds the lease from now on.
    async fn renew(&self) -> Result<bool, sqlx::Error> {
        let renewed = sqlx::query!(
            "
            insert into retention_turns as t (holder, expires_at, next_at)
            values ($1, now() + $2 * interval '1 second', now())
            on conflict (singleton) do update
            set holder = excluded.holder, expires_at = excluded.expires_at
            where t.holder = excluded.holder or t.expires_at <= now()
            ",
            self.holder,
            LEASE.as_secs_f64(),
        )
        .execute(&self.pool)
        .await?;
        Ok(renewed.rows_affected() > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema;

    const EVERY: Duration = Duration::from_mins(10);

    const TEN_MINUTES_PASS: &str =
        "update retention_turns set next_at = next_at - interval '10 minutes'";
    const IT_EXPIRES: &str = "update retention_turns set expires_at = now()";

    async fn execute(pool: &PgPool, statement: &'static str) {
        sqlx::query(statement).execute(pool).await.unwrap();
    }

    #[sqlx::test(migrations = false)]
    async fn one_process_begins_every_ten_minutes_and_another_one_when_it_has_died(pool: PgPool) {
        schema::migrate(&pool).await.unwrap();
        let [first, second] = [(); 2].map(|()| LeaderLease::new(pool.clone()));
        let takes = async |lease: &LeaderLease| lease.take(EVERY).await.unwrap();
        assert_eq!(takes(&first).await, Standing::Begins);
        assert_eq!(takes(&second).await, Standing::Others);
        assert_eq!(takes(&first).await, Standing::Waits);
        execute(&pool, TEN_MINUTES_PASS).await;
        assert_eq!(takes(&second).await, Standing::Others);
        assert_eq!(takes(&first).await, Standing::Begins);

        // The first one does not renew its lease any more.
        execute(&pool, IT_EXPIRES).await;
        assert_eq!(takes(&second).await, Standing::Waits);
        execute(&pool, TEN_MINUTES_PASS).await;
        assert_eq!(takes(&second).await, Standing::Begins);
        // It wakes up.
        assert_eq!(takes(&first).await, Standing::Others);
        assert!(!first.renew().await.unwrap());
    }

    #[sqlx::test(migrations = false)]
    async fn processes_that_begin_together_get_one_turn(pool: PgPool) {
        schema::migrate(&pool).await.unwrap();
        let turns = [(); 4].map(|()| LeaderLease::new(pool.clone()));
        let [a, b, c, d] = &turns;
        let taken = tokio::join!(a.take(EVERY), b.take(EVERY), c.take(EVERY), d.take(EVERY));
        let taken = [taken.0, taken.1, taken.2, taken.3].map(Result::unwrap);
        let begun = taken.iter().filter(|taken| **taken == Standing::Begins);
        assert_eq!(begun.count(), 1, "{taken:?}");
        let others = taken.iter().filter(|taken| **taken == Standing::Others);
        assert_eq!(others.count(), 3, "{taken:?}");
    }
}
