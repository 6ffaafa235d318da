//! An import of a file of hashes that is killed midway.

use reqwest::Method;
use sqlx::PgPool;

use super::{PATIENCE, id, start};
use crate::support::{DataDir, eventually};

#[sqlx::test(migrations = false)]
async fn an_import_killed_midway_goes_on_and_reads_every_line_once(pool: PgPool) {
    let data = DataDir::new();
    let up = start(&data, &pool).await;
    let list = up.list("Exchange", "deny").await;
    let line = |number: u32| match number % 1_000 {
        999 => "no hash\n".to_owned(),
        _ => format!("{number:064x},line {number}\n"),
    };
    let file: String = (0..100_000).map(line).collect();
    let imports = format!("/hash-lists/{list}/imports");
    let (status, import) = up.call(Method::POST, &imports, "text/plain", file).await;
    assert_eq!(status, 202, "{import}");
    let path = format!("/hash-imports/{}", id(&import));
    let midway = eventually("the import is under way", PATIENCE, async || {
        let seen = up.seen(&path).await;
        (seen["lines"].as_i64() > Some(0)).then_some(seen)
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
    let counts = ["lines", "total_lines", "added", "existing", "refused"];
    let counts = counts.map(|name| ended[name].as_i64().unwrap());
    assert_eq!(counts, [100_000, 100_000, 99_900, 0, 100], "{ended}");
    let stored: i64 = sqlx::query_scalar("select count(*) from hash_entries")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(stored, 99_900);
    let refused = up.seen(&format!("{path}/refusals")).await;
    assert_eq!(refused["data"][1]["line"], 2_000);
    assert_eq!(
        up.seen(&format!("/hash-lists/{list}")).await["entry_count"],
        99_900
    );
}
