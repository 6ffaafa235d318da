//! Headers that protect answers.

use domain::scope::Scope;
use serde_json::json;
use sqlx::PgPool;

use crate::{
    app::{App, STATUS},
    client::Answer,
};

#[track_caller]
fn protected(answer: &Answer) {
    assert_eq!(
        answer.header("cache-control"),
        Some("no-store"),
        "{answer:?}"
    );
    assert_eq!(
        answer.header("x-content-type-options"),
        Some("nosniff"),
        "{answer:?}"
    );
}

#[sqlx::test(migrations = false)]
async fn case_45_no_answer_is_kept_by_a_cache_or_taken_for_something_else(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.caller(None, Scope::ALL).await;
    let site = app.tenant.site;
    // Secrets that are shown once.
    let token = json!({ "name": "a", "scopes": ["teams:read"] });
    for (path, body) in [
        ("/tokens".to_owned(), token),
        (format!("/sites/{site}/keys"), json!({})),
        (format!("/sites/{site}/keys/rotate"), json!({})),
        (format!("/sites/{site}/webhook-secret/rotate"), json!({})),
    ] {
        let answer = operator.post(&path, body).await;
        assert!(matches!(answer.status, 200 | 201), "{path}: {answer:?}");
        protected(&answer);
    }
    let key = &app.tenant.key;
    protected(&app.submit(json!({ "body": "a text" })).await);
    protected(&app.get(&format!("{STATUS}?api_key={key}&media_id=x")).await);
    protected(&app.get("/nowhere").await);
    protected(&app.get("/management/v1/teams").await);
    protected(&app.get("/readyz").await);
}

#[sqlx::test(migrations = false)]
async fn case_45_the_pages_run_their_own_scripts_in_no_frame(pool: PgPool) {
    let app = App::start(pool).await;
    for page in ["/docs", "/docs/management"] {
        let answer = app.get(page).await;
        protected(&answer);
        let policy = answer.header("content-security-policy").unwrap();
        for directive in [
            "default-src 'none'",
            "frame-ancestors 'none'",
            "connect-src 'self'",
        ] {
            assert!(policy.contains(directive), "{policy}");
        }
        assert_eq!(policy.matches("'sha256-").count(), 2, "{policy}");
        assert!(!policy.contains("script-src 'unsafe"), "{policy}");
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(answer.header("x-frame-options"), Some("DENY"));
        // Browsers hash the text after they have replaced these.
        assert!(
            !answer.body.contains(['\r', '\0']),
            "the hashes are of another text"
        );
    }
}
