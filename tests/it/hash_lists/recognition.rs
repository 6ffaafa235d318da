//! Images on deny lists and allow lists.

use std::io::Cursor;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use image::{ImageFormat, RgbImage, codecs::jpeg::JpegEncoder};
use reqwest::Method;
use serde_json::json;
use sqlx::{ConnectOptions as _, PgPool};

use super::{id, start};
use crate::support::{DataDir, FakeProvider, Mode, Up, Worker, gatehouse};

/// A picture full of shapes, as a JPEG of this quality. Each number gives another picture.
fn photo(number: u32, quality: u8) -> Vec<u8> {
    let mut state = u64::from(number) + 1;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(state >> 33).unwrap()) / f64::from(1_u32 << 31)
    };
    let waves: Vec<[f64; 4]> = (0..24)
        .map(|_| [next() * 0.15, next() * 0.15, next() * 6.3, next()])
        .collect();
    let picture = RgbImage::from_fn(256, 192, |x, y| {
        let (x, y) = (f64::from(x), f64::from(y));
        let value: f64 = waves
            .iter()
            .map(|[u, v, p, a]| a * (u * x + v * y + p).sin())
            .sum();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped"
        )]
        let value = (128.0 + 22.0 * value).clamp(0.0, 255.0) as u8;
        image::Rgb([value, value, 255 - value])
    });
    let mut file = Cursor::new(Vec::new());
    JpegEncoder::new_with_quality(&mut file, quality)
        .encode_image(&picture)
        .unwrap();
    file.into_inner()
}

#[sqlx::test(migrations = false)]
async fn a_copy_of_a_listed_image_is_rejected_on_every_worker_from_then_on(pool: PgPool) {
    let data = DataDir::new();
    let up = start(&data, &pool).await;
    let mut command = gatehouse(&pool);
    command
        .env_remove("GATEHOUSE_MASTER_KEY")
        .env("GATEHOUSE_MASTER_KEY_FILE", data.path().join("master.key"));
    let _worker = Worker::launch(command).await;
    let (deny, allow) = (
        up.list("Deny", "deny").await,
        up.list("Allow", "allow").await,
    );
    let group = up.group(&[&deny, &allow]).await;
    // With an entry on the list, both processes keep the list in memory.
    let entries = format!("/hash-lists/{deny}/entries");
    up.made(&entries, json!({ "pdq": "0".repeat(64) })).await;
    let original = up.submit_image(&group, &photo(1, 95)).await;
    assert_eq!(up.verdict(&original).await["status"], "pending_review");
    for number in 2..12 {
        let verdict = up.judged(&group, &photo(number, 90)).await;
        assert_eq!(verdict["status"], "pending_review", "{verdict}");
    }

    let images = format!("/hash-lists/{deny}/images");
    let entry = up.made(&images, json!({ "media_id": original })).await;
    assert!(entry["pdq"].is_string(), "{entry}");
    for quality in [95, 80, 60, 50, 40, 45, 55, 65, 75, 85] {
        let verdict = up.judged(&group, &photo(1, quality)).await;
        assert_eq!(verdict["status"], "rejected", "{verdict}");
        assert_eq!(verdict["moderation_type"], "rule");
        let violation = &verdict["moderationResult"]["rule_violations"][0];
        assert_eq!(violation["rule_type"], "image_hash", "{verdict}");
        let details = violation["details"].as_str().unwrap();
        assert!(details.contains(&deny), "{details}");
    }
    let other = up.judged(&group, &photo(2, 60)).await;
    assert_eq!(other["status"], "pending_review", "{other}");

    // An image that is also on an allow list of the same rule is approved.
    let images = format!("/hash-lists/{allow}/images");
    up.made(&images, json!({ "media_id": original })).await;
    for quality in [95, 70, 50] {
        let verdict = up.judged(&group, &photo(1, quality)).await;
        assert_eq!(verdict["status"], "approved", "{verdict}");
    }
    let entry = format!(
        "/hash-lists/{allow}/entries?near={}",
        entry["pdq"].as_str().unwrap()
    );
    let near = up.seen(&entry).await["data"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let entry = format!("/hash-lists/{allow}/entries/{near}");
    let (status, _) = up
        .call(Method::DELETE, &entry, "text/plain", String::new())
        .await;
    assert_eq!(status, 204);
    for quality in [90, 70, 50] {
        let verdict = up.judged(&group, &photo(1, quality)).await;
        assert_eq!(verdict["status"], "rejected", "{verdict}");
    }
}

#[sqlx::test(migrations = false)]
async fn an_image_on_an_allow_list_is_shown_to_no_provider_and_its_text_is(pool: PgPool) {
    let (data, provider) = (DataDir::new(), FakeProvider::openai(Mode::Well).await);
    let url = pool.connect_options().to_url_lossy().to_string();
    let provided = provider.options();
    let mut options = vec!["--database-url", &url];
    options.extend(provided.iter().map(String::as_str));
    let up = Up::start(&data, &options).await;
    let allow = up.list("Logos", "allow").await;
    let rules = json!([
        { "name": "Known", "type": "image_hash", "lists": [allow], "effect": "review" },
        { "name": "Violence", "type": "ai_threshold", "category": "violence", "reject_at": 0.5 },
    ]);
    let group = json!({ "name": "Images", "rules": rules });
    let group = id(&up.made("/rule-groups", group).await);
    let logo = FakeProvider::picture(96, 96, ImageFormat::Png, true);
    let first = up.submit_image(&group, &logo).await;
    assert_eq!(up.verdict(&first).await["status"], "rejected");
    assert_eq!(provider.asked(), 1);

    let images = format!("/hash-lists/{allow}/images");
    up.made(&images, json!({ "media_id": first })).await;
    let verdict = up.judged(&group, &logo).await;
    assert_eq!(verdict["status"], "approved", "{verdict}");
    assert_eq!(provider.asked(), 1);

    for (text, status) in [
        ("a calm text", "approved"),
        (FakeProvider::VIOLENT, "rejected"),
    ] {
        let image = BASE64_STANDARD.encode(&logo);
        let fields = json!({ "content_base64": image, "body": text, "rule_group_id": group });
        let media = up.submit(fields).await;
        let verdict = up.verdict(&media).await;
        assert_eq!(verdict["status"], status, "{verdict}");
    }
    assert_eq!(provider.asked(), 3, "each text once");
}
