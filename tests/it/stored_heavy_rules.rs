//! Rule groups that are too heavy, stored by an older release that accepted them. Real processes
//! handle their items.

use std::time::Duration;

use serde_json::json;
use sqlx::{PgPool, types::Json};
use uuid::Uuid;

use crate::support::{Api, Worker, eventually, gatehouse, new_site, text};

const ITEMS: i64 = 20;
const MIB: u64 = 1 << 20;
/// An idle worker, built without optimisation, takes a fifth of this.
const BOUND: u64 = 256 * MIB;
/// Compiling a group that is refused takes seconds in a build without optimisation.
const LONG: Duration = Duration::from_mins(3);

#[sqlx::test(migrations = false)]
async fn case_36_items_of_a_version_that_is_too_heavy_end_with_a_person_within_bounded_memory(
    pool: PgPool,
) {
    let site = new_site(&pool);
    let pattern =
        json!({ "name": "letters", "type": "regex", "pattern": "\\w{190}", "effect": "reject" });
    let rules: Vec<_> = (0..157)
        .map(|_| {
            let mut rule = pattern.clone();
            rule["id"] = Uuid::now_v7().to_string().into();
            rule
        })
        .collect();
    sqlx::query("update rule_group_versions set rules = $1, categories = '{}', uses_ai = false")
        .bind(Json(rules))
        .execute(&pool)
        .await
        .unwrap();
    let api = Api::start(&pool).await;
    let worker = Worker::launch(gatehouse(&pool)).await;
    for _ in 0..ITEMS {
        let body = json!({ "api_key": site.key, "body": "a" });
        let (status, answer) = api.post("submit-media", None, &body).await.unwrap();
        assert_eq!(status, 200, "{answer}");
        text(&answer, "id");
    }
    eventually("a person is asked about every item", LONG, async || {
        let waiting: i64 = sqlx::query_scalar(
            "select count(*)
             from media m join verdicts v on v.media_id = m.id and v.number = m.verdict
             where m.status = 'pending_review'
                and v.details ->> 'reason' like '%the rule group `Default of site` needs too much memory or time%'",
        )
        .fetch_one(&pool)
        .await
        .unwrap();
        (waiting == ITEMS).then_some(())
    })
    .await;
    let dead: i64 = sqlx::query_scalar("select count(*) from queue.dead_jobs")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(dead, 0);
    let most = worker.most_memory();
    assert!(most < BOUND, "{} MiB", most / MIB);
}
