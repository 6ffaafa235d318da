//! What customers do, right and wrong.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::json;

use super::service::Service;
use super::{
    APP_MEDIA_ID, IMAGE, IMAGE_PASSWORD, IMAGE_USER, MALFORMED, METADATA, QUERY, SOON, TEXT,
};
use crate::support::{FakeProvider, Site, eventually};

const JSON: (&str, &str) = ("Content-Type", "application/json");

/// Submits items, waits for their verdicts, and makes mistakes.
pub(super) async fn use_it(service: &Service, site: &Site, token: &str) {
    let picture = [b"\x89PNG\r\n\x1a\n", IMAGE.as_bytes()].concat();
    let bodies = [
        json!({ "body": TEXT, "metadata": { "a": METADATA }, "app_media_id": APP_MEDIA_ID }),
        json!({ "body": format!("{TEXT} {}", FakeProvider::VIOLENT) }),
        json!({ "content_base64": STANDARD.encode(&picture) }),
        json!({ "content_url": format!("https://{IMAGE_USER}:{IMAGE_PASSWORD}@example.com/{QUERY}") }),
        json!({ "body": TEXT, "rule_group_id": QUERY }),
        json!({ "body": [TEXT] }),
        json!({ "metadata": METADATA }),
    ];
    let mut items = Vec::new();
    for (n, mut body) in bodies.into_iter().enumerate() {
        body["api_key"] = site.key.as_str().into();
        let key = format!("{APP_MEDIA_ID}-{n}");
        let (_, answer) = service
            .api
            .post("submit-media", Some(&key), &body)
            .await
            .unwrap();
        if let Some(id) = answer["id"].as_str() {
            items.push(id.to_owned());
        }
    }
    assert!(items.len() >= 3, "{}", items.len());
    for id in &items {
        eventually("a verdict", SOON, async || {
            let body = json!({ "api_key": site.key, "media_id": id });
            let (_, answer) = service
                .api
                .post("get-media-status", None, &body)
                .await
                .unwrap();
            (answer["status"] != "pending").then_some(())
        })
        .await;
        let query = format!(
            "/functions/v1/get-media-status?api_key={}&media_id={id}",
            site.key
        );
        assert_eq!(service.try_to("GET", &query, &[], String::new()).await, 200);
    }

    do_it_wrong(service, site, token).await;
}

async fn do_it_wrong(service: &Service, site: &Site, token: &str) {
    let bearer = format!("Bearer {token}");
    let submit = "/functions/v1/submit-media";
    for (method, path, headers, body) in [
        (
            "POST",
            submit,
            &[JSON][..],
            format!("{{\"api_key\":\"{}\",\"body\":\"{MALFORMED}", site.key),
        ),
        (
            "POST",
            submit,
            &[JSON],
            format!("{{\"{MALFORMED}\":1,\"{MALFORMED}\":2,\"body\":\"\\ud800 {TEXT}\"}}"),
        ),
        (
            "POST",
            submit,
            &[JSON],
            format!("{{\"body\":\"{TEXT}\",\"body\":\"{TEXT}\"}}"),
        ),
        (
            "POST",
            submit,
            &[JSON],
            format!("{{\"body\":\"{}\"}}", TEXT.repeat(1 << 20)),
        ),
        (
            "POST",
            submit,
            &[JSON, ("Content-Encoding", "gzip")],
            TEXT.into(),
        ),
        (
            "POST",
            submit,
            &[JSON, ("Authorization", &bearer), ("Cookie", QUERY)],
            "{}".into(),
        ),
        ("PUT", submit, &[("Content-Type", QUERY)], TEXT.into()),
        (
            "GET",
            "/functions/v1/an-unmistakable-query?api_key=an-unmistakable-query",
            &[],
            String::new(),
        ),
        (
            "GET",
            "/an-unmistakable-query",
            &[("X-Forwarded-For", QUERY), ("User-Agent", QUERY)],
            String::new(),
        ),
        (
            "GET",
            "/management/v1/teams",
            &[("Authorization", &bearer)],
            String::new(),
        ),
        (
            "GET",
            "/management/v1/teams?cursor=an-unmistakable-query",
            &[("Authorization", &bearer)],
            String::new(),
        ),
        (
            "POST",
            "/management/v1/plans",
            &[JSON, ("Authorization", &bearer)],
            format!("{{\"name\":[\"{MALFORMED}\"]}}"),
        ),
        (
            "POST",
            "/management/v1/tokens",
            &[JSON, ("Authorization", &bearer)],
            "{\"name\":\"made\",\"scopes\":[]}".into(),
        ),
    ] {
        let status = service.try_to(method, path, headers, body).await;
        assert!(status < 500, "{method} {path}: {status}");
    }
}
