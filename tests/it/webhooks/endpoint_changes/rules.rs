//! The operator's rules about addresses.

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::support::{Api, Receiver, admin, new_site, text};

#[sqlx::test(migrations = false)]
async fn the_interface_judges_endpoints_by_the_operators_rules(pool: PgPool) {
    let site = new_site(&pool);
    let token = admin(&pool, &["create-token", "--name", "t", "--scopes", "all"]);
    let receiver = Receiver::start().await;
    let ask = async |api: &Api, path: &str, body: Value| {
        let base = api.base_url.replace("/functions/", "/management/");
        let request = api.http.post(format!("{base}{path}")).json(&body);
        let request = request.bearer_auth(text(&token, "management_token"));
        let answer = request.send().await.unwrap();
        (
            answer.status().as_u16(),
            answer.json::<Value>().await.unwrap(),
        )
    };
    let endpoints = format!("/sites/{}/webhook-endpoints", site.id);
    let (closed, open) = (
        Api::start(&pool).await,
        Api::with(&pool, &["--egress-allow", &receiver.host()]).await,
    );
    for (url, advice) in [
        (receiver.url(), "ask the operator"),
        ("http://[::ffff:10.0.0.1]/".to_owned(), "use a public one"),
        ("ftp://example.com/".to_owned(), "https://"),
        ("https://a:b@example.com/".to_owned(), "in a header"),
        ("https://example.com:25/".to_owned(), "443"),
        ("http://localhost/".to_owned(), "use a public one"),
    ] {
        let (status, problem) = ask(&closed, &endpoints, json!({ "url": url })).await;
        assert_eq!(status, 400, "{url}: {problem}");
        assert_eq!(problem["errors"][0]["field"], "url");
        let message = problem["errors"][0]["message"].as_str().unwrap();
        assert!(message.contains(advice), "{url}: {message}");
    }
    let (status, endpoint) = ask(&open, &endpoints, json!({ "url": receiver.url() })).await;
    assert_eq!(status, 201, "{endpoint}");
    let ping = format!("/webhook-endpoints/{}/ping", text(&endpoint, "id"));
    let (_, told) = ask(&open, &ping, json!({})).await;
    assert_eq!(told["outcome"], "delivered", "{told}");
    receiver.received()[0].assert_signed(&site.webhook_secret);
    // An endpoint that another process accepted, or whose name leads elsewhere now, is refused when
    // it is contacted.
    let (_, told) = ask(&closed, &ping, json!({})).await;
    assert_eq!(
        (&told["outcome"], receiver.received().len()),
        (&json!("refused"), 1)
    );
}
