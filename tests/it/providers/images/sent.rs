//! Images are sent to providers that accept them, and their scores count.

use image::ImageFormat;
use serde_json::json;
use sqlx::PgPool;

use super::{CALM, HOUR, SOON, picture};
use crate::support::{FakeProvider, Mode, Panel, Wire};

#[sqlx::test(migrations = false)]
async fn every_provider_is_shown_what_it_takes_and_is_believed(pool: PgPool) {
    let mut entries = Vec::new();
    let mut providers = Vec::new();
    for wire in Wire::OF_IMAGES {
        let provider = FakeProvider::start(wire, Mode::Well).await;
        entries.push(provider.entry(wire.name(), ""));
        providers.push((wire, provider));
    }
    let panel = Panel::start(&pool, 1, &entries, HOUR, &["violence"]).await;
    // Too small for some providers, too large for others, and in a format that not all of them
    // accept.
    let shapes = [
        (20, 12, ImageFormat::Png),
        (2_600, 500, ImageFormat::Jpeg),
        (640, 480, ImageFormat::WebP),
    ];
    for (wire, provider) in &providers {
        let name = wire.name();
        let key = panel.site(name, json!({ "providers": [name] })).await;
        for (width, height, format) in shapes {
            for violent in [false, true] {
                let file = FakeProvider::picture(width, height, format, violent);
                let media = panel.submit_image(&key, &file, None).await;
                let verdict = panel.verdict(&key, &media, SOON).await;
                let expected = if violent { "rejected" } else { "approved" };
                assert_eq!(
                    verdict["status"], expected,
                    "{name} {width}x{height}: {verdict}"
                );
                let said = &panel.analysis(&media).await["providers"][0];
                assert_eq!(said["modality"], "image");
                let score = said["scores"]["violence"].as_f64().unwrap();
                let right = (score - wire.high()).abs() < 1e-9;
                assert_eq!(right, violent, "{name}: {score}");
                assert!(said["scores"].get("spam").is_none(), "{name}: {said}");
            }
        }
        assert_eq!(provider.answered(), 6, "{name}");
        assert_eq!(provider.asked(), 6, "{name}");
        assert_eq!(
            provider.connections(),
            1,
            "{name}: the connection is used again"
        );
    }
    let logged = panel.logged();
    assert!(!logged.contains(FakeProvider::KEY));
}

#[sqlx::test(migrations = false)]
async fn what_an_image_shows_counts_beside_its_text_and_each_goes_to_who_looks_at_such(
    pool: PgPool,
) {
    let guard = FakeProvider::start(Wire::LlamaGuard, Mode::Well).await;
    let vision = FakeProvider::start(Wire::Vision, Mode::Well).await;
    let openai = FakeProvider::openai(Mode::Well).await;
    let entries = [
        guard.entry("guard", ""),
        vision.entry("vision", ""),
        openai.entry("openai", ""),
    ];
    let panel = Panel::start(&pool, 1, &entries, HOUR, &["violence"]).await;
    let key = panel.site("site", json!({})).await;

    for (text, violent, expected, score) in [
        (CALM, false, "approved", 0.0),
        (CALM, true, "rejected", 1.0),
        (FakeProvider::VIOLENT, false, "rejected", 0.97),
    ] {
        let media = panel
            .submit_image(&key, &picture(violent), Some(text))
            .await;
        let verdict = panel.verdict(&key, &media, SOON).await;
        assert_eq!(verdict["status"], expected, "{verdict}");
        let found = &verdict["moderationResult"]["ai_analysis"]["violence"];
        assert!((found.as_f64().unwrap() - score).abs() < 1e-9, "{verdict}");
        let said = panel.analysis(&media).await;
        let said = said["providers"].as_array().unwrap().iter();
        let who: Vec<_> = said.map(|s| [&s["provider"], &s["modality"]]).collect();
        assert_eq!(who, [["guard", "text"], ["vision", "image"]]);
    }
    assert_eq!((guard.asked(), vision.asked(), openai.asked()), (3, 3, 0));

    // A provider that limits requests is skipped, for images as for texts.
    vision.answer(Mode::Limited("3000"));
    let media = panel.submit_image(&key, &picture(true), None).await;
    let verdict = panel.verdict(&key, &media, SOON).await;
    assert_eq!(verdict["status"], "rejected", "{verdict}");
    assert_eq!((vision.asked(), openai.asked()), (4, 1));
}
