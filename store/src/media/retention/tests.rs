//! Which items are forgotten, and what goes with them.

use sqlx::PgPool;

use super::*;
use crate::{image, schema};

async fn items(pool: &PgPool) -> u64 {
    forget_old(pool, Kind::Items).await.unwrap().removed
}

async fn contents(pool: &PgPool) -> u64 {
    forget_old(pool, Kind::Contents).await.unwrap().removed
}

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

    async fn make_due(&self, item: Uuid) {
        let statement =
            "update retention_stragglers set due_at = now() where media_id = $1 and site_id = $2";
        self.execute(statement, item).await;
    }

    /// The items that had to stay, with the minutes until they are looked at again, rounded.
    async fn listed(&self) -> Vec<(Uuid, i64)> {
        sqlx::query_as(
            "select media_id, round(extract(epoch from due_at - now()) / 60)::bigint
             from retention_stragglers
             where site_id = $1
             order by media_id, kind",
        )
        .bind(self.site)
        .fetch_all(&self.pool)
        .await
        .unwrap()
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
    assert_eq!(items(&pool).await, 1);
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
    assert_eq!(items(&pool).await, 0);
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
    assert_eq!(items(&pool).await, 1);
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
    look_again_at_all(&pool).await.unwrap();
    assert_eq!(items(&pool).await, 0);
    tx.rollback().await.unwrap();
    look_again_at_all(&pool).await.unwrap();
    assert_eq!(items(&pool).await, 1);
}

#[sqlx::test(migrations = false)]
async fn many_items_go_slice_by_slice_although_several_processes_remove_them(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let site = Fixture::site(&pool, Some(3)).await;
    let model = site.item("approved", 9, 9).await;
    let copies = SLICE.cast_signed() * 2 + 30;
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
    let (one, other) = tokio::join!(
        forget_old(&pool, Kind::Items),
        forget_old(&pool, Kind::Items)
    );
    let removed = one.unwrap().removed + other.unwrap().removed;
    assert_eq!(removed, copies.cast_unsigned() + 1);
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
    assert_eq!(contents(&pool).await, 1);
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
    assert_eq!(contents(&pool).await, 0);
}

#[sqlx::test(migrations = false)]
async fn a_content_that_had_to_stay_goes_later(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let site = Fixture::keeping(&pool, Some(20), Some(3)).await;
    let waiting = site.item("pending_review", 9, 9).await;
    let decided_late = site.item("approved", 9, 1).await;
    let after = site.item("approved", 5, 5).await;
    assert_eq!(contents(&pool).await, 1);
    assert!(!held(&pool, after).await.contains("secret"));
    site.execute(
        "update media set status = 'rejected' where id = $1 and site_id = $2",
        waiting,
    )
    .await;
    look_again_at_all(&pool).await.unwrap();
    assert_eq!(contents(&pool).await, 1);
    assert!(!held(&pool, waiting).await.contains("secret"));
    assert!(held(&pool, decided_late).await.contains("secret"));
    site.execute(
        "update verdicts set moderated_at = now() - interval '4 days' where media_id = $1 and $2::uuid is not null",
        decided_late,
    )
    .await;
    look_again_at_all(&pool).await.unwrap();
    assert_eq!(contents(&pool).await, 1);
    assert_eq!(site.listed().await, []);
}

#[sqlx::test(migrations = false)]
async fn what_had_to_stay_is_looked_at_again_after_longer_and_longer_pauses(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    for kind in [Kind::Items, Kind::Contents] {
        let (of_items, of_contents) = match kind {
            Kind::Items => (Some(3), None),
            Kind::Contents => (None, Some(3)),
        };
        let site = Fixture::keeping(&pool, of_items, of_contents).await;
        let waiting = site.item("pending_review", 9, 9).await;
        for minutes in [10, 20, 40, 80, 160, 320, 640, 1280, 1440, 1440] {
            assert_eq!(forget_old(&pool, kind).await.unwrap().removed, 0);
            assert_eq!(site.listed().await, [(waiting, minutes)], "{kind:?}");
            // Not due.
            assert_eq!(forget_old(&pool, kind).await.unwrap().removed, 0);
            assert_eq!(site.listed().await, [(waiting, minutes)], "{kind:?}");
            site.make_due(waiting).await;
        }
        site.execute(
            "update media set status = 'rejected' where id = $1 and site_id = $2",
            waiting,
        )
        .await;
        assert_eq!(forget_old(&pool, kind).await.unwrap().removed, 1);
        assert_eq!(site.listed().await, []);
    }
}

/// Few of everything.
const FEW: Bounds = Bounds {
    walked: 4,
    again: 2,
    told: 100,
};

#[sqlx::test(migrations = false)]
async fn a_sweep_looks_at_a_bounded_number_of_items_and_the_next_one_goes_on(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    for kind in [Kind::Items, Kind::Contents] {
        let (of_items, of_contents) = match kind {
            Kind::Items => (Some(3), None),
            Kind::Contents => (None, Some(3)),
        };
        let site = Fixture::keeping(&pool, of_items, of_contents).await;
        let mut waiting = Vec::new();
        for days in (20..26).rev() {
            waiting.push(site.item("pending_review", days, 9).await);
        }
        site.item("approved", 19, 9).await;
        site.item("approved", 18, 9).await;
        let sweep = || async { forget_within(&pool, kind, FEW).await.unwrap() };
        let swept = |removed, has_more| Forgotten { removed, has_more };
        assert_eq!(sweep().await, swept(0, true));
        assert_eq!(site.listed().await.len(), 4, "{kind:?}");
        // What has waited longest is looked at first.
        for item in [waiting[3], waiting[1], waiting[2]] {
            site.make_due(item).await;
        }
        assert_eq!(sweep().await, swept(2, true));
        let pauses: Vec<i64> = site.listed().await.iter().map(|row| row.1).collect();
        assert_eq!(pauses, [10, 20, 0, 20, 10, 10], "{kind:?}");
        assert_eq!(sweep().await, swept(0, false));
        let pauses: Vec<i64> = site.listed().await.iter().map(|row| row.1).collect();
        assert_eq!(pauses, [10, 20, 20, 20, 10, 10], "{kind:?}");
    }
}

