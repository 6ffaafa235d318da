//! Erasures: nothing is left of the meant items, and everything of the others; the certificate says how many they were.

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
    created::Created,
    erasure::{
        self, Erasure, NewErasure, certificate, search,
        slice::{self, Next, Slice},
    },
    rotation,
    seal::MasterKey,
};

use crate::tenant::Tenant;

fn master_key() -> MasterKey {
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

    async fn erasure(&self, id: ErasureId) -> Erasure {
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
    async fn run_erasure(&self, id: ErasureId) -> Erasure {
        while let Some(slice) = self.next_slice(id).await {
            self.finish(&[slice]).await;
        }
        let ended = self.erasure(id).await;
        assert_eq!(ended.state, State::Finished, "{:?}", ended.error);
        ended
    }

    /// An item with everything that can belong to one, all of it marked with this text.
    async fn full_item(&self, site: SiteId, mark: &str, status: Option<Status>) -> MediaId {
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

#[sqlx::test(migrations = false)]
async fn nothing_is_left_of_an_author_but_tombstones_and_everything_of_others(pool: PgPool) {
    let team = Tenant::new(pool.clone()).await;
    let other_team = Tenant::another(&pool, "other").await;
    let second = team.create_site("second").await;
    let mut meant = Vec::new();
    for status in [
        Some(Status::Approved),
        Some(Status::PendingReview),
        Some(Status::Rejected),
        None,
    ] {
        meant.push(team.full_item(team.site, "anna", status).await);
    }
    sqlx::query(r#"insert into bulk_decisions (id, team_id, ruling, reason, filter, review_ids, total, created_by) values ($1, $1, 'reject', 'r', '{"author":"anna"}', '{}', 0, $1)"#)
        .bind(team.team.as_uuid())
        .execute(&pool)
        .await
        .unwrap();
    let bert = team
        .full_item(team.site, "bert", Some(Status::Approved))
        .await;
    let bert_pending = team.full_item(second, "bert", None).await;
    let foreign = other_team
        .full_item(other_team.site, "carl", Some(Status::Approved))
        .await;
    sqlx::query("update media set author = 'anna' where id = $1")
        .bind(foreign.as_uuid())
        .execute(&pool)
        .await
        .unwrap();
    let before = [
        team.rows_of(bert).await,
        team.rows_of(bert_pending).await,
        team.rows_of(foreign).await,
    ];
    // A new table that belongs to items must be erased, too, or have nothing of their content.
    let having_items: Vec<String> = sqlx::query_scalar(
        "select table_name::text from information_schema.columns
         where table_schema = 'public' and column_name = 'media_id' order by table_name",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    let rows = team.rows_of(meant[0]).await;
    let filled: Vec<&str> = tables(&rows)
        .into_iter()
        .filter(|table| *table != "media")
        .collect();
    let others: Vec<&str> = having_items
        .iter()
        .map(String::as_str)
        .filter(|table| !filled.contains(table))
        .collect();
    assert_eq!(
        others,
        [
            "backtest_changes",
            // Goes with the item's text, by a trigger.
            "cached_answers",
            "content_stragglers",
            "erased_items",
            // What is on a list stays.
            "hash_entries",
            "hash_scan_matches",
            // Holds keep the item.
            "legal_holds",
            "retention_stragglers",
            "reviews",
            "shadow_differences",
        ]
    );

    let asked = subject(json!({ "author": "anna" }));
    let id = team.erase(None, &asked).await;
    let ended = team.run_erasure(id).await;
    assert_eq!(
        team.columns_with("anna").await,
        ["public.media.author"],
        "the other team's"
    );
    sqlx::query("update media set author = 'carl' where id = $1")
        .bind(foreign.as_uuid())
        .execute(&pool)
        .await
        .unwrap();
    assert_eq!(team.columns_with("anna").await, <[String; 0]>::default());
    sqlx::query("update media set author = 'anna' where id = $1")
        .bind(foreign.as_uuid())
        .execute(&pool)
        .await
        .unwrap();
    for decided in &meant[..3] {
        let left = team.rows_of(*decided).await;
        assert_eq!(tables(&left), ["media", "review_opinions", "verdicts"]);
    }
    assert_eq!(tables(&team.rows_of(meant[3]).await), ["review_opinions"]);
    let statuses: Vec<(String, bool)> = sqlx::query_as(
        "select status, erased_at is not null from media where id = any($1) order by id",
    )
    .bind(meant.iter().map(|id| id.as_uuid()).collect::<Vec<_>>())
    .fetch_all(&pool)
    .await
    .unwrap();
    assert_eq!(
        statuses,
        ["approved", "pending_review", "rejected"].map(|status| (status.to_owned(), true))
    );
    let after = [
        team.rows_of(bert).await,
        team.rows_of(bert_pending).await,
        team.rows_of(foreign).await,
    ];
    assert_eq!(before, after);
    assert_eq!(team.count("select count(*) from reviews").await, 0);
    assert_eq!(team.count("select count(*) from deliveries").await, 3);
    assert_eq!(
        team.count("select count(*) from delivery_attempts").await,
        3
    );
    assert_eq!(team.count("select count(*) from queue.dead_jobs").await, 3);
    assert_eq!(team.count("select count(*) from erased_items").await, 0);

    let mut conn = pool.acquire().await.unwrap();
    let key = erasure::public_key(&mut conn).await.unwrap().unwrap();
    let certificate = certificate::verify(&ended.certificate.unwrap(), &key.bytes).unwrap();
    assert_eq!(certificate.counts, ended.counts);
    assert_eq!(
        (
            ended.counts.items,
            ended.counts.without_verdict,
            ended.counts.notes,
            ended.counts.events
        ),
        (4, 1, 4, 7)
    );
    assert_eq!(
        (ended.counts.idempotency_keys, ended.counts.dead_jobs),
        (4, 4)
    );
    let digest = meant
        .iter()
        .fold(ItemsDigest::default(), |digest, id| digest.with(*id));
    assert_eq!(certificate.items_digest, hex::encode(digest.as_bytes()));
    let salt = hex::decode(&certificate.subject.salt).unwrap();
    assert_eq!(certificate.subject.sha256, hex::encode(asked.digest(&salt)));

    // The key survives a new master key.
    let new = MasterKey::new([8; 32]).replacing([7; 32]);
    while rotation::reseal(&mut conn, &new, 100).await.unwrap() > 0 {}
    assert_eq!(rotation::left(&mut conn, &new).await.unwrap(), 0);
    assert_eq!(erasure::public_key(&mut conn).await.unwrap(), Some(key));
}

#[sqlx::test(migrations = false)]
async fn items_are_chosen_in_each_way(pool: PgPool) {
    let team = Tenant::new(pool.clone()).await;
    let second = team.create_site("second").await;
    for (asked, site, expected) in [
        (json!({ "author": "anna" }), Some(second), vec![1]),
        (
            json!({ "app_media_ids": ["anna", "carl"] }),
            None,
            vec![0, 1, 3],
        ),
        (
            json!({ "metadata": { "pointer": "/user/id", "value": "bert" } }),
            None,
            vec![2],
        ),
        (
            json!({ "metadata": { "pointer": "/user", "value": "bert" } }),
            None,
            vec![],
        ),
        (json!({ "everything": {} }), Some(team.site), vec![0, 2, 3]),
        (json!({ "everything": {} }), None, vec![0, 1, 2, 3]),
    ] {
        sqlx::raw_sql("delete from media; delete from verdicts")
            .execute(&pool)
            .await
            .unwrap();
        let mut items = Vec::new();
        for (site, mark) in [
            (team.site, "anna"),
            (second, "anna"),
            (team.site, "bert"),
            (team.site, "carl"),
        ] {
            items.push(team.full_item(site, mark, Some(Status::Approved)).await);
        }
        let id = team.erase(site, &subject(asked.clone())).await;
        let ended = team.run_erasure(id).await;
        let erased: Vec<uuid::Uuid> =
            sqlx::query_scalar("select id from media where erased_at is not null order by id")
                .fetch_all(&pool)
                .await
                .unwrap();
        let mut expected: Vec<_> = expected
            .into_iter()
            .map(|n: usize| items[n].as_uuid())
            .collect();
        expected.sort_unstable();
        assert_eq!(erased, expected, "{asked}");
        assert_eq!(ended.counts.items, i64::try_from(erased.len()).unwrap());

        // Asked for by their ids, those that are left are the only ones.
        let id = team.erase(None, &Subject::MediaIds(items.clone())).await;
        let ended = team.run_erasure(id).await;
        assert_eq!(ended.counts.items, 4 - i64::try_from(erased.len()).unwrap());
    }
}

#[sqlx::test(migrations = false)]
async fn items_under_a_legal_hold_are_left_and_counted(pool: PgPool) {
    let team = Tenant::new(pool.clone()).await;
    let mut items = Vec::new();
    for _ in 0..3 {
        items.push(
            team.full_item(team.site, "anna", Some(Status::Approved))
                .await,
        );
    }
    let hold = "insert into legal_holds (id, team_id, site_id, media_id, author, reason, lifted_at) values (gen_random_uuid(), $1, $2, $3, $4, 'r', $5)";
    for (media, author, lifted) in [
        (Some(items[1].as_uuid()), None, None),
        (None, Some("anna"), Some(Utc::now())),
    ] {
        sqlx::query(hold)
            .bind(team.team.as_uuid())
            .bind(team.site.as_uuid())
            .bind(media)
            .bind(author)
            .bind(lifted)
            .execute(&pool)
            .await
            .unwrap();
    }
    let before = team.rows_of(items[1]).await;
    let id = team
        .erase(None, &subject(json!({ "author": "anna" })))
        .await;
    let ended = team.run_erasure(id).await;
    assert_eq!((ended.counts.items, ended.counts.held), (2, 1));
    assert_eq!(team.rows_of(items[1]).await, before);
    let named = "select count(*) from legal_holds where author = 'anna'";
    assert_eq!(team.count(named).await, 0);
}

#[sqlx::test(migrations = false)]
async fn another_teams_items_cannot_be_named(pool: PgPool) {
    let team = Tenant::new(pool.clone()).await;
    let other = Tenant::another(&pool, "other").await;
    let foreign = other
        .full_item(other.site, "anna", Some(Status::Approved))
        .await;
    let before = team.rows_of(foreign).await;
    for asked in [
        Subject::MediaIds(vec![foreign]),
        subject(json!({ "app_media_ids": ["anna"] })),
        subject(json!({ "author": "anna" })),
        subject(json!({ "everything": {} })),
    ] {
        for site in [None, Some(other.site)] {
            let id = team.erase(site, &asked).await;
            assert_eq!(team.run_erasure(id).await.counts.items, 0);
        }
    }
    assert_eq!(team.rows_of(foreign).await, before);
}

#[sqlx::test(migrations = false)]
async fn what_a_transaction_adds_that_had_begun_before_goes_as_well(pool: PgPool) {
    let team = Tenant::new(pool.clone()).await;
    let media = team
        .full_item(team.site, "anna", Some(Status::Approved))
        .await;
    let mut late = pool.begin().await.unwrap();
    sqlx::query("select pg_current_xact_id()")
        .execute(&mut *late)
        .await
        .unwrap();
    let id = team
        .erase(None, &subject(json!({ "author": "anna" })))
        .await;
    loop {
        match slice::next(&pool, &master_key(), id).await.unwrap() {
            Next::Slice(slice) => team.finish(&[slice]).await,
            Next::Later(_) => break,
            Next::Nothing => {
                panic!("it ended while a transaction was running that may add something")
            }
        };
    }
    for statement in [
        "insert into media_images (media_id, bytes) values ($1, 'anna')",
        "insert into analysis_parts (media_id, provider, report) values ($1, 'late', '{\"raw\":\"anna\"}')",
    ] {
        sqlx::query(statement)
            .bind(media.as_uuid())
            .execute(&mut *late)
            .await
            .unwrap();
    }
    late.commit().await.unwrap();
    team.run_erasure(id).await;
    assert_eq!(team.columns_with("anna").await, <[String; 0]>::default());
}

#[sqlx::test(migrations = false)]
async fn a_verdict_that_was_on_its_way_is_neither_stored_nor_told(pool: PgPool) {
    let team = Tenant::new(pool.clone()).await;
    let pending = team.full_item(team.site, "anna", None).await;
    let waits = team
        .full_item(team.site, "anna", Some(Status::PendingReview))
        .await;
    // What workers and a person know of the items, from before.
    let approval = team.standing(waits).await;
    let approval = approval.ruled(Ruling::Approve, Seen::default()).unwrap();
    let acceptance = Created {
        media: pending,
        endpoints: vec![team.team.as_uuid().into()],
    };
    let id = team
        .erase(None, &subject(json!({ "author": "anna" })))
        .await;
    let first = team.next_slice(id).await.unwrap();
    team.finish(&[first]).await;
    // In both phases.
    for _ in 0..2 {
        assert_eq!(team.judge(pending, Status::Approved).await.len(), 0);
        assert!(team.decide(waits, approval).await.is_none());
        sqlx::query("delete from events where media_id = $1")
            .bind(pending.as_uuid())
            .execute(&pool)
            .await
            .unwrap();
        let told = team.finish(std::slice::from_ref(&acceptance)).await;
        assert_eq!(told.len(), 0);
        team.run_erasure(id).await;
    }
    assert_eq!(team.count("select count(*) from verdicts").await, 1);
    assert_eq!(team.count("select count(*) from events").await, 0);
}

#[sqlx::test(migrations = false)]
async fn items_that_somebody_has_locked_are_waited_for(pool: PgPool) {
    let team = Tenant::new(pool.clone()).await;
    let mut items = Vec::new();
    for _ in 0..3 {
        items.push(
            team.full_item(team.site, "anna", Some(Status::Approved))
                .await,
        );
    }
    let mut busy = pool.begin().await.unwrap();
    sqlx::query("select from media where id = $1 for update")
        .bind(items[1].as_uuid())
        .execute(&mut *busy)
        .await
        .unwrap();
    let id = team
        .erase(None, &subject(json!({ "author": "anna" })))
        .await;
    for _ in 0..2 {
        let slice = team.next_slice(id).await.unwrap();
        assert_eq!(team.finish(&[slice]).await.len(), 1);
        assert_eq!(team.erasure(id).await.counts.items, 1);
    }
    busy.rollback().await.unwrap();
    let ended = team.run_erasure(id).await;
    assert_eq!(ended.counts.items, 3);
    let certificate = certificate::read(&ended.certificate.unwrap()).unwrap();
    let digest = items
        .iter()
        .fold(ItemsDigest::default(), |digest, id| digest.with(*id));
    assert_eq!(certificate.items_digest, hex::encode(digest.as_bytes()));
}
