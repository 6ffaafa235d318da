//! Images: who is shown what of them, and what becomes of a text and its image when only one of the two could be checked.

use std::time::Duration;

use image::ImageFormat;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::support::{FakeProvider, Mode, Panel, Wire, eventually};

const HOUR: Duration = Duration::from_hours(1);
const SOON: Duration = Duration::from_mins(1);

const CALM: &str = "a quiet afternoon";

fn picture(violent: bool) -> Vec<u8> {
    FakeProvider::picture(96, 96, ImageFormat::Png, violent)
}

fn reason(verdict: &Value) -> &str {
    verdict["moderationResult"]["reason"].as_str().unwrap()
}

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
    // Too small for some, too large for others, of a format that not all of them know.
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
        assert_eq!(provider.connections(), 1, "{name}: it is used again");
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

    // Who limits requests is passed over, for images as for texts.
    vision.answer(Mode::Limited("3000"));
    let media = panel.submit_image(&key, &picture(true), None).await;
    let verdict = panel.verdict(&key, &media, SOON).await;
    assert_eq!(verdict["status"], "rejected", "{verdict}");
    assert_eq!((vision.asked(), openai.asked()), (4, 1));
}

#[sqlx::test(migrations = false)]
async fn an_image_that_was_not_checked_is_told_apart_from_its_text_and_follows_on_failure(
    pool: PgPool,
) {
    let guard = FakeProvider::start(Wire::LlamaGuard, Mode::Well).await;
    let vision = FakeProvider::start(Wire::Vision, Mode::Status(400)).await;
    let entries = [
        guard.entry("guard", ""),
        vision.entry("vision", ""),
        "[[provider]]\nname = \"builtin\"\nkind = \"builtin\"\n".to_owned(),
    ];
    let panel = Panel::start(&pool, 1, &entries, HOUR, &["violence"]).await;
    let failed = "Not checked: the analysis of the image by `vision` failed.";
    let nobody = "Not checked: no rule and no provider examined the image.";
    for (site, providers, on_failure, expected, why) in [
        (
            "both",
            json!(["guard", "vision"]),
            "review",
            "pending_review",
            failed,
        ),
        (
            "strict",
            json!(["guard", "vision"]),
            "reject",
            "rejected",
            failed,
        ),
        (
            "texts",
            json!(["guard"]),
            "review",
            "pending_review",
            nobody,
        ),
        (
            "local",
            json!(["builtin"]),
            "review",
            "pending_review",
            nobody,
        ),
    ] {
        let settings = json!({ "providers": providers, "on_failure": on_failure });
        let key = panel.site(site, settings).await;
        let media = panel.submit_image(&key, &picture(false), Some(CALM)).await;
        let verdict = panel.verdict(&key, &media, SOON).await;
        assert_eq!(verdict["status"], expected, "{site}: {verdict}");
        assert_eq!(reason(&verdict), why, "{site}");
        let scores = &verdict["moderationResult"]["ai_analysis"];
        assert!(
            scores["violence"].is_number(),
            "{site}: the text was scored"
        );
        // What the text says rejects all the same.
        let media = panel
            .submit_image(&key, &picture(false), Some(FakeProvider::VIOLENT))
            .await;
        if site != "local" {
            let verdict = panel.verdict(&key, &media, SOON).await;
            assert_eq!(verdict["status"], "rejected", "{site}: {verdict}");
        }
    }
}

#[sqlx::test(migrations = false)]
async fn what_a_provider_could_not_tell_of_an_image_is_absent_and_never_0(pool: PgPool) {
    let vision = FakeProvider::start(Wire::Vision, Mode::Unsure).await;
    let own = FakeProvider::start(Wire::Http, Mode::Unsure).await;
    let well = FakeProvider::openai(Mode::Well).await;
    let entries = [
        vision.entry("vision", ""),
        own.entry("own", ""),
        well.entry("well", ""),
    ];
    let panel = Panel::start(&pool, 1, &entries, HOUR, &["violence"]).await;
    for name in ["vision", "own"] {
        let key = panel.site(name, json!({ "providers": [name] })).await;
        let media = panel.submit_image(&key, &picture(false), None).await;
        let verdict = panel.verdict(&key, &media, SOON).await;
        assert_eq!(verdict["status"], "pending_review", "{name}: {verdict}");
        assert_eq!(
            reason(&verdict),
            "Not checked: no provider scored the image for `violence`."
        );
        assert_eq!(verdict["moderationResult"].get("ai_analysis"), None);

        let helped = format!("{name}-helped");
        let key = panel
            .site(&helped, json!({ "providers": [name, "well"] }))
            .await;
        let media = panel.submit_image(&key, &picture(true), None).await;
        let verdict = panel.verdict(&key, &media, SOON).await;
        assert_eq!(verdict["status"], "rejected", "{name}: {verdict}");
    }
    let unscored = "gatehouse_unchecked_total{what=\"categories_not_scored\"}";
    assert_eq!(Panel::metric(&panel.workers[0], unscored).await, Some(2.0));
}

