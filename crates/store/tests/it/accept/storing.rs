//! What is stored with a submission, and when nothing is.

use std::time::Duration;

use domain::{actor::Actor, event::EventKind};
use sqlx::PgPool;
use store::{
    accept::Acceptance,
    endpoint,
    rule_group::{self, Authorship, NewVersion},
    site,
};
use uuid::Uuid;

use super::submitter::Submitter;

const MEDIA: &str = "select count(*) from media";
const ANALYSIS: &str = "select count(*) from queue.jobs where queue = 'analysis'";
const RULES: &str = "select count(*) from queue.jobs where queue = 'rules'";
const WEBHOOKS: &str = "select count(*) from queue.jobs where queue = 'webhooks'";

#[sqlx::test(migrations = false)]
async fn an_accepted_item_comes_with_its_event_delivery_and_jobs(pool: PgPool) {
    let fixture = Submitter::new(pool).await;
    let site = fixture.site().await;
    assert_eq!((site.id, site.team), (fixture.site, fixture.team));
    let accepted = fixture.accept_text(&site, "hello").await;
    assert_eq!(accepted, Acceptance::Accepted);
    let stored = "select count(*) from media where status = 'pending' and body = 'hello'";
    let told = "select count(*)
        from events e
        join deliveries d on d.event_id = e.id
        join media m on m.id = e.media_id
        where e.kind = 'media.created' and e.occurred_at = m.created_at";
    for statement in [stored, told, ANALYSIS, WEBHOOKS] {
        assert_eq!(fixture.count(statement).await, 1, "{statement}");
    }
    fixture.close().await;
}

#[sqlx::test(migrations = false)]
async fn a_rotated_key_and_a_changed_site_store_nothing(pool: PgPool) {
    let fixture = Submitter::new(pool).await;
    let before = fixture.site().await;
    let mut conn = fixture.pool.acquire().await.unwrap();

    let (url, events) = ("https://example.org/", [EventKind::MediaCreated]);
    endpoint::create(&mut conn, before.id, url, &events)
        .await
        .unwrap();
    let stale = fixture.accept_text(&before, "a").await;
    assert_eq!(stale, Acceptance::Stale);
    let after = fixture.reload().await.unwrap();
    assert!(after.revision > before.revision);
    let accepted = fixture.accept_text(&after, "b").await;
    assert_eq!(accepted, Acceptance::Accepted);
    assert_eq!(fixture.count("select count(*) from deliveries").await, 2);

    site::keys::rotate(&mut conn, before.id).await.unwrap();
    let stale = fixture.accept_text(&after, "c").await;
    assert_eq!(stale, Acceptance::Stale);
    assert!(fixture.reload().await.is_none());
    assert_eq!(fixture.count(MEDIA).await, 1);
    fixture.close().await;
}

#[sqlx::test(migrations = false)]
async fn publishing_a_group_changes_what_the_next_submission_is_judged_by(pool: PgPool) {
    let fixture = Submitter::new(pool).await;
    let before = fixture.site().await;
    let mut tx = fixture.pool.begin().await.unwrap();
    let version = NewVersion {
        rules: &[],
        categories: &[],
    };
    let (group, by) = (fixture.group, Authorship::COMMAND_LINE);
    let published = rule_group::add_version(&mut tx, group, version, by)
        .await
        .unwrap();
    rule_group::set_live(&mut tx, group, published, Actor::CommandLine)
        .await
        .unwrap();
    tx.commit().await.unwrap();

    let stale = fixture.accept_text(&before, "a").await;
    assert_eq!(stale, Acceptance::Stale);
    let after = fixture.reload().await.unwrap();
    assert_eq!(after.judges.versions, [published]);
    assert!(!after.judges.uses_ai);
    let accepted = fixture.accept_text(&after, "b").await;
    assert_eq!(accepted, Acceptance::Accepted);
    assert_eq!(fixture.count(RULES).await, 1);
    fixture.close().await;
}

#[sqlx::test(migrations = false)]
async fn a_row_that_postgres_refuses_fails_alone(pool: PgPool) {
    let fixture = Submitter::new(pool).await;
    let site = fixture.site().await;
    let waiting: Vec<_> = (0..40)
        .map(|n| {
            // Postgres cannot store NUL. The checks before refuse it; here it gets past them.
            let body = if n == 20 {
                "a\0b".to_owned()
            } else {
                format!("text {n}")
            };
            let (acceptor, media) = (fixture.acceptor.clone(), fixture.media(&site, &body));
            tokio::spawn(async move { acceptor.accept(media).await.unwrap() })
        })
        .collect();
    let mut refused = 0;
    for answer in waiting {
        match answer.await.unwrap() {
            Acceptance::Accepted => {}
            Acceptance::Refused => refused += 1,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(refused, 1);
    assert_eq!(fixture.count(MEDIA).await, 39);
    fixture.close().await;
}

#[sqlx::test(migrations = false)]
async fn broken_connections_lose_and_double_nothing(pool: PgPool) {
    let fixture = Submitter::new(pool).await;
    let site = fixture.site().await;
    let killer = {
        let pool = fixture.pool.clone();
        tokio::spawn(async move {
            let mut before = -1;
            loop {
                tokio::time::sleep(Duration::from_millis(20)).await;
                // On a busy machine, connecting and storing takes longer than that.
                let Ok(now) = sqlx::query_scalar::<_, i64>(MEDIA).fetch_one(&pool).await else {
                    continue;
                };
                if now == before {
                    continue;
                }
                before = now;
                let _ = sqlx::query(
                    "select pg_terminate_backend(pid) from pg_stat_activity
                     where datname = current_database() and pid <> pg_backend_pid()",
                )
                .execute(&pool)
                .await;
            }
        })
    };
    let mut accepted = Vec::new();
    for _ in 0..20 {
        let round: Vec<_> = (0..25)
            .map(|_| {
                let (acceptor, media) = (fixture.acceptor.clone(), fixture.media(&site, "text"));
                tokio::spawn(async move { (media.id, acceptor.accept(media).await.unwrap()) })
            })
            .collect();
        for answer in round {
            let (media, answer) = answer.await.unwrap();
            assert_eq!(answer, Acceptance::Accepted);
            accepted.push(media.as_uuid());
        }
    }
    killer.abort();
    let stored: Vec<Uuid> = sqlx::query_scalar("select id from media order by id")
        .fetch_all(&fixture.pool)
        .await
        .unwrap();
    accepted.sort_unstable();
    assert_eq!(stored, accepted);
    for table in [
        "select count(*) from events",
        "select count(*) from deliveries",
        ANALYSIS,
        WEBHOOKS,
    ] {
        assert_eq!(fixture.count(table).await, 500, "{table}");
    }
    fixture.close().await;
}
