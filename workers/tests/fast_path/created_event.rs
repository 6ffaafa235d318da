//! If the verdict takes long, the acceptance is sent before it, and only once.

use domain::id::MediaId;
use queue::{Effect as _, FinishTx, JobId, NewJobs, Survivor};
use serde_json::json;
use sqlx::PgPool;
use store::{
    created_event::Created,
    jobs::{ANALYSIS, RULES},
};

use crate::fixture::Fixture;

const CREATED: &str = "select count(*) from events where kind = 'media.created'";
const MODERATED: &str = "select count(*) from events where kind = 'media.moderated'";
const DELIVERIES: &str = "select count(*) from deliveries";

/// Sends an acceptance, as a checkpoint does. Returns the number of deliveries.
async fn tell(fixture: &Fixture, media: MediaId) -> usize {
    let created = Created {
        media,
        endpoints: vec![fixture.endpoint],
    };
    let survivor = Survivor {
        job: JobId(1),
        attempt: 1,
        effect: &created,
    };
    let mut db = fixture.pool.begin().await.unwrap();
    let mut tx = FinishTx {
        conn: &mut db,
        jobs: NewJobs::new(),
    };
    Created::apply(&[survivor], &mut tx).await.unwrap();
    let jobs = tx.jobs.len();
    db.commit().await.unwrap();
    jobs
}

#[sqlx::test(migrations = false)]
async fn case_62_a_failed_judgement_sends_the_acceptance_before_it_is_tried_again(pool: PgPool) {
    let fixture = Fixture::new(pool).await;
    let (_, live) = fixture.version(&[]).await;
    let working = fixture.work(&[ANALYSIS, RULES]);
    fixture.fast_path(&[live], false).await;
    fixture.decided().await;
    let created = fixture.count(CREATED).await;
    let moderated = fixture.count(MODERATED).await;
    // The version does not exist, so judging fails until it does.
    let missing = uuid::Uuid::now_v7();
    fixture.submit(&[missing.into()], false, "a text").await;
    fixture
        .until("told", async || fixture.count(CREATED).await == created + 1)
        .await;
    let again = "select count(*) from queue.jobs where queue = 'rules' and attempt >= 2";
    fixture
        .until("tried again", async || fixture.count(again).await == 1)
        .await;
    assert_eq!(fixture.count(MODERATED).await, moderated);
    sqlx::query("update media set group_versions = array[$1] where $2 = any(group_versions)")
        .bind(live.as_uuid())
        .bind(missing)
        .execute(&fixture.pool)
        .await
        .unwrap();
    fixture.decided().await;
    assert_eq!(fixture.count(CREATED).await, created + 1);
    assert_eq!(fixture.count(MODERATED).await, moderated + 1);
    working.stop().await;
}

#[sqlx::test(migrations = false)]
async fn case_62_a_dead_job_has_sent_the_acceptance_and_its_item_is_decided(pool: PgPool) {
    let fixture = Fixture::new(pool).await;
    let rules = [
        json!({"name": "v", "type": "ai_threshold", "category": "violence", "review_at": 0.3, "reject_at": 0.8}),
    ];
    let (_, live) = fixture.version(&rules).await;
    let working = fixture.work(&[ANALYSIS, RULES]);
    fixture.fast_path(&[live], true).await;
    fixture.decided().await;
    working.stop().await;
    for (uses_ai, queue) in [(true, "analysis"), (false, "rules")] {
        let [created, moderated, deliveries] = [
            fixture.count(CREATED).await,
            fixture.count(MODERATED).await,
            fixture.count(DELIVERIES).await,
        ];
        // A job of the fast path, because nobody has noticed yet that the worker is gone.
        fixture.submit(&[live], uses_ai, "a text").await;
        fixture
            .execute(
                "delete from deliveries where event_id in
                     (select e.id from events e join media m on m.id = e.media_id where m.status = 'pending');
                 delete from events e using media m where m.id = e.media_id and m.status = 'pending';
                 delete from queue.jobs where queue = 'webhooks'",
            )
            .await;
        // Workers that died have used up its attempts.
        sqlx::query(
            "update queue.jobs
             set format = 1, attempt = max_attempts, state = 3, cause = 'worker_lost',
                 payload = json_build_object('media', payload::json -> 'media', 'tell', json_build_array($2))
             where queue = $1",
        )
        .bind(queue)
        .bind(fixture.endpoint.to_string())
        .execute(&fixture.pool)
        .await
        .unwrap();
        let working = fixture.work(&[ANALYSIS, RULES]);
        fixture.decided().await;
        working.stop().await;
        assert_eq!(fixture.count(CREATED).await, created + 1, "{queue}");
        assert_eq!(fixture.count(MODERATED).await, moderated + 1, "{queue}");
        assert_eq!(fixture.count(DELIVERIES).await, deliveries + 2, "{queue}");
    }
}

