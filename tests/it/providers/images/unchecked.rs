//! Images that were not checked, or not for everything.

use serde_json::json;
use sqlx::PgPool;

use super::{CALM, HOUR, SOON, picture, reason};
use crate::support::{FakeProvider, Mode, Panel, Wire};

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
        // The text still rejects the item.
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

#[sqlx::test(migrations = false)]
async fn the_builtin_analysis_examines_an_image_for_nudity_and_for_nothing_else(pool: PgPool) {
    let builtin = "[[provider]]\nname = \"builtin\"\nkind = \"builtin\"\n".to_owned();
    let panel = Panel::start(&pool, 1, &[builtin], HOUR, &["adult", "violence"]).await;
    let key = panel.site("both", json!({})).await;
    for text in [None, Some(CALM)] {
        let media = panel.submit_image(&key, &picture(false), text).await;
        let verdict = panel.verdict(&key, &media, SOON).await;
        assert_eq!(verdict["status"], "pending_review", "{verdict}");
        assert_eq!(
            reason(&verdict),
            "Not checked: no provider scored the image for `violence`."
        );
        let scores = &verdict["moderationResult"]["ai_analysis"];
        assert!(scores["adult"].as_f64().unwrap() < 0.5, "{verdict}");
    }
}

#[sqlx::test(migrations = false)]
async fn an_image_is_approved_if_nudity_is_all_that_the_rules_look_for(pool: PgPool) {
    let builtin = "[[provider]]\nname = \"builtin\"\nkind = \"builtin\"\n".to_owned();
    let panel = Panel::start(&pool, 1, &[builtin], HOUR, &["adult"]).await;
    let key = panel.site("adult", json!({})).await;
    let media = panel.submit_image(&key, &picture(false), None).await;
    let verdict = panel.verdict(&key, &media, SOON).await;
    assert_eq!(verdict["status"], "approved", "{verdict}");
}
