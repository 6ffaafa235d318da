//! Items with an image: the image is fetched or sent inline, then examined, then the item is
//! decided. An item that could not be checked is never approved.

use std::time::Duration;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::support::{Act, DataDir, ScriptedServer, Up, picture};

mod files;
mod hostile_files;
mod hostile_servers;
mod previews;

/// The clauses in a reason about an image that could not be analysed.
const NOT_FETCHED: &str = "the image could not be fetched";
const TOO_LARGE: &str = "the image is too large in bytes, pixels or frames";
const UNSUPPORTED: &str = "the image has an unsupported format";
const UNDECODABLE: &str = "the image could not be decoded";

/// The problem with the image that a verdict's reason names. `None` if the image was examined.
fn problem(reason: &str) -> Option<&'static str> {
    [NOT_FETCHED, TOO_LARGE, UNSUPPORTED, UNDECODABLE]
        .into_iter()
        .find(|clause| reason.contains(clause))
}

async fn start(data: &DataDir, gallery: &ScriptedServer) -> Up {
    Up::start(data, &["--egress-allow", &gallery.allowed()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_by_url_is_fetched_once_examined_and_shown_to_moderators() {
    let file = picture("rotated.jpg");
    let served = file.clone();
    let gallery = ScriptedServer::start(move |path, asked| match (path, asked) {
        ("/old", _) => Act::head("302 Found\r\nLocation: /new.png"),
        ("/new.png", 1) => Act::head("503 Busy\r\nRetry-After: 1"),
        ("/new.png", _) => Act::file("image/png", served.clone()),
        _ => Act::head("404 Not Found"),
    })
    .await;
    let data = DataDir::new();
    let up = start(&data, &gallery).await;

    let media = up
        .submit(json!({ "content_url": gallery.url("/old") }))
        .await;
    let verdict = up.verdict(&media).await;
    // There is no provider for images.
    assert_eq!(verdict["status"], "pending_review", "{verdict}");
    let reason = verdict["moderationResult"]["reason"].as_str().unwrap();
    assert_eq!(problem(reason), None, "{reason}");
    assert_eq!(gallery.asked("/new.png"), 2);

    let (code, item) = up.look(&format!("/media/{media}")).await;
    assert_eq!(code, 200, "{item}");
    assert_eq!(item["image_format"], "jpeg");
    assert_eq!(item["image_bytes"], file.len());
    let image = &item["image"];
    // The size as stored in the file, before rotation.
    assert_eq!(
        (&image["width"], &image["height"]),
        (&json!(48), &json!(64))
    );
    assert_eq!(image["sha256"], hex::encode(Sha256::digest(&file)));
    assert_eq!(image["problem"], Value::Null);
    let (headers, body) = up.download(&format!("/media/{media}/image")).await;
    assert!(body == file, "the image is another");
    assert_eq!(headers["content-type"], "image/jpeg");
    assert_eq!(headers["x-content-type-options"], "nosniff");
    assert!(
        headers["content-disposition"]
            .to_str()
            .unwrap()
            .starts_with("attachment")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_that_cannot_be_had_leaves_its_text_to_the_rules() {
    let gallery = ScriptedServer::start(|_, _| Act::head("404 Not Found")).await;
    let data = DataDir::new();
    let up = start(&data, &gallery).await;
    for (text, expected) in [
        ("so much blockedword in here", "rejected"),
        ("a fine day for a walk by the river", "pending_review"),
    ] {
        let media = up
            .submit(json!({ "body": text, "content_url": gallery.url("/none") }))
            .await;
        let verdict = up.verdict(&media).await;
        assert_eq!(verdict["status"], expected, "{verdict}");
        let (_, item) = up.look(&format!("/media/{media}")).await;
        assert_eq!(item["image"]["problem"]["message"], NOT_FETCHED, "{item}");
        let (code, _) = up.look(&format!("/media/{media}/image")).await;
        assert_eq!(code, 404);
    }
    assert_eq!(gallery.asked("/none"), 2, "404 is final at once");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_inline_image_is_examined_where_it_is() {
    let gallery = ScriptedServer::start(|_, _| Act::head("404 Not Found")).await;
    let data = DataDir::new();
    let up = start(&data, &gallery).await;
    let file = picture("lossy.webp");
    let media = up
        .submit(json!({ "content_base64": BASE64_STANDARD.encode(&file) }))
        .await;
    assert_eq!(up.verdict(&media).await["status"], "pending_review");
    let (_, item) = up.look(&format!("/media/{media}")).await;
    assert_eq!(item["image_format"], "webp");
    assert_eq!(item["image"]["width"], 64);
    assert_eq!(item["image"]["sha256"], hex::encode(Sha256::digest(&file)));
}

/// Much longer than anything here takes.
const PATIENCE: Duration = Duration::from_mins(5);