#[sqlx::test(migrations = false)]
async fn what_is_listed_goes_with_the_wish_to_forget_and_with_the_item(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let site = Fixture::keeping(&pool, Some(3), Some(3)).await;
    let waiting = site.item("pending_review", 9, 9).await;
    let gone = site.item("pending_review", 9, 9).await;
    assert_eq!([items(&pool).await, contents(&pool).await], [0, 0]);
    assert_eq!(site.listed().await.len(), 4);
    site.execute("delete from media where id = $1 and site_id = $2", gone)
        .await;
    look_again_at_all(&pool).await.unwrap();
    assert_eq!([items(&pool).await, contents(&pool).await], [0, 0]);
    assert_eq!(site.listed().await, [(waiting, 20), (waiting, 20)]);
    site.execute(
        "update sites set content_retention_days = null where $1::uuid is not null and id = $2",
        waiting,
    )
    .await;
    assert_eq!([items(&pool).await, contents(&pool).await], [0, 0]);
    assert_eq!(site.listed().await, [(waiting, 20)]);

    // A site that changes its mind again is walked from the beginning.
    site.execute(
        "update sites set content_retention_days = 3 where $1::uuid is not null and id = $2",
        waiting,
    )
    .await;
    assert_eq!([items(&pool).await, contents(&pool).await], [0, 0]);
    assert_eq!(site.listed().await.len(), 2);
}

#[sqlx::test(migrations = false)]
async fn a_content_is_removed_once_also_if_its_site_is_walked_again(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let site = Fixture::keeping(&pool, None, Some(3)).await;
    site.item("approved", 9, 9).await;
    assert_eq!(contents(&pool).await, 1);
    sqlx::query("delete from retention_walks")
        .execute(&pool)
        .await
        .unwrap();
    assert_eq!(contents(&pool).await, 0);
    assert_eq!(site.listed().await, []);
}

#[sqlx::test(migrations = false)]
async fn items_wait_until_the_events_of_their_time_were_looked_at(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let site = Fixture::site(&pool, Some(3)).await;
    let first = site.item("approved", 20, 20).await;
    let told = site.item("approved", 19, 19).await;
    let last = site.item("approved", 18, 18).await;
    let event = |item| {
        let statement =
            "insert into events (id, media_id, site_id, kind) values ($1, $1, $2, 'media.created')";
        site.execute(statement, item)
    };
    event(told).await;
    // The sweep of events has stopped there.
    site.execute(
        "insert into retention_walks (site_id, kind, walked_to) values ($2, 'events', $1)",
        told,
    )
    .await;
    assert_eq!(items(&pool).await, 1);
    assert_eq!(site.items().await, [told, last]);
    assert_eq!(site.listed().await, []);
    site.execute(
        "delete from retention_walks where $1::uuid is not null and site_id = $2 and kind = 'events'",
        told,
    )
    .await;
    // More events are left than a sweep keeps in memory: what is later stays.
    let told_one = Bounds { told: 1, ..FEW };
    let swept = forget_within(&pool, Kind::Items, told_one).await.unwrap();
    assert_eq!(swept.removed, 0);
    assert_eq!(site.items().await, [told, last]);
    assert_eq!(site.listed().await, []);
    assert_eq!(items(&pool).await, 1);
    assert_eq!(site.items().await, [told]);
    assert!(!site.items().await.contains(&first));
}

#[sqlx::test(migrations = false)]
async fn what_is_held_stays_until_the_hold_is_lifted(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let site = Fixture::keeping(&pool, Some(3), Some(3)).await;
    let held = site.item("approved", 9, 9).await;
    site.execute(
        "insert into legal_holds (id, team_id, site_id, media_id, reason) values ($1, $2, $2, $1, 'A case.')",
        held,
    )
    .await;
    let other = site.item("approved", 9, 9).await;
    assert_eq!(image::forget_files(&pool).await.unwrap(), 0);
    site.execute(
        "update sites set image_retention_days = 1 where $1::uuid is not null and id = $2",
        held,
    )
    .await;
    assert_eq!(image::forget_files(&pool).await.unwrap(), 1);
    assert_eq!(contents(&pool).await, 1);
    assert_eq!(items(&pool).await, 1);
    assert_eq!(site.items().await, [held]);
    assert!(!site.items().await.contains(&other));
    let kept = image::bytes(&pool, held.into()).await;
    assert_eq!(kept.unwrap().as_deref(), Some(&b"secret"[..]));
    site.execute(
        "update legal_holds set lifted_at = now() where media_id = $1 and site_id = $2",
        held,
    )
    .await;
    look_again_at_all(&pool).await.unwrap();
    assert_eq!(image::forget_files(&pool).await.unwrap(), 1);
    assert_eq!(contents(&pool).await, 1);
    assert_eq!(items(&pool).await, 1);
}
