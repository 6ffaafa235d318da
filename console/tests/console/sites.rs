//! Sites: the list, and a new one.

use domain::role::Role;
use poem::http::StatusCode;
use sqlx::PgPool;

use crate::browser::Stage;

#[sqlx::test(migrations = false)]
async fn an_owner_creates_a_site_and_a_viewer_is_not_offered_it(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let path = format!("/t/{}/sites", stage.team);
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let empty = admin.get(&path).await;
    assert!(
        empty.text.contains("Create the first site"),
        "{}",
        empty.text
    );

    let wrong = admin.post(&format!("{path}/new"), "name=&group=").await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        wrong.text.contains("Must have 1 to 100 characters"),
        "{}",
        wrong.text
    );
    let created = admin
        .post(&format!("{path}/new"), "name=Forum+%3Cb%3E&group=")
        .await;
    assert_eq!(created.status, StatusCode::OK, "{}", created.text);
    assert!(created.text.contains("whsec_"), "{}", created.text);
    let listed = admin.get(&path).await.text;
    assert!(listed.contains("Forum &#60;b&#62;"), "{listed}");

    let mut viewer = stage.person("viewer@market.example", Role::Viewer).await;
    let shown = viewer.get(&path).await.text;
    assert!(!shown.contains("New site"), "{shown}");
    let refused = viewer
        .post(&format!("{path}/new"), "name=Mine&group=")
        .await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
}
