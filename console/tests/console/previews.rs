//! Previews of images: who is shown one, and what stands in its place.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use domain::{decision::ImageProblem, id::MediaId, role::Role};
use management::{MakePreview, PreviewError};
use poem::http::{Method, StatusCode, header};
use sqlx::PgPool;
use uuid::Uuid;

use crate::{browser::Stage, seed::Judged};

/// A darkroom that answers like this, and how often it was asked.
fn preview_pool(
    answer: fn(Vec<u8>) -> Result<Vec<u8>, PreviewError>,
) -> (Option<MakePreview>, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let develop: MakePreview = Arc::new(move |file, _| {
        counted.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move { answer(file) })
    });
    (Some(develop), asked)
}

/// The path of an item with a stored image.
async fn with_image(stage: &Stage) -> String {
    let site = stage.site("Forum").await;
    let media = stage.judged(site, Judged::text("With an image")).await;
    stage.image(media, [0xab; 32]).await;
    sqlx::query("update media_images set bytes = $2 where media_id = $1")
        .bind(media.as_uuid())
        .bind(b"file".to_vec())
        .execute(&stage.management.pool)
        .await
        .unwrap();
    format!("/t/{}/items/{media}", stage.team)
}

#[sqlx::test(migrations = false)]
async fn a_page_shows_a_veiled_preview_that_only_it_can_show(pool: PgPool) {
    let (develop, asked) = preview_pool(|file| {
        assert_eq!(file, b"file");
        Ok(b"small".to_vec())
    });
    let stage = Stage::developing(pool, develop).await;
    let path = with_image(&stage).await;
    let mut viewer = stage.person("viewer@market.example", Role::Viewer).await;
    let page = viewer.get(&path).await.text;
    assert!(
        page.contains(&format!("<img src=\"{path}/preview\" alt=\"Preview"))
            && page.contains("id=\"unveil\" type=\"checkbox\" autocomplete=\"off\""),
        "{page}"
    );
    assert_eq!(
        asked.load(Ordering::Relaxed),
        0,
        "the page alone costs no preview"
    );

    let preview = format!("{path}/preview");
    let shown = viewer.picture(&preview).await;
    assert_eq!((shown.status, &*shown.text), (StatusCode::OK, "small"));
    let (_, item) = path.rsplit_once('/').unwrap();
    let name = format!("attachment; filename=\"{item}-preview.jpeg\"");
    for (header, value) in [
        (header::CONTENT_TYPE, "image/jpeg"),
        (header::CONTENT_DISPOSITION, &name),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        assert_eq!(shown.headers[&header], value, "{header}");
    }
    for headers in [
        &[][..],
        &[("sec-fetch-dest", "image")],
        &[("sec-fetch-site", "same-origin")],
        &[
            ("sec-fetch-dest", "document"),
            ("sec-fetch-site", "same-origin"),
        ],
        &[
            ("sec-fetch-dest", "empty"),
            ("sec-fetch-site", "same-origin"),
        ],
        &[
            ("sec-fetch-dest", "image"),
            ("sec-fetch-site", "cross-site"),
        ],
        &[("sec-fetch-dest", "image"), ("sec-fetch-site", "same-site")],
        &[("sec-fetch-dest", "image"), ("sec-fetch-site", "none")],
    ] {
        let refused = viewer.send(Method::GET, &preview, "", headers).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN, "{headers:?}");
        assert!(refused.text.contains("shown only there"), "{headers:?}");
    }
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

#[sqlx::test(migrations = false)]
async fn the_preview_of_another_team_is_as_one_that_does_not_exist(pool: PgPool) {
    let (develop, asked) = preview_pool(Ok);
    let stage = Stage::developing(pool, develop).await;
    let path = with_image(&stage).await;
    let (_, item) = path.rsplit_once('/').unwrap();
    let other = stage.with_another_team().await;
    let mut foreign = other.person("eve@other.example", Role::Owner).await;
    let missing = MediaId::from(Uuid::now_v7()).to_string();
    let [there, missing] =
        [item, &missing].map(|id| format!("/t/{}/items/{id}/preview", other.team));
    let (there, missing) = (
        foreign.picture(&there).await,
        foreign.picture(&missing).await,
    );
    assert_eq!(there.status, StatusCode::NOT_FOUND);
    assert_eq!((there.status, there.text), (missing.status, missing.text));
    assert_eq!(
        foreign.picture(&format!("{path}/preview")).await.status,
        StatusCode::NOT_FOUND
    );
    assert_eq!(asked.load(Ordering::Relaxed), 0);
}

#[sqlx::test(migrations = false)]
async fn a_file_that_is_not_developed_is_no_picture(pool: PgPool) {
    let (develop, _) = preview_pool(|_| Err(PreviewError::Problem(ImageProblem::Undecodable)));
    let stage = Stage::developing(pool, develop).await;
    let path = with_image(&stage).await;
    let mut viewer = stage.person("viewer@market.example", Role::Viewer).await;
    let refused = viewer.picture(&format!("{path}/preview")).await;
    assert_eq!(refused.status, StatusCode::CONFLICT);
    assert!(refused.text.contains("it is damaged"), "{}", refused.text);
    assert!(!refused.headers.contains_key(header::CONTENT_DISPOSITION));
}

#[sqlx::test(migrations = false)]
async fn a_page_says_why_there_is_no_preview(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let path = with_image(&stage).await;
    let mut viewer = stage.person("viewer@market.example", Role::Viewer).await;
    let closed = viewer.get(&path).await.text;
    assert!(
        closed.contains("There is no preview. Previews cannot be made at the moment"),
        "{closed}"
    );
    for (format, problem, why) in [
        (Some("png"), None, "no longer stored"),
        (None, Some("not_fetched"), "could not be fetched"),
        (
            None,
            Some("unsupported"),
            "no image of a format that is kept",
        ),
    ] {
        sqlx::query("update media_images set bytes = null, format = $1, problem = $2")
            .bind(format)
            .bind(problem)
            .execute(&stage.management.pool)
            .await
            .unwrap();
        let page = viewer.get(&path).await.text;
        assert!(page.contains(why) && !page.contains("<img"), "{page}");
    }
}
