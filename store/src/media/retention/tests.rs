//! Which items are forgotten, and what goes with them.

use sqlx::PgPool;

use super::*;
use crate::schema;

struct Fixture {
    pool: PgPool,
    site: Uuid,
}

impl Fixture {
    /// A site that keeps items for so many days, and events for two.
    async fn site(pool: &PgPool, days: Option<i32>) -> Self {
        Self::keeping(pool, days, None).await
    }

    /// The same, with days for the content.
    async fn keeping(pool: &PgPool, items: Option<i32>, contents: Option<i32>) -> Self {
        let site = Uuid::now_v7();
        sqlx::query(
            "with team as (insert into teams (id, name) values ($1, '') returning id),
             version as (
                 insert into rule_group_versions (id, rule_group_id, number, rules, uses_ai) values ($1, $1, 1, '[]', false)
             ),
             \"group\" as (
                 insert into rule_groups (id, team_id, name, live_version_id) select id, id, '', id from team
             )
             insert into sites
                 (id, team_id, name, default_rule_group_id, webhook_secret, webhook_retention_days, item_retention_days,
                 content_retention_days)
             select id, id, '', id, '', 2, $2, $3 from team",
        )
        .bind(site)
        .bind(items)
        .bind(contents)
        .execute(pool)
        .await
        .unwrap();
        let pool = pool.clone();
        Self { pool, site }
    }

    /// An item that was stored so many days ago, with a verdict so many days ago, and a row in every table.
    async fn item(&self, status: &str, stored: u64, decided: i32) -> Uuid {
        let (seconds, _) = Uuid::now_v7().get_timestamp().unwrap().to_unix();
        let at = seconds - 86_400 * stored - 60;
        let item = Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, at, 0));
        sqlx::query(
            "with item as (
                 insert into media
                     (id, team_id, site_id, status, content_type, body, content_url, metadata, author, group_versions, verdict)
                 values ($1, $2, $2, $3, 'image', 'secret', 'https://secret.example', '{\"a\":\"secret\"}', 'ada', '{}', 1)
             ),
             verdict as (
                 insert into verdicts (media_id, number, status, previous_status, moderation_type, details, trace, moderated_at)
                 values ($1, 1, 'approved', 'pending', 'ai', '{}', '{}', now() - make_interval(days => $4, mins => 1))
             ),
             note as (
                 insert into review_notes (id, media_id, team_id, actor_id, body) values (gen_random_uuid(), $1, $2, $2, 'a secret')
             ),
             image as (
                 insert into media_images (media_id, site_id, format, bytes) values ($1, $2, 'png', 'secret')
             )
             insert into analyses (media_id, scores, providers, unchecked)
             values (
                 $1, '{\"hate\":0.1}',
                 '[{\"provider\":\"a\",\"raw\":\"secret\",\"scores\":{}},{\"provider\":\"b\",\"scores\":{}}]', '[]'
             )",
        )
        .bind(item)
        .bind(self.site)
        .bind(status)
        .bind(decided)
        .execute(&self.pool)
        .await
        .unwrap();
        item
    }

    async fn execute(&self, statement: &'static str, item: Uuid) {
        sqlx::query(statement)
            .bind(item)
            .bind(self.site)
            .execute(&self.pool)
            .await
            .unwrap();
    }

    async fn items(&self) -> Vec<Uuid> {
        sqlx::query_scalar("select id from media where site_id = $1 order by id")
            .bind(self.site)
            .fetch_all(&self.pool)
            .await
            .unwrap()
    }
}

#[sqlx::test(migrations = false)]
async fn an_item_goes_with_all_that_belongs_to_it_when_its_last_verdict_is_old(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let site = Fixture::site(&pool, Some(3)).await;
    let old = site.item("approved", 9, 3).await;
    let decided_late = site.item("rejected", 9, 2).await;
    let young = site.item("approved", 2, 2).await;
    assert_eq!(forget_old(&pool).await.unwrap(), 1);
    assert_eq!(site.items().await, [decided_late, young]);
    for table in ["verdicts", "review_notes", "media_images", "analyses"] {
        let statement = format!("select array_agg(media_id order by media_id) from {table}");
        let left: Vec<Uuid> = sqlx::query_scalar(sqlx::AssertSqlSafe(statement))
            .fetch_one(&pool)
            .await
            .unwrap();
        assert_eq!(left, [decided_late, young], "{table}");
    }
    assert!(!site.items().await.contains(&old));
    assert_eq!(forget_old(&pool).await.unwrap(), 0);
}

