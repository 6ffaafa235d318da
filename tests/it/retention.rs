//! What sites want to be forgotten is forgotten, on a service with a week of history.

use sqlx::{ConnectOptions as _, PgPool};

use crate::support::{DataDir, Up, admin};

async fn number(pool: &PgPool, statement: &'static str) -> i64 {
    sqlx::query_scalar(statement).fetch_one(pool).await.unwrap()
}

/// Items of a site whose last verdict is older than three days and that nobody needs any more.
const OLD: &str = "select count(*)
    from media m
    join sites s on s.id = m.site_id and s.name = 'Marketplace'
    join verdicts v on v.media_id = m.id and v.number = m.verdict
    where v.moderated_at < now() - interval '3 days' and m.status <> 'pending_review'";

/// Items of another site whose content is older than two days.
const OLD_CONTENTS: &str = "select count(*)
    from media m
    join sites s on s.id = m.site_id and s.name = 'Forum'
    join verdicts v on v.media_id = m.id and v.number = m.verdict
    where v.moderated_at < now() - interval '2 days' and m.status <> 'pending_review' and m.body is not null";

#[sqlx::test(migrations = false)]
async fn old_items_and_contents_go_and_the_statistics_stay(pool: PgPool) {
    let (database, data) = (
        pool.connect_options().to_url_lossy().to_string(),
        DataDir::new(),
    );
    let options = ["--database-url", &database, "--demo-data"];
    let up = Up::start(&data, &options).await;
    drop(up);
    // Nothing becomes too old between two looks: what would do so within an hour is made an hour younger.
    for younger in [
        "update verdicts set moderated_at = moderated_at + interval '1 hour'
         where moderated_at between now() - interval '3 days' and now() - interval '71 hours'",
        "update verdicts set moderated_at = moderated_at + interval '1 hour'
         where moderated_at between now() - interval '2 days' and now() - interval '47 hours'",
    ] {
        sqlx::query(younger).execute(&pool).await.unwrap();
    }
    let all = number(&pool, "select count(*) from media").await;
    let (old, old_contents) = (number(&pool, OLD).await, number(&pool, OLD_CONTENTS).await);
    assert!(old > 100 && old_contents > 100, "{old} {old_contents}");
    let added_up = "select coalesce(sum(accepted), 0)::bigint from statistics_hours";
    let before = number(&pool, added_up).await;

    // Nobody wants anything to be forgotten.
    let removed = admin(&pool, &["remove-expired"]);
    assert_eq!(removed["items"], 0, "{removed}");
    assert_eq!(removed["contents_of_items"], 0, "{removed}");
    for statement in [
        "update sites set webhook_retention_days = 1",
        "update sites set item_retention_days = 3 where name = 'Marketplace'",
        "update sites set content_retention_days = 2 where name = 'Forum'",
    ] {
        sqlx::query(statement).execute(&pool).await.unwrap();
    }
    let removed = admin(&pool, &["remove-expired"]);
    assert_eq!(removed["items"], old, "{removed}");
    assert_eq!(removed["contents_of_items"], old_contents, "{removed}");
    assert_eq!(number(&pool, OLD).await, 0);
    assert_eq!(number(&pool, OLD_CONTENTS).await, 0);
    assert_eq!(number(&pool, "select count(*) from media").await, all - old);
    let orphans = "select count(*) from verdicts v where not exists (select from media m where m.id = v.media_id)";
    assert_eq!(number(&pool, orphans).await, 0);
    assert_eq!(number(&pool, added_up).await, before);

    // The rest works as before.
    let up = Up::start(&data, &options).await;
    let (code, items) = up.look("/media?limit=5").await;
    assert_eq!(code, 200, "{items}");
    drop(up);
}
