//! Runs that end with "again": their effect is applied, and the job runs once more.

use sqlx::PgPool;

use crate::support::{
    Act, End, Process, act, count, enqueue, job, names, prepare, quick, settings, until_idle,
};

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn again_applies_its_effect_and_keeps_the_job(pool: PgPool) {
    prepare(&pool).await;
    let at_first = vec![
        End::Again {
            ms: 30,
            charged: true,
        },
        End::Again {
            ms: 0,
            charged: true,
        },
    ];
    enqueue(
        &pool,
        [job(&Act {
            at_first,
            ..act("thrice")
        })],
    )
    .await;
    let process = Process::start(&pool, quick(), settings());
    until_idle(&pool).await;
    assert_eq!(
        names(&pool, "select attempt::text from effects order by 1").await,
        ["1", "2", "3"]
    );
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn an_uncharged_again_costs_no_attempt(pool: PgPool) {
    prepare(&pool).await;
    let at_first = vec![End::Again {
        ms: 20,
        charged: false,
    }];
    enqueue(
        &pool,
        [job(&Act {
            at_first,
            ..act("patient")
        })
        .max_attempts(1)],
    )
    .await;
    let process = Process::start(&pool, quick(), settings());
    until_idle(&pool).await;
    assert_eq!(process.started(), 4);
    assert_eq!(
        names(&pool, "select attempt::text from effects").await,
        ["1"; 4]
    );
    assert_eq!(
        count(&pool, "select count(*) from queue.dead_jobs").await,
        0
    );
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_charged_again_in_the_last_attempt_applies_its_effect_and_dies(pool: PgPool) {
    prepare(&pool).await;
    let at_first = vec![End::Again {
        ms: 0,
        charged: true,
    }];
    enqueue(
        &pool,
        [job(&Act {
            at_first,
            ..act("spent")
        })
        .max_attempts(1)],
    )
    .await;
    let process = Process::start(&pool, quick(), settings());
    until_idle(&pool).await;
    assert_eq!(count(&pool, "select count(*) from effects").await, 1);
    assert_eq!(
        names(&pool, "select cause from queue.dead_jobs").await,
        ["exhausted"]
    );
    process.stop().await;
}
