//! Erasures: nothing is left of the meant items, and everything of the others; the certificate says how many they were.

mod concurrency;
mod remains;
mod selection;

use std::{collections::BTreeMap, time::Duration};

use chrono::Utc;
use domain::{
    actor::Actor,
    chain::State,
    erasure::{ItemsDigest, Subject},
    id::{ErasureId, MediaId, SiteId},
    media::{Ruling, Seen, Status},
    reach::Reach,
};
use serde_json::json;
use sqlx::PgPool;
use store::{
    chain::Next,
    created_event::Created,
    encryption::MasterKey,
    erasure::{
        self, Erasure, NewErasure, certificate, search,
        slice::{self, Slice},
    },
    key_rotation,
};

use crate::tenant::Tenant;

pub(super) fn master_key() -> MasterKey {
    MasterKey::new([7; 32])
}

fn subject(json: serde_json::Value) -> Subject {
    serde_json::from_value(json).unwrap()
}

impl Tenant {
    async fn erase(&self, site: Option<SiteId>, subject: &Subject) -> ErasureId {
        let mut tx = self.pool.begin().await.unwrap();
        let new = NewErasure {
            team: self.team,
            site,
            subject,
            by: Actor::Token(self.token),
        };
        let (id, jobs) = erasure::create(&mut tx, new).await.unwrap().unwrap();
        tx.commit().await.unwrap();
        assert_eq!(jobs.len(), 1);
        id
    }

    pub(super) async fn erasure(&self, id: ErasureId) -> Erasure {
        let mut conn = self.pool.acquire().await.unwrap();
        let found = erasure::find(&mut conn, Reach::Team(self.team), id).await;
        found.unwrap().unwrap()
    }

    /// The next slice, once all transactions have ended that other tests run on the same server.
    async fn next_slice(&self, id: ErasureId) -> Option<Box<Slice>> {
        loop {
            match slice::next(&self.pool, &master_key(), id).await.unwrap() {
                Next::Nothing => return None,
                Next::Later(_) => tokio::time::sleep(Duration::from_millis(20)).await,
                Next::Slice(slice) => return Some(slice),
            }
        }
    }

    /// Runs an erasure to its end.
    pub(super) async fn run_erasure(&self, id: ErasureId) -> Erasure {
        while let Some(slice) = self.next_slice(id).await {
            self.finish(&[slice]).await;
        }
        let ended = self.erasure(id).await;
        assert_eq!(ended.state, State::Finished, "{:?}", ended.error);
        ended
    }

