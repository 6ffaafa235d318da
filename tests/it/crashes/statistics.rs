//! Statistics count each fact once, also when the service is killed while it stores their sums.

use std::time::Duration;

use serde_json::json;
use sqlx::PgPool;

use super::{Proxied, TEXT, count};
use crate::{proxy::Trap, support::eventually};

/// The chain is looked after every ten seconds.
const PATIENCE: Duration = Duration::from_mins(3);

const COUNTED: &str = "select coalesce(sum(accepted), 0)::bigint from statistics_hours
     where subject_id = '00000000-0000-0000-0000-000000000000'";

const RUNNING: &str = "select count(*) from statistics_progress
     where state = 'running' or ended_at = '-infinity'";

const STEPS: &str = "select steps from statistics_progress";

/// Lets the chain begin now, and not a minute after its last run.
async fn make_due(pool: &PgPool) {
    sqlx::query("update statistics_progress set ended_at = now() - interval '1 hour' where state <> 'running'")
        .execute(pool)
        .await
        .unwrap();
}

async fn counted_once(pool: &PgPool, trap: Trap) {
    let service = Proxied::start(pool).await;
    // A service may add up as soon as it starts.
    eventually("the first run has ended", PATIENCE, async || {
        (count(pool, RUNNING).await == 0).then_some(())
    })
    .await;
    let media = service.up.submit(json!({ "body": TEXT })).await;
    service.up.verdict(&media).await;
    service.proxy.set(&["insert into statistics_hours"], trap);
    make_due(pool).await;
    eventually("the trap has sprung", PATIENCE, async || {
        service.proxy.has_sprung().then_some(())
    })
    .await;
    assert_eq!(count(pool, COUNTED).await, 0);
    let (up, _provider, _data) = service.kill_and_start(pool).await;
    eventually("the item is counted", PATIENCE, async || {
        (count(pool, COUNTED).await > 0).then_some(())
    })
    .await;
    // The next run finds nothing more.
    let steps = count(pool, STEPS).await;
    eventually("the chain has run again", PATIENCE, async || {
        make_due(pool).await;
        (count(pool, STEPS).await > steps).then_some(())
    })
    .await;
    let (code, report) = up.look("/statistics").await;
    assert_eq!(code, 200, "{report}");
    assert_eq!(report["totals"]["accepted"], 1, "{report}");
    assert_eq!(
        report["totals"]["verdicts"]["providers"]["approved"], 1,
        "{report}"
    );
}

#[sqlx::test(migrations = false)]
async fn case_80_a_service_killed_before_it_stores_sums_counts_once(pool: PgPool) {
    counted_once(&pool, Trap::HoldBefore).await;
}

#[sqlx::test(migrations = false)]
async fn case_80_a_service_killed_before_it_commits_sums_counts_once(pool: PgPool) {
    counted_once(&pool, Trap::HoldAfter).await;
}