#[sqlx::test(migrations = false)]
async fn case_62_an_acceptance_is_sent_once_however_often_it_is_asked_for(pool: PgPool) {
    let fixture = Fixture::new(pool).await;
    let (_, live) = fixture.version(&[]).await;
    let media = fixture.submit(&[live], false, "a text").await;
    fixture
        .execute("truncate events, deliveries; delete from queue.jobs where queue = 'webhooks'")
        .await;
    assert_eq!(tell(&fixture, media).await, 1);
    assert_eq!(tell(&fixture, media).await, 0);
    assert_eq!(fixture.count(CREATED).await, 1);
    assert_eq!(fixture.count(DELIVERIES).await, 1);
    // The item was decided long ago, and the event was deleted. It is not sent again.
    fixture
        .execute(
            "truncate events, deliveries;
             update media set status = 'approved', verdict = 1, created_at = now() - interval '2 days'",
        )
        .await;
    assert_eq!(tell(&fixture, media).await, 0);
    assert_eq!(fixture.count(CREATED).await, 0);
    // The acceptance of an item that was decided a moment ago is sent.
    fixture.execute("update media set created_at = now()").await;
    assert_eq!(tell(&fixture, media).await, 1);
}

#[sqlx::test(migrations = false)]
async fn case_62_an_item_decided_meanwhile_keeps_its_verdict_and_its_acceptance_is_sent(
    pool: PgPool,
) {
    let fixture = Fixture::new(pool).await;
    let (_, live) = fixture.version(&[]).await;
    for uses_ai in [true, false] {
        let media = fixture.submit(&[live], uses_ai, "a text").await;
        sqlx::query("update media set status = 'approved', verdict = 1 where id = $1")
            .bind(media.as_uuid())
            .execute(&fixture.pool)
            .await
            .unwrap();
        fixture.execute("truncate events, deliveries").await;
        sqlx::query(
            "update queue.jobs
             set format = 1, payload = json_build_object('media', payload::json -> 'media', 'tell', json_build_array($1))
             where queue in ('analysis', 'rules')",
        )
        .bind(fixture.endpoint.to_string())
        .execute(&fixture.pool)
        .await
        .unwrap();
        let working = fixture.work(&[ANALYSIS, RULES]);
        let left = "select count(*) from queue.jobs where queue in ('analysis', 'rules')";
        fixture
            .until("done", async || fixture.count(left).await == 0)
            .await;
        working.stop().await;
        assert_eq!(fixture.count(CREATED).await, 1);
        assert_eq!(fixture.count(MODERATED).await, 0);
        assert_eq!(fixture.count("select count(*) from verdicts").await, 0);
    }
}

#[sqlx::test(migrations = false)]
async fn case_62_an_endpoint_that_recovered_what_it_missed_gets_an_acceptance_that_is_sent_later(
    pool: PgPool,
) {
    let fixture = Fixture::new(pool).await;
    let (_, live) = fixture.version(&[]).await;
    let media = fixture.submit(&[live], false, "a text").await;
    fixture.execute("truncate events, deliveries").await;
    // Two endpoints that were added since. A recovery has sent to one of them what it missed, and
    // has ended.
    fixture
        .execute(
            "insert into webhook_endpoints (id, site_id, url, events)
             select gen_random_uuid(), id, n::text, '{media.created}' from sites, generate_series(1, 2) n;
             insert into webhook_recoveries (id, endpoint_id, site_id, team_id, kind, since, until, state)
             select gen_random_uuid(), p.id, s.id, s.team_id, 'missing', now() - interval '1 hour', now(), 'finished'
             from webhook_endpoints p join sites s on s.id = p.site_id where p.url = '1'",
        )
        .await;
    assert_eq!(tell(&fixture, media).await, 2);
    let told = "select count(*) from deliveries d join webhook_endpoints p on p.id = d.endpoint_id where p.url = '1'";
    assert_eq!(fixture.count(told).await, 1);
    assert_eq!(fixture.count(DELIVERIES).await, 2);
}