    /// An item with everything that can belong to one, all of it marked with this text.
    pub(super) async fn full_item(
        &self,
        site: SiteId,
        mark: &str,
        status: Option<Status>,
    ) -> MediaId {
        let media = self.item_of(site, Utc::now(), Some(mark)).await;
        if let Some(status) = status {
            self.judge(media, status).await;
        }
        let statements = format!(
            r#"
            update media set body = 'by {mark}', content_url = 'https://{mark}.example/', author = '{mark}',
                metadata = '{{"user":{{"id":"{mark}"}}}}', traceparent = null
            where id = '{id}';
            update verdicts set
                details = '{{"rule_violations":[{{"rule_name":"r","matched_text":"{mark}"}}],"reason":"{mark}"}}',
                trace = '{{"unchecked":[{{"detail":"{mark}"}}],"evidence":[]}}'
            where media_id = '{id}';
            insert into media_images (media_id, site_id, format, bytes, sha256)
            values ('{id}', '{site}', 'png', '{mark}', sha256('{mark}'));
            insert into analyses (media_id, scores, providers, unchecked) values ('{id}', '{{}}', '[{{"raw":"{mark}"}}]', '[]')
            on conflict (media_id) do update set providers = excluded.providers;
            insert into analysis_parts (media_id, provider, scores, report) values ('{id}', 'p', '{{}}', '{{"raw":"{mark}"}}');
            insert into analysis_image_parts (media_id, provider, scores, report) values ('{id}', 'p', '{{}}', '{{"raw":"{mark}"}}');
            insert into analysis_pieces (media_id, provider, modality, start, length, categories, scores, raw)
            values ('{id}', 'p', 'text', 0, 1, '{{}}', '{{}}', '{mark}');
            insert into image_matches (media_id, list_id, kind, entry_id, algorithm, distance)
            values ('{id}', gen_random_uuid(), 'deny', gen_random_uuid(), 'sha256', 0);
            insert into golden_items (media_id, team_id, site_id, expected, added_by) values ('{id}', '{team}', '{site}', 'approve', '{id}');
            insert into review_tasks (id, media_id, team_id, site_id, kind, verdict, severity, categories, rules, waiting_since, due_at)
            values (gen_random_uuid(), '{id}', '{team}', '{site}', 'appeal', 1, 1, '{{}}', '{{}}', now(), now());
            insert into review_notes (id, media_id, team_id, actor_id, body) values (gen_random_uuid(), '{id}', '{team}', '{team}', '{mark}');
            insert into review_opinions
                (id, task_id, media_id, team_id, site_id, kind, tier, actor_id, ruling, reason, seen_status, seen_verdict, opened_at, said_at,
                severity, waiting_since, due_at, held_until, outcome)
            values
                (gen_random_uuid(), gen_random_uuid(), '{id}', '{team}', '{site}', 'review', 1, '{team}', 'reject', '{mark}', 'rejected', 1,
                now(), now(), 1, now(), now(), now(), 'waits');
            insert into idempotency_keys (site_id, key, fingerprint, media_id) values ('{site}', '{mark} {id}', '\x00', '{id}');
            insert into queue.dead_jobs (id, queue, lane, priority, attempt, max_attempts, created_at, cause, error, payload)
            select coalesce(max(d.id), 0) + 1, 'analysis', '{team}', 0, 1, 1, now(), 'failed', '{mark}', '{{"media":"{id}"}}'
            from queue.dead_jobs d;
            insert into webhook_endpoints (id, site_id, url, events) values ('{team}', '{site}', 'https://example.com', '{{media.created}}')
            on conflict do nothing;
            insert into events (id, media_id, site_id, kind) values ('{id}', '{id}', '{site}', 'media.created');
            insert into deliveries (id, event_id, endpoint_id) values (delivery_id_of('{id}', '{team}'), '{id}', '{team}');
            insert into delivery_attempts (delivery_id, number, started_at, duration_ms, outcome, response_body)
            values (delivery_id_of('{id}', '{team}'), 1, now(), 1, 'status', '{mark}');
            "#,
            id = media,
            team = self.team,
        );
        sqlx::raw_sql(sqlx::AssertSqlSafe(statements))
            .execute(&self.pool)
            .await
            .unwrap();
        media
    }

    /// Where this text is. After an analysis, which would keep it for the planner.
    async fn columns_with(&self, text: &str) -> Vec<String> {
        let mut conn = self.pool.acquire().await.unwrap();
        let searched = search::search(&mut conn, &[text.to_owned()]).await.unwrap();
        searched.found.into_iter().map(|f| f.column).collect()
    }

    /// The number of rows of each table that has an item's id, and the digest of these rows.
    async fn rows_of(&self, media: MediaId) -> BTreeMap<String, String> {
        let tables: Vec<String> = sqlx::query_scalar(
            "select table_name::text from information_schema.columns where table_schema = 'public' and column_name = 'media_id'
             union all select 'media'",
        )
        .fetch_all(&self.pool)
        .await
        .unwrap();
        let mut rows = BTreeMap::new();
        for table in tables {
            let column = if table == "media" { "id" } else { "media_id" };
            let statement = format!(
                "select count(*) || ' ' || md5(string_agg(t::text, '|' order by t::text)) from {table} t where {column} = $1"
            );
            let found: Option<String> = sqlx::query_scalar(sqlx::AssertSqlSafe(statement))
                .bind(media.as_uuid())
                .fetch_one(&self.pool)
                .await
                .unwrap();
            rows.extend(found.map(|found| (table, found)));
        }
        rows
    }
}

fn tables(rows: &BTreeMap<String, String>) -> Vec<&str> {
    rows.keys().map(String::as_str).collect()
}
