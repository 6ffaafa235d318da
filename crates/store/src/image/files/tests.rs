//! Which files of images are kept, and for how long.

use uuid::Uuid;

use super::{forget_within, *};
use crate::{batches::Pace, image::give_up, schema};

/// Looks at so many files of each site, at most. Returns how many are gone, and whether more are left to look at.
async fn forget(pool: &PgPool, most: usize) -> (u64, bool) {
    let forgotten = forget_within(pool, most, Pace::Hurried).await.unwrap();
    (forgotten.removed, forgotten.has_more)
}

/// An item that was decided so many days ago, with its file. Its image's row may name the site.
async fn item(pool: &PgPool, site: Uuid, status: &str, days: i32, names_site: bool) -> Uuid {
    let (seconds, _) = Uuid::now_v7().get_timestamp().unwrap().to_unix();
    let accepted = seconds - 86_400 * u64::from(days.unsigned_abs()) - 60;
    let time = uuid::Timestamp::from_unix(uuid::NoContext, accepted, 0);
    let media = Uuid::new_v7(time);
    sqlx::query(
        "insert into media (id, team_id, site_id, status, content_type, group_versions, verdict)
         values ($1, $2, $2, $3, 'image', '{}', case when $3 <> 'pending' then 1 end)",
    )
    .bind(media)
    .bind(site)
    .bind(status)
    .execute(pool)
    .await
    .unwrap();
    if status != "pending" {
        sqlx::query(
            "insert into verdicts
             values ($1, 1, $2, 'pending', 'ai', '{}', '{}', now() - make_interval(days => $3))",
        )
        .bind(media)
        .bind(status)
        .bind(days)
        .execute(pool)
        .await
        .unwrap();
    }
    sqlx::query(
        "insert into media_images (media_id, site_id, format, bytes, sha256)
         values ($1, $2, 'png', 'file', sha256('file'))",
    )
    .bind(media)
    .bind(names_site.then_some(site))
    .execute(pool)
    .await
    .unwrap();
    media
}

async fn site(pool: &PgPool, days: i32) -> Uuid {
    let id = Uuid::now_v7();
    sqlx::query("insert into teams (id, name) values ($1, $1::text)")
        .bind(id)
        .execute(pool)
        .await
        .unwrap();
    sqlx::query(
        "with version as (
             insert into rule_group_versions (id, rule_group_id, number, rules, uses_ai)
             values ($1, $1, 1, '[]', false)
         )
         insert into rule_groups (id, team_id, name, live_version_id) values ($1, $1, 'rules', $1)",
    )
    .bind(id)
    .execute(pool)
    .await
    .unwrap();
    sqlx::query(
        "insert into sites (id, team_id, name, default_rule_group_id, webhook_secret, image_retention_days)
         values ($1, $1, 'site', $1, '', $2)",
    )
    .bind(id)
    .bind(days)
    .execute(pool)
    .await
    .unwrap();
    id
}

#[sqlx::test(migrations = false)]
async fn only_files_of_items_that_were_decided_long_ago_are_removed(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let (usual, brief) = (site(&pool, 30).await, site(&pool, 2).await);
    let removed = [
        item(&pool, usual, "approved", 31, true).await,
        item(&pool, usual, "rejected", 40, true).await,
        item(&pool, usual, "rejected", 40, false).await,
        item(&pool, brief, "approved", 3, true).await,
    ];
    let kept = [
        item(&pool, usual, "approved", 29, true).await,
        item(&pool, usual, "approved", 29, false).await,
        item(&pool, usual, "pending_review", 400, true).await,
        item(&pool, usual, "pending", 400, true).await,
        item(&pool, brief, "approved", 1, true).await,
    ];
    assert_eq!(forget(&pool, 100).await, (4, false));
    assert_eq!(forget(&pool, 100).await, (0, false));
    let with_file = async |media: &[Uuid]| -> i64 {
        sqlx::query_scalar(
            "select count(*) filter (where bytes is not null) from media_images
             where media_id = any($1) and sha256 is not null",
        )
        .bind(media)
        .fetch_one(&pool)
        .await
        .unwrap()
    };
    assert_eq!(with_file(&removed).await, 0);
    assert_eq!(with_file(&kept).await, 5);
}

