//! Forgets what has expired: idempotency keys, images whose submission was never accepted, files of
//! images that were decided long ago, findings of shadows and backtests, versions of rule groups
//! that nothing refers to, events and their deliveries, cached answers of providers. It does not
//! matter when exactly this happens, or that every process does it: age alone decides, and nothing
//! refers to these rows.

use std::time::Duration;

use sqlx::PgPool;
use tracing::warn;

use super::images;
use crate::{
    answers, backtest,
    batches::{self, ROWS},
    delivery, hash_list, image, recovery,
    rule_group::{self, shadow},
    statistics,
};

/// How long things are kept that are not needed for ever. Each site has settings of its own for
/// what belongs to it.
#[derive(Clone, Copy, Debug)]
pub struct Retention {
    /// Versions of rule groups that nothing refers to, since they were live.
    pub unused_versions: Duration,
    /// The rules of a backtest, and the items that it lists, since it ended.
    pub backtest_details: Duration,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            unused_versions: Duration::from_hours(90 * 24),
            backtest_details: Duration::from_hours(30 * 24),
        }
    }
}

const EVERY: Duration = Duration::from_mins(10);

pub(super) async fn run(pool: PgPool, retention: Retention) {
    loop {
        tokio::time::sleep(EVERY).await;
        if let Err(error) = forget(&pool).await {
            warn!(%error, "could not remove expired idempotency keys; trying again later");
        }
        if let Err(error) = images::forget_orphans(&pool).await {
            warn!(%error, "could not remove images of submissions that were not accepted; trying again later");
        }
        if let Err(error) = forget_files(&pool).await {
            warn!(%error, "could not remove old files of images; trying again later");
        }
        if let Err(error) = shadow::forget_old(&pool).await {
            warn!(%error, "could not remove old differences of shadows; trying again later");
        }
        if let Err(error) = backtest::forget_details(&pool, retention.backtest_details).await {
            warn!(%error, "could not remove details of old backtests; trying again later");
        }
        let unused = retention.unused_versions;
        if let Err(error) = rule_group::retention::forget_unused(&pool, unused).await {
            warn!(%error, "could not remove unused versions of rule groups; trying again later");
        }
        if let Err(error) = backtest::forget_old(&pool).await {
            warn!(%error, "could not remove old backtests; trying again later");
        }
        if let Err(error) = delivery::retention::forget_old(&pool).await {
            warn!(%error, "could not remove old events; trying again later");
        }
        if let Err(error) = recovery::forget_old(&pool).await {
            warn!(%error, "could not remove old recoveries; trying again later");
        }
        if let Err(error) = answers::forget_old(&pool).await {
            warn!(%error, "could not remove old answers of providers; trying again later");
        }
        if let Err(error) = statistics::forget_old(&pool).await {
            warn!(%error, "could not remove old statistics; trying again later");
        }
        if let Err(error) = hash_list::forget_old(&pool).await {
            warn!(%error, "could not delete the records of removed hashes; trying again later");
        }
    }
}

/// Removes files a batch at a time, so that no transaction holds many of them.
async fn forget_files(pool: &PgPool) -> Result<(), sqlx::Error> {
    batches::until_none(|| image::forget_files(pool)).await?;
    Ok(())
}

/// Removes all that have expired, and returns how many they were.
async fn forget(pool: &PgPool) -> Result<u64, sqlx::Error> {
    batches::until_none(|| forget_some(pool)).await
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema;

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
        assert_eq!(forget(&pool).await.unwrap(), 12_000 - 1_439);
        assert_eq!(forget(&pool).await.unwrap(), 0);
    }
}
