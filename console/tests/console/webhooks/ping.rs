//! Test pings: the answer is shown in place.

use domain::role::Role;
use poem::http::StatusCode;
use sqlx::PgPool;

use super::SHOWN;
use crate::browser::{Stage, between};

#[sqlx::test(migrations = false)]
async fn the_answer_to_a_ping_is_shown_in_place_and_escaped(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let site = stage.site("Shop").await;
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    for (url, shown) in [
        (
            "https://works.example/",
            ["it works", "It answered 200", "87 ms", SHOWN],
        ),
        (
            "https://broken.example/",
            ["it failed", "It answered 500", "87 ms", SHOWN],
        ),
        (
            "https://silent.example/",
            ["it failed", "No answer within the time", "15 s", SHOWN],
        ),
    ] {
        let endpoint = stage.endpoint(site, url).await;
        let path = format!("/t/{}/webhooks/{endpoint}", stage.team);
        let answer = admin.post(&format!("{path}/ping"), "").await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        let ping = between(&answer.text, "aria-labelledby=\"ping\"", "</section>");
        for shown in shown {
            assert!(ping.contains(shown), "{shown}: {ping}");
        }
        assert!(!answer.text.contains("<script>alert"), "{}", answer.text);
        assert!(answer.text.contains("Latest attempts"), "the page is there");
        assert_eq!(
            stage.recorded_of("endpoint.ping", endpoint.as_uuid()).await,
            1
        );
    }
}

#[sqlx::test(migrations = false)]
async fn a_ping_that_has_to_wait_says_so_on_the_page(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let site = stage.site("Shop").await;
    let endpoint = stage.endpoint(site, "https://busy.example/").await;
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let path = format!("/t/{}/webhooks/{endpoint}", stage.team);
    let answer = admin.post(&format!("{path}/ping"), "").await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        answer.text.contains("Please try again in 5 s."),
        "{}",
        answer.text
    );
    assert!(answer.text.contains("Latest attempts"), "the page is there");
}