#[sqlx::test(migrations = false)]
async fn a_site_with_many_files_that_stay_does_not_delay_the_others_and_hides_nothing(
    pool: PgPool,
) {
    schema::migrate(&pool).await.unwrap();
    let (busy, other) = (site(&pool, 30).await, site(&pool, 30).await);
    for days in 50..57 {
        item(&pool, busy, "pending_review", days, true).await;
    }
    item(&pool, busy, "approved", 40, true).await;
    item(&pool, other, "approved", 40, true).await;
    let mut swept = Vec::new();
    for _ in 0..5 {
        swept.push(forget(&pool, 3).await);
    }
    // The third sweep finds the end. The fourth begins with the oldest file.
    let expected = [(1, true), (0, true), (1, false), (0, true), (0, true)];
    assert_eq!(swept, expected);
}

#[sqlx::test(migrations = false)]
async fn files_of_a_site_that_fails_do_not_keep_those_of_others(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let (first, second) = (site(&pool, 30).await, site(&pool, 30).await);
    // Whichever comes first.
    for (failing, other) in [(first, second), (second, first)] {
        for site in [first, second] {
            item(&pool, site, "approved", 40, true).await;
        }
        fail_for(&pool, failing).await;
        assert!(forget_within(&pool, 100, Pace::Hurried).await.is_err());
        let left = "select count(*) from media_images where bytes is not null and site_id = $1";
        let left: i64 = sqlx::query_scalar(left)
            .bind(other)
            .fetch_one(&pool)
            .await
            .unwrap();
        assert_eq!(left, 0);
    }
}

/// No row of this site's images can be changed from now on, and those of other sites can.
async fn fail_for(pool: &PgPool, site: Uuid) {
    let statement = format!(
        "create or replace function fail() returns trigger language plpgsql as $$
         begin
             if new.site_id = '{site}' then raise exception 'This site fails.'; end if;
             return new;
         end $$;
         create or replace trigger fail before update on media_images for each row execute function fail()"
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(statement))
        .execute(pool)
        .await
        .unwrap();
}

#[sqlx::test(migrations = false)]
async fn an_image_is_kept_once_and_only_while_its_item_is_pending(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let site = site(&pool, 30).await;
    let media = item(&pool, site, "pending", 0, true).await;
    let decided = item(&pool, site, "approved", 0, true).await;
    sqlx::query("delete from media_images")
        .execute(&pool)
        .await
        .unwrap();
    let keep = async |media: Uuid, bytes: &[u8]| {
        keep(&pool, media.into(), ImageFormat::Png, bytes)
            .await
            .unwrap()
    };
    assert!(keep(media, b"first").await);
    assert!(!keep(media, b"second").await);
    assert!(!keep(decided, b"late").await);
    let stored = bytes(&pool, media.into()).await.unwrap();
    assert_eq!(stored.as_deref(), Some(&b"first"[..]));
}

#[sqlx::test(migrations = false)]
async fn an_item_whose_examination_died_goes_on_with_a_problem(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let site = site(&pool, 30).await;
    let (with_file, without) = (
        item(&pool, site, "pending", 0, true).await,
        item(&pool, site, "pending", 1, true).await,
    );
    let decided = item(&pool, site, "rejected", 0, true).await;
    sqlx::query("delete from media_images where media_id = $1")
        .bind(without)
        .execute(&pool)
        .await
        .unwrap();
    let mut conn = pool.acquire().await.unwrap();
    let given_up = give_up(&mut conn, &[with_file, without, decided])
        .await
        .unwrap();
    assert_eq!(given_up.len(), 2, "the decided one is passed over");
    let problem = async |media: Uuid| -> Option<String> {
        sqlx::query_scalar("select problem from media_images where media_id = $1")
            .bind(media)
            .fetch_one(&pool)
            .await
            .unwrap()
    };
    assert_eq!(problem(with_file).await.as_deref(), Some("undecodable"));
    assert_eq!(problem(without).await.as_deref(), Some("not_fetched"));
    assert_eq!(problem(decided).await, None);
}
