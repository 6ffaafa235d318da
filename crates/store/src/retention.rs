//! Forgets what has expired: idempotency keys, images whose submission was never accepted, files of
//! images that were decided long ago, findings of shadows and backtests, versions of rule groups
//! that nothing refers to, events and their deliveries, items, cached answers of providers, and, if
//! the operator wants it, rows of the audit log and past billing periods. It does not matter when
//! exactly this happens, and two processes may do it at once: age alone decides, and nothing refers
//! to these rows. But one is enough, so the API processes elect it ([`LeaderLease`]).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use database::Trouble;
use metrics::gauge;
use sqlx::PgPool;
use telemetry::{failed, over};
use tokio::time::sleep;
use tracing::info;
use uuid::Uuid;

use crate::{
    Error, audit,
    backtest::{self, Backtest},
    batches::{self, Forgotten, Pace, ROWS},
    bulk_decision::Bulk,
    chain, closure, delivery, erasure, export, hash_list, image,
    media::retention::{Kind, forget_old, look_again_at_all},
    provider_answers,
    recovery::Recovery,
    rule_group::{self, shadow},
    statistics, usage,
};

/// How long things are kept that are not needed for ever. Each site has settings of its own for
/// what belongs to it.
#[derive(Clone, Copy, Debug)]
pub struct Retention {
    /// Versions of rule groups that nothing refers to, since they were live.
    pub unused_versions: Duration,
    /// The rules of a backtest, and the items that it lists, since it ended.
    pub backtest_details: Duration,
    /// Rows of the audit log. `None`: for ever.
    pub audit_log: Option<Duration>,
    /// How much of their plans teams used in past billing periods, since the period's end. `None`:
    /// for ever.
    pub usage: Option<Duration>,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            unused_versions: Duration::from_hours(90 * 24),
            backtest_details: Duration::from_hours(30 * 24),
            audit_log: None,
            usage: None,
        }
    }
}

/// How often expired things are removed. A process does not begin sooner after its start.
const EVERY: Duration = Duration::from_mins(10);

/// All that is removed. While something cannot be, one line says so for everything.
static TROUBLE: Trouble = Trouble::in_turn();

const LAST_SUCCESS: &str = "gatehouse_retention_last_success_timestamp_seconds";

pub(super) async fn run(pool: PgPool, retention: Retention) {
    tokio::time::sleep(EVERY).await;
    let lease = LeaderLease::new(pool.clone());
    loop {
        lease.wait(EVERY).await;
        // If another process takes the lease, because this one has stalled, the sweep ends where it is.
        let is_done = tokio::select! {
            is_done = sweep(&pool, retention, Pace::Gentle) => is_done,
            () = lease.keep() => false,
        };
        if is_done {
            over!(
                TROUBLE.worked(),
                "everything that has expired is removed again"
            );
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            gauge!(LAST_SUCCESS).set(now.unwrap_or_default().as_secs_f64());
        }
    }
}

/// Forgets everything that has expired. Returns false if some of it could not be removed.
async fn sweep(pool: &PgPool, retention: Retention, pace: Pace) -> bool {
    let of_sites = forget_of_sites(pool, pace).await;
    let of_sites = of_sites.map(|(what, forgotten)| swept(what, forgotten.map(|all| all.removed)));
    let swept = [
        swept("expired idempotency keys", forget(pool, pace).await),
        swept(
            "images of submissions that were not accepted",
            image::forget_orphans(pool, pace).await,
        ),
        swept("old differences of shadows", shadow::forget_old(pool).await),
        swept(
            "details of old backtests",
            backtest::forget_details(pool, retention.backtest_details).await,
        ),
        swept(
            "unused versions of rule groups",
            rule_group::retention::forget_unused(pool, retention.unused_versions).await,
        ),
        swept("old backtests", chain::forget_old::<Backtest>(pool).await),
        swept("old recoveries", chain::forget_old::<Recovery>(pool).await),
        swept("old bulk decisions", chain::forget_old::<Bulk>(pool).await),
        swept("old erasures", erasure::forget_old(pool).await),
        swept("old closures", closure::forget_old(pool).await),
        swept("old exports", export::forget_old(pool).await),
        swept(
            "old answers of providers",
            provider_answers::forget_old(pool).await,
        ),
        swept("old statistics", statistics::forget_old(pool).await),
        swept(
            "the records of removed hashes",
            hash_list::forget_old(pool).await,
        ),
        swept(
            "old rows of the audit log",
            match retention.audit_log {
                Some(age) => audit::retention::forget_old(pool, age).await,
                None => Ok(0),
            },
        ),
        swept(
            "old billing periods",
            match retention.usage {
                Some(age) => usage::forget_old(pool, age).await,
                None => Ok(0),
            },
        ),
    ];
    !of_sites.contains(&false) && !swept.contains(&false)
}

