//! Items of an archive are stored as they were, and what is there stays as it is.

use chrono::Utc;
use domain::id::MediaId;
use sqlx::PgPool;
use store::{
    export::{self, PAGE},
    import::{self, Batch, Item, Note, Verdict},
    schema,
};
use uuid::Uuid;

use crate::tenant::{NewTenant, Tenant};

fn item(media: MediaId, status: &str, verdict: i16) -> Item {
    Item {
        id: media,
        status: status.to_owned(),
        content_type: "text".to_owned(),
        app_media_id: None,
        author: Some("ada".to_owned()),
        body: Some("a text".to_owned()),
        content_url: None,
        metadata: Some("{ \"a\" : 1.0,\n\"b\":\"\\u0000\"}".to_owned()),
        created_at: Utc::now(),
        content_removed_at: None,
        traceparent: None,
        group_versions: vec![Uuid::nil()],
        verdict,
        waiting_since: (status == "pending_review").then(Utc::now),
    }
}

fn verdicts(media: MediaId, numbers: std::ops::RangeInclusive<i16>) -> Vec<Verdict> {
    let verdict = |number| Verdict {
        media_id: media,
        number,
        status: "approved".to_owned(),
        previous_status: "pending".to_owned(),
        moderation_type: "rule".to_owned(),
        details: "{}".to_owned(),
        trace: "{\"raw\":\"\\u0000\"}".to_owned(),
        moderated_at: Utc::now(),
    };
    numbers.map(verdict).collect()
}

impl Tenant {
    async fn import(&self, batch: &Batch) {
        let mut tx = self.pool.begin().await.unwrap();
        import::add(&mut tx, (self.team, self.site), batch)
            .await
            .unwrap();
        tx.commit().await.unwrap();
    }

    async fn number(&self, statement: &'static str) -> i64 {
        sqlx::query_scalar(statement)
            .fetch_one(&self.pool)
            .await
            .unwrap()
    }
}

#[sqlx::test(migrations = false)]
async fn an_item_is_exported_in_pages_as_it_was_imported(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let tenant = NewTenant::named("a").create(&pool).await;
    let other = NewTenant::named("b").create(&pool).await;
    let media = MediaId::from(Uuid::now_v7());
    let note = |n: u128| Note {
        id: Uuid::from_u128(n),
        media_id: media,
        actor_id: Uuid::nil(),
        body: format!("note {n}"),
        written_at: Utc::now(),
    };
    let batch = Batch {
        items: vec![item(media, "approved", 45)],
        verdicts: verdicts(media, 1..=45),
        notes: (1..=70).map(note).collect(),
        ..Batch::default()
    };
    tenant.import(&batch).await;

    let mut conn = pool.acquire().await.unwrap();
    let all = (Uuid::nil(), Uuid::max());
    let planned = export::planned(&mut conn, tenant.site, all, 10)
        .await
        .unwrap();
    assert_eq!((planned.len(), planned[0].has_more), (1, true));
    let lines = export::lines(&mut conn, &[media.as_uuid()]).await.unwrap();
    let mut pages = lines;
    for number in 1.. {
        let Some(page) = export::page(&mut conn, (tenant.site, media), number)
            .await
            .unwrap()
        else {
            break;
        };
        pages.push(page);
    }
    let read = |line: &String| serde_json::from_str::<serde_json::Value>(line).unwrap();
    let pages: Vec<_> = pages.iter().map(read).collect();
    let count = |name: &str| -> Vec<usize> {
        pages
            .iter()
            .map(|page| page[name].as_array().unwrap().len())
            .collect()
    };
    assert_eq!(PAGE, 20);
    assert_eq!(count("verdicts"), [20, 20, 5, 0]);
    assert_eq!(count("notes"), [20, 20, 20, 10]);
    assert_eq!(
        pages[0]["metadata"],
        batch.items[0].metadata.clone().unwrap()
    );
    // Nobody else's.
    let theirs = export::page(&mut conn, (other.site, media), 1)
        .await
        .unwrap();
    assert_eq!(theirs, None);
}

#[sqlx::test(migrations = false)]
async fn an_item_that_waits_is_on_the_desk_and_nothing_is_enqueued_told_or_booked(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let tenant = NewTenant::named("a").create(&pool).await;
    let media = MediaId::from(Uuid::now_v7());
    let batch = Batch {
        items: vec![item(media, "pending_review", 1)],
        verdicts: verdicts(media, 1..=1),
        ..Batch::default()
    };
    tenant.import(&batch).await;
    assert_eq!(
        tenant
            .number("select count(*) from review_tasks where verdict = 1")
            .await,
        1
    );
    for nothing in [
        "select count(*) from queue.jobs",
        "select count(*) from events",
        "select count(*) from deliveries",
        "select count(*) from usage",
    ] {
        assert_eq!(tenant.number(nothing).await, 0, "{nothing}");
    }
}

#[sqlx::test(migrations = false)]
async fn verdicts_beyond_the_one_in_force_stay_free_for_decisions_here(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let tenant = NewTenant::named("a").create(&pool).await;
    let media = MediaId::from(Uuid::now_v7());
    let batch = Batch {
        items: vec![item(media, "approved", 2)],
        verdicts: verdicts(media, 1..=2),
        ..Batch::default()
    };
    tenant.import(&batch).await;
    // A later archive has one more.
    let later = Batch {
        verdicts: verdicts(media, 1..=3),
        ..Batch::default()
    };
    tenant.import(&later).await;
    assert_eq!(tenant.number("select count(*) from verdicts").await, 2);
}
