//! A scan of stored images that is killed midway.

use reqwest::Method;
use serde_json::json;
use sqlx::PgPool;

use super::{PATIENCE, id, start};
use crate::support::{DataDir, Up, eventually};

/// Stores images of the demo site, as hashes only. Every tenth hash is near the hash that has only
/// ones.
async fn store_images(up: &Up, pool: &PgPool, images: i32) {
    sqlx::query(
        "with stored as (
             insert into media (id, team_id, site_id, content_type, status, verdict, group_versions)
             select
                 (lpad(to_hex((extract(epoch from now()) * 1000)::bigint - n), 12, '0')
                 || '7' || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid,
                 s.team_id, s.id, 'image', 'approved', 1, '{}'
             from sites s
             cross join generate_series(1, $2) n
             where s.id = $1
             returning id, site_id
         )
         insert into media_images (media_id, site_id, format, sha256, pdq, pdq_quality)
         select
             id, site_id, 'jpeg', sha256(id::text::bytea),
             case when row_number() over () % 10 = 0
                 then decode(repeat('f', 60) || '0000', 'hex')
                 else decode(md5(id::text) || md5('b' || id::text), 'hex')
             end,
             100
         from stored",
    )
    .bind(up.demo().site_id.parse::<sqlx::types::Uuid>().unwrap())
    .bind(images)
    .execute(pool)
    .await
    .unwrap();
}

#[sqlx::test(migrations = false)]
async fn a_scan_killed_midway_goes_on_and_meets_every_image_once(pool: PgPool) {
    let data = DataDir::new();
    let up = start(&data, &pool).await;
    store_images(&up, &pool, 60_000).await;
    let list = up.list("Exchange", "deny").await;
    let entries = format!("/hash-lists/{list}/entries");
    up.made(&entries, json!({ "pdq": "f".repeat(64) })).await;
    let scans = format!("/hash-lists/{list}/scans");
    let scan = up.made(&scans, json!({})).await;
    let path = format!("/hash-scans/{}", id(&scan));
    let midway = eventually("the scan is under way", PATIENCE, async || {
        let seen = up.seen(&path).await;
        (seen["looked_at"].as_i64() > Some(0)).then_some(seen)
    })
    .await;
    up.kill();
    assert_eq!(
        midway["state"], "running",
        "it was killed too late: {midway}"
    );

    let up = start(&data, &pool).await;
    let ended = up.until_ended(&path).await;
    assert_eq!(ended["state"], "finished", "{ended}");
    let counts = ["looked_at", "matched"].map(|name| ended[name].as_i64().unwrap());
    assert_eq!(counts, [60_000, 6_000], "{ended}");
    let stored: i64 = sqlx::query_scalar("select count(*) from image_matches where distance = 16")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(stored, 6_000);
    let found = up.seen(&format!("{path}/matches?limit=1")).await;
    assert_eq!(
        (&found["data"][0]["status"], &found["data"][0]["distance"]),
        (&json!("approved"), &json!(16))
    );
    // No verdict changed.
    let changed: i64 = sqlx::query_scalar("select count(*) from verdicts")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(changed, 0);

    let again = up.made(&scans, json!({})).await;
    let path = format!("/hash-scans/{}", id(&again));
    let (status, cancelled) = up
        .call(
            Method::POST,
            &format!("{path}/cancel"),
            "text/plain",
            String::new(),
        )
        .await;
    assert_eq!((status, &cancelled["state"]), (200, &json!("cancelled")));
    let jobs = "select count(*) from queue.jobs where queue = 'hash-scans'";
    eventually("its job ends", PATIENCE, async || {
        let jobs: i64 = sqlx::query_scalar(jobs).fetch_one(&pool).await.unwrap();
        (jobs == 0).then_some(())
    })
    .await;
    let after = up.seen(&path).await;
    assert_eq!(after["looked_at"], cancelled["looked_at"]);
}
