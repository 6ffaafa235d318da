//! The log of an image that cannot be fetched.

use std::time::Duration;

use serde_json::json;
use sqlx::PgPool;

use super::{FILES, SOON, start};
use crate::support::{DataDir, Receiver, eventually};

#[sqlx::test(migrations = false)]
async fn case_45_an_image_that_cannot_be_fetched_is_logged_once(pool: PgPool) {
    let (server, data) = (Receiver::start().await, DataDir::new());
    server.answer(500, Duration::ZERO);
    let up = start(&pool, &data, FILES, &["--egress-allow", &server.host()]).await;
    let media = up
        .submit(json!({ "content_url": format!("{}a.png", server.url()) }))
        .await;
    eventually("a verdict", SOON * 2, async || {
        let status = up.status(&media).await;
        (status["status"] != "pending").then_some(())
    })
    .await;
    assert_eq!(server.received().len(), 5);
    let log = std::fs::read_to_string(data.log()).unwrap();
    let told = log
        .lines()
        .filter(|line| line.contains("could not fetch an image"));
    assert_eq!(
        told.filter(|line| line.contains(&media)).count(),
        1,
        "{log}"
    );
    assert!(!log.contains("a job failed"), "{log}");
}