/// Removes what is older than the settings of its site allow. Says of each kind of thing how many were removed.
pub async fn forget_of_sites(
    pool: &PgPool,
    pace: Pace,
) -> [(&'static str, Result<Forgotten, Error>); 4] {
    let files = image::forget_old(pool, pace).await;
    let events = delivery::retention::forget_old(pool, pace).await;
    // After their events, which keep them.
    let items = forget_old(pool, Kind::Items, pace).await;
    let contents = forget_old(pool, Kind::Contents, pace).await;
    [
        ("files of images", files),
        ("events and deliveries", events),
        ("items", items),
        ("contents of items", contents),
    ]
}

/// Has the next [`forget_of_sites`] look at all items that had to stay before. Otherwise each has a time of its own, within a day.
pub async fn forget_nothing_later(pool: &PgPool) -> Result<(), Error> {
    look_again_at_all(pool).await
}

fn swept<E: Into<Error>>(what: &str, result: Result<u64, E>) -> bool {
    match result {
        Ok(_) => true,
        Err(error) => {
            let error: Error = error.into();
            failed!(TROUBLE.failed(&error), %error, "could not remove {what}; trying again later");
            false
        }
    }
}

/// Removes all that have expired, and returns how many they were.
async fn forget(pool: &PgPool, pace: Pace) -> Result<u64, sqlx::Error> {
    batches::until_none(pace, || forget_some(pool)).await
}

async fn forget_some(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let changed = sqlx::query!(
        "
        delete from idempotency_keys
        where ctid = any(
            array(
                select ctid from idempotency_keys
                where created_at <= now() - interval '24 hours'
                limit $1
                for update skip locked
            )
        )
        ",
        ROWS,
    )
    .execute(pool)
    .await?;
    Ok(changed.rows_affected())
}

/// How long the lease is valid if it is not renewed.
const LEASE: Duration = Duration::from_mins(3);

/// How often its holder renews it, and others look whether it is free.
const LOOK: Duration = Duration::from_mins(1);

struct LeaderLease {
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
    fn new(pool: PgPool) -> Self {
        Self {
            pool,
            holder: Uuid::now_v7(),
            trouble: Trouble::in_turn(),
        }
    }

    /// Waits until this process has the lease, and at least `every` has passed since any process began.
    async fn wait(&self, every: Duration) {
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
    async fn keep(&self) {
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

    #[sqlx::test(migrations = false)]
    async fn a_sweep_succeeds_only_if_every_part_of_it_does(pool: PgPool) {
        schema::migrate(&pool).await.unwrap();
        assert!(sweep(&pool, Retention::default(), Pace::Hurried).await);
        sqlx::query("alter table shadow_differences rename to gone")
            .execute(&pool)
            .await
            .unwrap();
        assert!(!sweep(&pool, Retention::default(), Pace::Hurried).await);
    }

    #[sqlx::test(migrations = false)]
    async fn only_what_has_expired_is_forgotten(pool: PgPool) {
        schema::migrate(&pool).await.unwrap();
        sqlx::query(
            "insert into idempotency_keys (site_id, key, fingerprint, media_id, created_at)
             select gen_random_uuid(), 'k', '\\x00', gen_random_uuid(), now() - make_interval(mins => n)
             from generate_series(1, 12000) n",
        )
        .execute(&pool)
        .await
        .unwrap();
        assert_eq!(forget(&pool, Pace::Hurried).await.unwrap(), 12_000 - 1_439);
        assert_eq!(forget(&pool, Pace::Hurried).await.unwrap(), 0);
    }

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