#[sqlx::test(migrations = false)]
async fn what_is_needed_stays(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let (site, keeps) = (
        Fixture::site(&pool, Some(1)).await,
        Fixture::site(&pool, None).await,
    );
    let kept = keeps.item("approved", 900, 900).await;
    let waits = site.item("pending_review", 9, 9).await;
    let told = site.item("approved", 9, 9).await;
    site.execute(
        "insert into events (id, media_id, site_id, kind) values ($1, $1, $2, 'media.created')",
        told,
    )
    .await;
    let golden = site.item("approved", 9, 9).await;
    site.execute(
        "insert into golden_items (media_id, team_id, site_id, expected, added_by) values ($1, $2, $2, 'approve', $2)",
        golden,
    )
    .await;
    let audited = site.item("approved", 9, 9).await;
    site.execute(
        "insert into review_tasks
             (id, media_id, team_id, site_id, kind, verdict, severity, categories, rules, waiting_since, due_at)
         values ($1, $1, $2, $2, 'audit', 1, 1, '{}', '{}', now(), now())",
        audited,
    )
    .await;
    // Old enough for its site, but events are kept for two days.
    let young = site.item("approved", 1, 1).await;
    let old = site.item("rejected", 9, 9).await;
    assert_eq!(forget_old(&pool).await.unwrap(), 1);
    let mut expected = [waits, told, golden, audited, young];
    expected.sort_unstable();
    assert_eq!(site.items().await, expected);
    assert_eq!(keeps.items().await, [kept]);
    assert!(!site.items().await.contains(&old));

    // An item that is locked is left to a later run.
    site.execute(
        "delete from events where media_id = $1 and site_id = $2",
        told,
    )
    .await;
    let mut tx = pool.begin().await.unwrap();
    sqlx::query("select from media where id = $1 for update")
        .bind(told)
        .execute(&mut *tx)
        .await
        .unwrap();
    assert_eq!(forget_old(&pool).await.unwrap(), 0);
    tx.rollback().await.unwrap();
    assert_eq!(forget_old(&pool).await.unwrap(), 1);
}

#[sqlx::test(migrations = false)]
async fn many_items_go_slice_by_slice_although_several_processes_remove_them(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let site = Fixture::site(&pool, Some(3)).await;
    let model = site.item("approved", 9, 9).await;
    let copies = SLICE * 2 + 30;
    for statement in [
        "insert into media (id, team_id, site_id, status, content_type, body, group_versions, verdict)
         select overlay(m.id::text placing lpad(to_hex(n), 8, '0') from 29)::uuid, team_id, site_id, status, content_type, body,
             group_versions, verdict
         from media m, generate_series(1, $2) n
         where m.id = $1",
        "insert into verdicts (media_id, number, status, previous_status, moderation_type, details, trace, moderated_at)
         select m.id, 1, v.status, previous_status, moderation_type, details, trace, moderated_at
         from media m, verdicts v
         where v.media_id = $1 and m.id <> $1 and $2 > 0",
    ] {
        sqlx::query(statement)
            .bind(model)
            .bind(copies)
            .execute(&pool)
            .await
            .unwrap();
    }
    let (one, other) = tokio::join!(forget_old(&pool), forget_old(&pool));
    let removed = one.unwrap() + other.unwrap();
    assert_eq!(i64::try_from(removed).unwrap(), copies + 1);
    assert!(site.items().await.is_empty());
}

/// Everything that the database holds of an item, as text.
async fn held(pool: &PgPool, item: Uuid) -> String {
    sqlx::query_scalar(
        "select concat_ws(
             ' ',
             (select m::text from media m where id = $1),
             (select convert_from(bytes, 'UTF8') from media_images where media_id = $1),
             (select a::text from analyses a where media_id = $1),
             (select v::text from verdicts v where media_id = $1),
             (select string_agg(body, ' ') from review_notes where media_id = $1)
         )",
    )
    .bind(item)
    .fetch_one(pool)
    .await
    .unwrap()
}

#[sqlx::test(migrations = false)]
async fn the_content_of_an_item_goes_and_what_is_known_of_it_stays(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let site = Fixture::keeping(&pool, None, Some(3)).await;
    let old = site.item("approved", 9, 3).await;
    let young = site.item("approved", 2, 2).await;
    assert!(held(&pool, old).await.contains("secret"));
    assert_eq!(forget_contents(&pool).await.unwrap(), 1);
    let left = held(&pool, old).await;
    assert!(!left.contains("secret"), "{left}");
    for stays in [
        "ada",
        "approved",
        "0.1",
        "\"provider\": \"a\"",
        "\"provider\": \"b\"",
    ] {
        assert!(
            left.contains(&stays.replace('"', "\"\"")),
            "{stays}: {left}"
        );
    }
    let removed =
        "select content_removed_at > now() - interval '1 minute' from media where id = $1";
    let removed: Option<bool> = sqlx::query_scalar(removed)
        .bind(old)
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(removed, Some(true));
    assert!(held(&pool, young).await.contains("secret"));
    assert_eq!(forget_contents(&pool).await.unwrap(), 0);
}

#[sqlx::test(migrations = false)]
async fn a_content_that_had_to_stay_goes_later(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let site = Fixture::keeping(&pool, Some(20), Some(3)).await;
    let waiting = site.item("pending_review", 9, 9).await;
    let decided_late = site.item("approved", 9, 1).await;
    let after = site.item("approved", 5, 5).await;
    assert_eq!(forget_contents(&pool).await.unwrap(), 1);
    assert!(!held(&pool, after).await.contains("secret"));
    site.execute(
        "update media set status = 'rejected' where id = $1 and site_id = $2",
        waiting,
    )
    .await;
    assert_eq!(forget_contents(&pool).await.unwrap(), 1);
    assert!(!held(&pool, waiting).await.contains("secret"));
    assert!(held(&pool, decided_late).await.contains("secret"));
    site.execute(
        "update verdicts set moderated_at = now() - interval '4 days' where media_id = $1 and $2::uuid is not null",
        decided_late,
    )
    .await;
    assert_eq!(forget_contents(&pool).await.unwrap(), 1);
    let listed: i64 = sqlx::query_scalar("select count(*) from content_stragglers")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(listed, 0);
}
