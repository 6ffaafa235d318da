//! A group that is edited while items arrive.

use std::collections::HashMap;

use serde_json::{Value, json};
use sqlx::PgPool;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{default_group, start, word};
use crate::support::{DataDir, Up, text};

/// How an item was judged: the versions that it was accepted for, the versions that judged it
/// according to its trace, and the names of the rules that it violated.
async fn judged(pool: &PgPool, media: &str) -> (Vec<Uuid>, Vec<Uuid>, Vec<String>) {
    let (pinned, trace, details): (Vec<Uuid>, Value, Value) = sqlx::query_as(
        "select m.group_versions, v.trace, v.details
         from media m join verdicts v on v.media_id = m.id and v.number = 1
         where m.id = $1::uuid",
    )
    .bind(media)
    .fetch_one(pool)
    .await
    .unwrap();
    let groups = trace["groups"].as_array().unwrap().iter();
    let judged_by = groups.map(|judged| text(judged, "version").parse().unwrap());
    let violations = details["rule_violations"].as_array().unwrap().iter();
    (
        pinned,
        judged_by.collect(),
        violations.map(|v| text(v, "rule_name")).collect(),
    )
}

#[sqlx::test(migrations = false)]
async fn a_group_edited_under_load_judges_every_item_by_exactly_one_version_and_loses_none(
    pool: PgPool,
) {
    const VERSIONS: usize = 30;
    let data = DataDir::new();
    let (up, management) = start(&pool, &data).await;
    sqlx::query("update plans set submissions_per_minute = 1000000")
        .execute(&pool)
        .await
        .unwrap();
    let group = default_group(&pool).await;
    let first = management
        .version(&group, json!([word("version 0", "blockedword")]), true)
        .await;
    let (published, latest) = tokio::sync::watch::channel(0);
    let done = CancellationToken::new();
    let publishing = async {
        let mut numbers = HashMap::from([(first, 0)]);
        for number in 1..=VERSIONS {
            let rule = word(&format!("version {number}"), "blockedword");
            let version = management.version(&group, json!([rule]), true).await;
            published.send_replace(number);
            numbers.insert(version, number);
        }
        done.cancel();
        numbers
    };
    let submitting = async {
        let mut accepted = Vec::new();
        while !done.is_cancelled() {
            let before = *latest.borrow();
            let media = up.submit(json!({ "body": "a blockedword" })).await;
            // One more version may be live although its publisher has no answer yet.
            accepted.push((media, before, *latest.borrow() + 1));
        }
        accepted
    };
    let (numbers, a, b, c) = tokio::join!(
        publishing,
        submitting,
        submit_until(&up, &done),
        submit_until(&up, &done)
    );
    let others = b.into_iter().chain(c).map(|media| (media, 0, VERSIONS));
    let accepted: Vec<_> = a.into_iter().chain(others).collect();
    assert!(accepted.len() > VERSIONS, "{}", accepted.len());

    let mut seen = std::collections::BTreeSet::new();
    for (media, earliest, last) in &accepted {
        up.verdict(media).await;
        let (pinned, judged_by, violated) = judged(&pool, media).await;
        assert_eq!(pinned, judged_by, "{media}");
        let [version] = judged_by.as_slice() else {
            panic!("{media} was judged by {judged_by:?}");
        };
        let number = numbers[&version.to_string()];
        assert_eq!(violated, [format!("version {number}")], "{media}");
        assert!(
            (*earliest..=*last).contains(&number),
            "{media}: {number} is not from {earliest} to {last}"
        );
        seen.insert(number);
    }
    assert!(seen.len() > 2, "{seen:?}");
    let lost = "select count(*) from media where status = 'pending'";
    let lost: i64 = sqlx::query_scalar(lost).fetch_one(&pool).await.unwrap();
    assert_eq!(lost, 0);
}

async fn submit_until(up: &Up, done: &CancellationToken) -> Vec<String> {
    let mut accepted = Vec::new();
    while !done.is_cancelled() {
        accepted.push(up.submit(json!({ "body": "a blockedword" })).await);
    }
    accepted
}
