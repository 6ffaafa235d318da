//! What every request passes: ids, problems, routes, probes.

use api::Readiness;
use sqlx::PgPool;

use crate::app::{App, STATUS, SUBMIT};

#[sqlx::test(migrations = false)]
async fn a_harmless_request_id_is_kept_and_another_is_replaced(pool: PgPool) {
    let app = App::start(pool).await;
    let answer = app
        .request("GET", "/healthz", &[("X-Request-Id", "my-id_7")], "")
        .await;
    assert_eq!(answer.header("x-request-id"), Some("my-id_7"));
    for id in ["with space", "semi;colon", &"x".repeat(65)] {
        let answer = app
            .request("GET", "/nowhere", &[("X-Request-Id", id)], "")
            .await;
        assert_ne!(answer.header("x-request-id"), Some(id));
        answer.problem(404, "not_found");
    }
}

#[sqlx::test(migrations = false)]
async fn unknown_paths_and_wrong_methods_are_problems_and_allow_lists_the_right_ones(pool: PgPool) {
    let app = App::start(pool).await;
    for path in [
        "/functions/v1",
        "/functions/v1/",
        "/functions/v1/nothing",
        "/functions/v1/submit-media/",
    ] {
        let problem = app.get(path).await.problem(404, "not_found");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains("/ leads to the descriptions"), "{detail}");
    }
    for (method, path, allow) in [
        ("GET", SUBMIT, "POST"),
        ("DELETE", SUBMIT, "POST"),
        ("PUT", STATUS, "GET, HEAD, POST"),
        ("POST", "/functions/v1/openapi.json", "GET, HEAD"),
        ("POST", "/docs", "GET, HEAD"),
        ("POST", "/docs/management", "GET, HEAD"),
        ("POST", "/management/v1/openapi.json", "GET, HEAD"),
        ("PUT", "/management/v1/plans", "GET, HEAD, POST"),
        ("PUT", "/management/v1/plans/x", "GET, HEAD, PATCH"),
        ("POST", "/healthz", "GET, HEAD"),
        ("POST", "/", "GET, HEAD"),
    ] {
        let answer = app.request(method, path, &[], "").await;
        answer.problem(405, "method_not_allowed");
        assert_eq!(answer.header("allow"), Some(allow), "{method} {path}");
    }
}

#[sqlx::test(migrations = false)]
async fn the_root_leads_people_and_programs_to_the_descriptions(pool: PgPool) {
    let app = App::start(pool).await;
    let index = app.get("/").await;
    assert_eq!(index.header("content-type"), Some("application/json"));
    let index = index.ok();
    let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    let page = app.request("GET", "/", &[("Accept", browser)], "").await;
    let html = "text/html; charset=utf-8";
    assert_eq!(page.header("content-type"), Some(html));
    assert_eq!(page.header("vary"), Some("accept"));
    for interface in ["public", "management"] {
        for (member, kind) in [("docs", html), ("openapi", "application/json")] {
            let path = index[interface][member].as_str().unwrap();
            assert!(
                page.body.contains(&format!("<a href=\"{path}\">")),
                "{path}"
            );
            let answer = app.get(path).await;
            assert_eq!(
                (answer.status, answer.header("content-type")),
                (200, Some(kind))
            );
            let base = index[interface]["base"].as_str().unwrap();
            assert!(kind == html || answer.body.contains(&format!("\"url\": \"{base}\"")));
        }
    }
    for path in ["healthz", "readyz"] {
        app.get(index[path].as_str().unwrap()).await.ok();
    }
}

#[sqlx::test(migrations = false)]
async fn pages_are_html_of_this_century(pool: PgPool) {
    let app = App::start(pool).await;
    let mut titles = std::collections::BTreeSet::new();
    for path in ["/", "/docs", "/docs/management"] {
        let page = app
            .request("GET", path, &[("Accept", "text/html")], "")
            .await;
        let (head, _) = page.body.split_once("</title>").unwrap();
        // Without this as the very first, browsers use quirks mode.
        assert!(
            head.starts_with(
                "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">"
            )
        );
        assert!(
            head.contains(
                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
            )
        );
        assert!(titles.insert(head.rsplit_once("<title>").unwrap().1.to_owned()));
        assert!(!page.body.contains("<style charset") && !page.body.contains("<script charset"));
        assert!(page.body.ends_with("</body>\n</html>\n"));
    }
}

#[sqlx::test(migrations = false)]
async fn probes_tell_life_and_readiness(pool: PgPool) {
    let app = App::start(pool).await;
    assert_eq!(app.get("/healthz").await.ok()["status"], "ok");
    assert_eq!(app.get("/readyz").await.ok()["status"], "ready");
    app.ready
        .send_replace(Readiness::NotReady("the schema is older".into()));
    let answer = app.get("/readyz").await;
    assert_eq!(
        answer.problem(503, "not_ready")["detail"],
        "the schema is older"
    );
    app.get("/healthz").await.ok();
}

#[sqlx::test(migrations = false)]
async fn a_database_that_is_gone_is_told_without_its_words(pool: PgPool) {
    let app = App::start(pool).await;
    let id = app.submitted("hello").await;
    sqlx::raw_sql("alter table media rename to gone")
        .execute(&app.pool)
        .await
        .unwrap();
    let answer = app
        .post_keyed(STATUS, serde_json::json!({ "media_id": id }))
        .await;
    answer.problem(503, "overloaded");
    assert!(
        !answer.body.contains("relation") && !answer.body.contains("media\""),
        "{answer:?}"
    );
    sqlx::raw_sql("alter table gone rename to media")
        .execute(&app.pool)
        .await
        .unwrap();
}
