//! Changes of queues, on a real Postgres.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{sync::Arc, time::Duration};

use domain::rules::Limits;
use management::{
    Caller, EndpointChecks, Management, Passwords, PreviewPool, RateLimit, RateLimitSettings,
    TrialPool,
    exports::ConcurrentReads,
    queues::{Group, Lane, Pause, update_group, update_lane, update_queue},
};
use queue::Queue;
use sqlx::PgPool;
use store::schema;
use uuid::Uuid;

const QUEUE: &str = "webhooks";

async fn management(pool: &PgPool) -> Arc<Management> {
    schema::migrate(pool).await.unwrap();
    let queue = Queue::open(pool.clone(), queue::Config::default()).unwrap();
    Arc::new(Management {
        pool: pool.clone(),
        queue,
        master_key: None,
        trial_pool: TrialPool::new(Limits::default(), None),
        endpoint_checks: EndpointChecks::new(
            Arc::new(|_, _| Err("nothing is sent from here".to_owned())),
            Arc::new(|_| Box::pin(async { None })),
        ),
        preview_pool: PreviewPool::new(None),
        rules_per_day: 1 << 20,
        exports: ConcurrentReads::default(),
        rate_limit: RateLimit::new(RateLimitSettings::default()),
        passwords: Passwords::default(),
        sign_on: None,
    })
}

/// Waits until the row that a change has locked is free, and says whether it holds a pause.
async fn is_paused(pool: &PgPool, table: &str) -> bool {
    let query = format!("select paused_until > now() from queue.{table} for update nowait");
    for _ in 0..100 {
        let row: Result<Option<bool>, _> = sqlx::query_scalar(sqlx::AssertSqlSafe(query.clone()))
            .fetch_optional(pool)
            .await;
        if let Ok(Some(paused)) = row {
            return paused;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    false
}

#[sqlx::test(migrations = false)]
async fn a_pause_is_in_force_before_its_jobs_are_counted(pool: PgPool) {
    let management = management(&pool).await;
    let id = Uuid::now_v7();
    for table in ["queues", "groups", "lanes"] {
        // Nobody can count jobs.
        let mut busy = pool.begin().await.unwrap();
        sqlx::query("lock table queue.jobs in access exclusive mode")
            .execute(&mut *busy)
            .await
            .unwrap();
        let management = Arc::clone(&management);
        let change = tokio::spawn(async move {
            let (caller, pause) = (Caller::command_line(&management), || {
                Ok(Some(Pause::UntilResumed))
            });
            match table {
                "queues" => update_queue(&caller, QUEUE, pause)
                    .await
                    .map(|updated| updated.restrictions.is_paused),
                "groups" => update_group(&caller, QUEUE, Group(id), pause, None)
                    .await
                    .map(|updated| updated.now.is_paused),
                _ => update_lane(&caller, QUEUE, Lane(id), pause, None)
                    .await
                    .map(|updated| updated.now.is_paused),
            }
        });
        assert!(is_paused(&pool, table).await, "{table}");
        assert!(!change.is_finished(), "{table}");
        busy.rollback().await.unwrap();
        assert!(change.await.unwrap().unwrap(), "{table}");
    }
}
