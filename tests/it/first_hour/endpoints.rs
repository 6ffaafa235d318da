//! The command line refuses endpoints in the words of the interface.

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::support::{Api, admin, gatehouse, new_site, text};

#[sqlx::test(migrations = false)]
async fn the_command_line_refuses_the_endpoints_that_the_interface_refuses_in_its_words(
    pool: PgPool,
) {
    let site = new_site(&pool);
    let token = admin(&pool, &["create-token", "--name", "t", "--scopes", "all"]);
    let api = Api::start(&pool).await;
    let base = api.base_url.replace("/functions/", "/management/");
    let endpoints = format!("{base}/sites/{}/webhook-endpoints", site.id);
    let create = |more: &[&str]| {
        let mut command = gatehouse(&pool);
        command.args(["admin", "create-endpoint", "--site", &site.id]);
        command.stderr(std::process::Stdio::piped());
        let output = command.args(more).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        (output.status.success(), error)
    };
    for url in [
        "http://localhost:3000/hooks",
        "http://127.0.0.1:9000/",
        "http://10.0.0.7/",
        "http://169.254.169.254/",
        "https://example.com:25/",
        "https://a:b@example.com/",
        "ftp://example.com/",
        "example.com",
        &format!("https://example.com/{}", "a".repeat(2_000)),
    ] {
        let request = api.http.post(&endpoints).json(&json!({ "url": url }));
        let request = request.bearer_auth(text(&token, "management_token"));
        let problem: Value = request.send().await.unwrap().json().await.unwrap();
        let told = problem["errors"][0]["message"].as_str().unwrap();
        let (done, error) = create(&["--url", url]);
        assert!(!done && error.contains(told), "{url}: {told}\n{error}");
    }
    let (_, error) = create(&["--url", "http://localhost:3000/hooks"]);
    let (_, advised) = error.split_once("--egress-allow ").unwrap();
    let (allowed, _) = advised.split_once('`').unwrap();
    assert!(
        error.contains("`gatehouse listen --forward http://localhost:3000/hooks`"),
        "{error}"
    );
    let events = "media.moderated,media.moderated";
    let opened = [
        "--url",
        "http://localhost:3000/hooks",
        "--egress-allow",
        allowed,
        "--events",
        events,
    ];
    let (done, error) = create(&opened);
    assert!(done, "{error}");
    let (_, error) = create(&["--url", "https://example.com/", "--events", "media.deleted"]);
    assert!(
        error.contains("[possible values: media.created, media.moderated]"),
        "{error}"
    );
    let stored: Vec<(String, Vec<String>)> =
        sqlx::query_as("select url, events from webhook_endpoints")
            .fetch_all(&pool)
            .await
            .unwrap();
    let expected = (
        "http://localhost:3000/hooks".to_owned(),
        vec!["media.moderated".to_owned()],
    );
    assert_eq!(stored, [expected]);
}
