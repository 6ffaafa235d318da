//! Previews of images: for whom, of what, and why there is none.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use domain::decision::ImageProblem;
use management::{MakePreview, PreviewError};
use serde_json::json;
use sqlx::PgPool;

use crate::app::{App, Options, Tenant};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nnot really";

impl App {
    /// An app whose darkroom answers like this, and how often it was asked.
    async fn developing(
        pool: PgPool,
        answer: fn(Vec<u8>) -> Result<Vec<u8>, PreviewError>,
    ) -> (Self, Arc<AtomicUsize>) {
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&asked);
        let develop: MakePreview = Arc::new(move |file, _| {
            counted.fetch_add(1, Ordering::Relaxed);
            Box::pin(async move { answer(file) })
        });
        let options = Options {
            develop: Some(develop),
            ..Options::default()
        };
        (Self::with(pool, options).await, asked)
    }

    async fn with_image(&self) -> String {
        let image = json!({ "content_base64": BASE64_STANDARD.encode(PNG) });
        let answer = self.submit(image).await.ok();
        answer["id"].as_str().unwrap().to_owned()
    }
}

#[sqlx::test(migrations = false)]
async fn a_preview_is_a_jpeg_to_save_of_exactly_the_stored_file(pool: PgPool) {
    let answer = |file: Vec<u8>| {
        assert_eq!(file, PNG);
        Ok(b"\xff\xd8\xffsmall".to_vec())
    };
    let (app, asked) = App::developing(pool, answer).await;
    app.leaves(store::jobs::IMAGES);
    let member = app.member(app.tenant.team).await;
    let media = app.with_image().await;
    let preview = member.get(&format!("/media/{media}/preview")).await;
    assert_eq!(preview.status, 200, "{preview:?}");
    for (header, value) in [
        ("content-type", "image/jpeg"),
        ("x-content-type-options", "nosniff"),
        ("cache-control", "no-store"),
        (
            "content-disposition",
            &format!("attachment; filename=\"{media}-preview.jpeg\""),
        ),
        ("content-length", "8"),
    ] {
        assert_eq!(preview.header(header), Some(value), "{header}");
    }
    assert_eq!(asked.load(Ordering::Relaxed), 1);

    // Others get what they would get if there were no such item, and nothing is decoded for them.
    let stranger = Tenant::create(&app.pool, "other").await;
    let stranger = app.member(stranger.team).await;
    let foreign = stranger.get(&format!("/media/{media}/preview")).await;
    let none = format!("/media/{}/preview", uuid::Uuid::now_v7());
    let missing = stranger.get(&none).await;
    let [foreign, missing] = [foreign, missing].map(|answer| {
        let mut problem = answer.problem(404, "not_found");
        problem["request_id"] = json!(null);
        problem
    });
    assert_eq!(foreign, missing);
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

#[sqlx::test(migrations = false)]
async fn items_without_a_stored_image_say_why_there_is_no_preview(pool: PgPool) {
    let (app, asked) = App::developing(pool, |_| Ok(Vec::new())).await;
    app.leaves(store::jobs::IMAGES);
    let member = app.member(app.tenant.team).await;
    let text = app.submitted("a").await;
    let url = json!({ "content_url": "https://example.com/a.png" });
    let url = app.submit(url).await.ok()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let removed = app.with_image().await;
    sqlx::query("update media_images set bytes = null")
        .execute(&app.pool)
        .await
        .unwrap();
    let refused = async |media: &str, why: &str| {
        let answer = member.get(&format!("/media/{media}/preview")).await;
        let problem = answer.problem(404, "not_found");
        assert!(
            problem["detail"].as_str().unwrap().contains(why),
            "{problem}"
        );
    };
    refused(&text, "has no image").await;
    refused(&url, "has not been fetched").await;
    refused(&removed, "no longer stored").await;
    for (problem, why) in [
        (ImageProblem::NotFetched, "could not be fetched"),
        (
            ImageProblem::Unsupported,
            "no image of a format that is kept",
        ),
    ] {
        sqlx::query(
            "insert into media_images (media_id, problem) values ($1::text::uuid, $2)
             on conflict (media_id) do update set problem = excluded.problem",
        )
        .bind(&url)
        .bind(problem.as_str())
        .execute(&app.pool)
        .await
        .unwrap();
        refused(&url, why).await;
    }
    assert_eq!(asked.load(Ordering::Relaxed), 0);
}

#[sqlx::test(migrations = false)]
async fn a_file_that_is_no_image_is_a_conflict(pool: PgPool) {
    let answer = |_| Err(PreviewError::Problem(ImageProblem::Undecodable));
    let (app, _) = App::developing(pool, answer).await;
    app.leaves(store::jobs::IMAGES);
    let member = app.member(app.tenant.team).await;
    let media = app.with_image().await;
    let answer = member.get(&format!("/media/{media}/preview")).await;
    let problem = answer.problem(409, "image_not_previewed");
    assert!(problem["detail"].as_str().unwrap().contains("damaged"));
}

#[sqlx::test(migrations = false)]
async fn a_darkroom_that_is_late_or_not_there_is_a_passing_problem(pool: PgPool) {
    let (app, _) = App::developing(pool, |_| Err(PreviewError::TimedOut)).await;
    app.leaves(store::jobs::IMAGES);
    let member = app.member(app.tenant.team).await;
    let media = app.with_image().await;
    let path = format!("/media/{media}/preview");
    let late = member.get(&path).await;
    late.problem(503, "preview_timed_out");
    assert!(late.header("retry-after").is_some());
    // A second process without a darkroom.
    let Tenant { team, site, key } = &app.tenant;
    let tenant = Tenant {
        team: *team,
        site: *site,
        key: key.clone(),
    };
    let options = Options {
        develop: None,
        ..Options::default()
    };
    let other = App::serve(app.pool.clone(), tenant, options).await;
    other.leaves(store::jobs::IMAGES);
    let member = other.member(app.tenant.team).await;
    let unavailable = member.get(&path).await;
    unavailable.problem(503, "darkroom_unavailable");
}
