//! Which items are forgotten, and what goes with them.

mod contents;
mod items;
mod sweeps;

use sqlx::PgPool;

use super::*;
use crate::image;

async fn items(pool: &PgPool) -> u64 {
    forget_old(pool, Kind::Items, Pace::Hurried)
        .await
        .unwrap()
        .removed
}

async fn files(pool: &PgPool) -> u64 {
    let forgotten = image::forget_old(pool, Pace::Hurried).await;
    forgotten.unwrap().removed
}

async fn contents(pool: &PgPool) -> u64 {
    forget_old(pool, Kind::Contents, Pace::Hurried)
        .await
        .unwrap()
        .removed
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