#[sqlx::test(migrations = false)]
async fn a_limit_that_an_image_ran_into_holds_for_images_costs_no_attempt_and_lets_texts_pass(
    pool: PgPool,
) {
    let provider = FakeProvider::start(Wire::Azure, Mode::Limited("25")).await;
    let entries = [provider.entry("azure", "")];
    let panel = Panel::start(&pool, 2, &entries, HOUR, &["violence"]).await;
    let key = panel.site("site", json!({})).await;
    let first = panel.submit_image(&key, &picture(false), None).await;
    eventually("the limit is hit", SOON, async || {
        (provider.asked() == 1).then_some(())
    })
    .await;
    provider.answer(Mode::Well);
    for worker in &panel.workers {
        let paused = "gatehouse_provider_paused{provider=\"azure\",cause=\"limit\"}";
        eventually("each worker knows", SOON, async || {
            (Panel::metric(worker, paused).await == Some(1.0)).then_some(())
        })
        .await;
    }
    let second = panel.submit_image(&key, &picture(false), None).await;
    let rescheduled = "select count(*) from queue.jobs where queue = 'analysis' and run_at > now() and attempt = 0";
    eventually("both wait, and none was charged", SOON, async || {
        let waiting: i64 = sqlx::query_scalar(rescheduled)
            .fetch_one(&pool)
            .await
            .unwrap();
        (waiting == 2).then_some(())
    })
    .await;
    assert_eq!(provider.asked(), 1);
    // A text is far smaller.
    let text = panel.submit(&key, CALM).await;
    for media in [text, first, second] {
        let verdict = panel.verdict(&key, &media, SOON).await;
        assert_eq!(verdict["status"], "approved", "{verdict}");
    }
    assert_eq!(provider.asked(), 4);
}

#[sqlx::test(migrations = false)]
async fn a_limit_that_only_the_body_tells_is_one(pool: PgPool) {
    let mut entries = Vec::new();
    let mut providers = Vec::new();
    for wire in [Wire::Vision, Wire::Rekognition, Wire::Sightengine] {
        let provider = FakeProvider::start(wire, Mode::Hidden).await;
        entries.push(provider.entry(wire.name(), ""));
        providers.push((wire.name(), provider));
    }
    let panel = Panel::start(&pool, 1, &entries, HOUR, &["violence"]).await;
    for (name, provider) in &providers {
        let key = panel.site(name, json!({ "providers": [name] })).await;
        let media = panel.submit_image(&key, &picture(false), None).await;
        eventually("it is asked", SOON, async || {
            (provider.asked() > 0).then_some(())
        })
        .await;
        let limited =
            format!("gatehouse_provider_errors_total{{provider={name:?},reason=\"limited\"}}");
        eventually("it is known for a limit", SOON, async || {
            (Panel::metric(&panel.workers[0], &limited).await >= Some(1.0)).then_some(())
        })
        .await;
        provider.answer(Mode::Well);
        let verdict = panel.verdict(&key, &media, SOON).await;
        assert_eq!(verdict["status"], "approved", "{name}: {verdict}");
    }
}

#[sqlx::test(migrations = false)]
async fn what_was_found_of_an_image_is_kept_while_its_text_waits(pool: PgPool) {
    let vision = FakeProvider::start(Wire::Vision, Mode::Well).await;
    let guard = FakeProvider::start(Wire::LlamaGuard, Mode::Limited("3")).await;
    let entries = [vision.entry("vision", ""), guard.entry("guard", "")];
    let panel = Panel::start(&pool, 1, &entries, HOUR, &["violence"]).await;
    let key = panel.site("site", json!({})).await;
    let media = panel
        .submit_image(&key, &picture(false), Some(FakeProvider::VIOLENT))
        .await;
    let parts = async || -> (i64, i64) {
        let counts = "select (select count(*) from analysis_parts), (select count(*) from analysis_image_parts)";
        sqlx::query_as(counts).fetch_one(&pool).await.unwrap()
    };
    eventually("the image's part is kept", SOON, async || {
        (parts().await == (0, 1)).then_some(())
    })
    .await;
    assert_eq!(panel.status(&key, &media).await["status"], "pending");
    guard.answer(Mode::Well);
    let verdict = panel.verdict(&key, &media, SOON).await;
    // The image's score is not taken for the text's.
    assert_eq!(verdict["status"], "rejected", "{verdict}");
    assert_eq!((vision.asked(), guard.asked()), (1, 2));
    assert_eq!(parts().await, (0, 0));
    let said = panel.analysis(&media).await;
    assert_eq!(said["providers"].as_array().unwrap().len(), 2, "{said}");
}

#[sqlx::test(migrations = false)]
async fn an_image_that_nobody_can_decode_is_reviewed_and_its_text_judged(pool: PgPool) {
    let provider = FakeProvider::openai(Mode::Well).await;
    let entries = [provider.entry("openai", "")];
    let panel = Panel::start(&pool, 1, &entries, HOUR, &["violence"]).await;
    let key = panel.site("site", json!({})).await;
    let mut damaged = picture(true);
    damaged.truncate(60);
    for (text, expected) in [
        (CALM, "pending_review"),
        (FakeProvider::VIOLENT, "rejected"),
    ] {
        let media = panel.submit_image(&key, &damaged, Some(text)).await;
        let verdict = panel.verdict(&key, &media, SOON).await;
        assert_eq!(verdict["status"], expected, "{verdict}");
        if expected == "pending_review" {
            assert_eq!(
                reason(&verdict),
                "Not checked: the image could not be decoded."
            );
        }
    }
    assert_eq!(provider.asked(), 2, "texts only");
}
