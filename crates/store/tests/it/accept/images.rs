//! Inline images: stored with their items, without delaying others.

use std::time::{Duration, Instant};

use domain::{image::ImageFormat, submission::ImageSource};
use sqlx::PgPool;
use store::accept::{Acceptance, NewMedia};
use tokio::time::{sleep, timeout};

use super::submitter::Submitter;

const PATIENCE: Duration = Duration::from_mins(2);

const IMAGES: &str = "select count(*) from media_images";

impl Submitter {
    async fn with_image(&self) -> NewMedia {
        let mut media = self.media(&self.site().await, "a picture of it");
        media.submission.image = Some(ImageSource::Inline {
            format: ImageFormat::Png,
            bytes: vec![7; 100_000],
        });
        media
    }

    /// The number of images, once those of refused submissions are removed.
    async fn images_left(&self) -> i64 {
        let begun = Instant::now();
        loop {
            let left = self.count(IMAGES).await;
            let items = self.count("select count(*) from media").await;
            if left == items || begun.elapsed() > PATIENCE {
                return left;
            }
            sleep(Duration::from_millis(20)).await;
        }
    }
}

#[sqlx::test(migrations = false)]
async fn an_image_is_stored_with_its_item_and_only_then(pool: PgPool) {
    let fixture = Submitter::new(pool).await;
    let media = fixture.with_image().await;
    assert_eq!(fixture.accept(media).await, Acceptance::Accepted);
    let joined = "select count(*) from media m join media_images i on i.media_id = m.id
                  where m.content_type = 'image' and i.format = 'png' and length(i.bytes) = 100000";
    assert_eq!(fixture.count(joined).await, 1);

    let stale = fixture.with_image().await;
    fixture
        .execute("update sites set revision = revision + 1")
        .await;
    assert_eq!(fixture.accept(stale).await, Acceptance::Stale);
    assert_eq!(fixture.images_left().await, 1);
    fixture.close().await;
}

#[sqlx::test(migrations = false)]
async fn an_image_over_the_quota_is_refused_and_not_even_written(pool: PgPool) {
    let fixture = Submitter::new(pool).await;
    fixture
        .execute("update plans set submissions_per_period = 1")
        .await;
    for expected in [Acceptance::Accepted, Acceptance::QuotaExceeded] {
        let media = fixture.with_image().await;
        assert_eq!(fixture.accept(media).await, expected);
    }
    let bytes = fixture
        .count("select pg_total_relation_size('media_images')")
        .await;
    assert!(bytes < 190_000, "{bytes}: both were written");
    assert_eq!(fixture.images_left().await, 1);
    fixture.close().await;
}

#[sqlx::test(migrations = false)]
async fn texts_of_the_same_team_do_not_wait_for_its_images(pool: PgPool) {
    let fixture = Submitter::new(pool.clone()).await;
    let mut blocker = pool.begin().await.unwrap();
    sqlx::query("lock table media_images in exclusive mode")
        .execute(&mut *blocker)
        .await
        .unwrap();
    let (acceptor, image) = (fixture.acceptor.clone(), fixture.with_image().await);
    let waiting = tokio::spawn(async move { acceptor.accept(image).await.unwrap() });
    sleep(Duration::from_millis(100)).await;
    for n in 0..10 {
        let text = fixture.media(&fixture.site().await, &format!("text {n}"));
        let accepted = timeout(PATIENCE, fixture.accept(text)).await;
        assert_eq!(accepted.expect("no waiting"), Acceptance::Accepted);
    }
    assert!(!waiting.is_finished());
    blocker.rollback().await.unwrap();
    assert_eq!(waiting.await.unwrap(), Acceptance::Accepted);
    fixture.close().await;
}

#[sqlx::test(migrations = false)]
async fn a_client_who_goes_away_leaves_no_image_that_belongs_to_nothing(pool: PgPool) {
    let fixture = Submitter::new(pool.clone()).await;
    let mut blocker = pool.begin().await.unwrap();
    sqlx::query("lock table media in exclusive mode")
        .execute(&mut *blocker)
        .await
        .unwrap();
    // The writer is busy, so later submissions wait.
    let (acceptor, text) = (
        fixture.acceptor.clone(),
        fixture.media(&fixture.site().await, "text"),
    );
    let writing = tokio::spawn(async move { acceptor.accept(text).await.unwrap() });
    sleep(Duration::from_millis(100)).await;
    let (acceptor, image) = (fixture.acceptor.clone(), fixture.with_image().await);
    let leaving = tokio::spawn(async move { acceptor.accept(image).await });
    while fixture.count(IMAGES).await == 0 {
        sleep(Duration::from_millis(10)).await;
    }
    sleep(Duration::from_millis(100)).await;
    leaving.abort();
    blocker.rollback().await.unwrap();
    assert_eq!(writing.await.unwrap(), Acceptance::Accepted);
    let settled = async {
        let orphans = "select count(*) from media_images i
                       where not exists (select from media m where m.id = i.media_id)";
        while fixture.count(orphans).await > 0 {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, settled)
        .await
        .expect("nothing is left over");
    fixture.close().await;
}
