//! Random histories: whatever commits, is rolled back, is killed or done twice, the figures are what
//! a direct count says.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use sqlx::{PgPool, PgTransaction};
use store::statistics::{Subject, slice};

use super::insert_item;
use crate::tenant::Tenant;

/// How many transactions are open at once, at most.
const OPEN: usize = 4;

struct History<'a> {
    tenant: &'a Tenant,
    random: StdRng,
    open: Vec<PgTransaction<'static>>,
    /// Slices of workers that stalled.
    stalled: Vec<slice::Slice>,
}

impl History<'_> {
    async fn step(&mut self) {
        match self.random.random_range(0..10) {
            0..=1 if self.open.len() < OPEN => {
                self.open.push(self.tenant.pool.begin().await.unwrap());
            }
            2..=4 => self.insert().await,
            5 => {
                if let Some(tx) = self.take() {
                    tx.commit().await.unwrap();
                }
            }
            6 => {
                if let Some(tx) = self.take() {
                    tx.rollback().await.unwrap();
                }
            }
            7 => self.stall().await,
            _ => self.slice().await,
        }
    }

    fn take(&mut self) -> Option<PgTransaction<'static>> {
        let count = self.open.len();
        (count > 0).then(|| self.open.swap_remove(self.random.random_range(0..count)))
    }

    /// In one of the open transactions, or in one of its own.
    async fn insert(&mut self) {
        let at = Utc::now() - TimeDelta::minutes(self.random.random_range(0..600));
        let place = self.random.random_range(0..=self.open.len());
        if let Some(tx) = self.open.get_mut(place) {
            insert_item(tx, self.tenant, at).await;
        } else {
            let mut conn = self.tenant.pool.acquire().await.unwrap();
            insert_item(&mut conn, self.tenant, at).await;
        }
    }

    /// A worker reads a slice, and comes back with it later, or never.
    async fn stall(&mut self) {
        self.tenant.begin_statistics().await;
        let slice = slice::next(&self.tenant.pool).await.unwrap();
        self.stalled.extend(slice);
    }

    async fn slice(&mut self) {
        self.tenant.begin_statistics().await;
        let stalled = self.stalled.pop().filter(|_| self.random.random());
        let slice = slice::next(&self.tenant.pool).await.unwrap();
        for slice in stalled.into_iter().chain(slice) {
            self.tenant.finish(&[slice]).await;
        }
    }
}

#[sqlx::test(migrations = false)]
async fn random_histories_are_counted_as_a_direct_count_says(pool: PgPool) {
    let tenant = Tenant::new(pool).await;
    for seed in 0..12 {
        let mut history = History {
            tenant: &tenant,
            random: StdRng::seed_from_u64(seed),
            open: Vec::new(),
            stalled: Vec::new(),
        };
        for _ in 0..60 {
            history.step().await;
        }
        for tx in history.open {
            tx.commit().await.unwrap();
        }
        tenant.add_up().await;
        let counted = tenant.report(Subject::Site(tenant.site)).await.buckets;
        let counted: BTreeMap<DateTime<Utc>, i64> = counted
            .into_iter()
            .map(|bucket| (bucket.start, bucket.figures.accepted))
            .collect();
        let direct: Vec<(DateTime<Utc>, i64)> = sqlx::query_as(
            "select date_trunc('hour', created_at, 'UTC'), count(*) from media group by 1",
        )
        .fetch_all(&tenant.pool)
        .await
        .unwrap();
        assert_eq!(counted, direct.into_iter().collect(), "seed {seed}");
    }
}
