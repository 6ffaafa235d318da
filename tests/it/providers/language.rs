//! The built-in analyser reads English. It does not score what it cannot read, so the site's
//! `on_failure` decides.

use serde_json::{Value, json};
use sqlx::PgPool;

use super::{HOUR, SOON};
use crate::support::Panel;

const WANTED: [&str; 2] = ["violence", "harassment"];
const UNREAD: &str = "Not checked: no provider scored the text for `violence`, `harassment`; no rule and no provider examined the text.";

async fn start(pool: &PgPool) -> Panel {
    let builtin = "[[provider]]\nname = \"builtin\"\nkind = \"builtin\"\n".to_owned();
    Panel::start(pool, 1, &[builtin], HOUR, &WANTED).await
}

async fn verdict(panel: &Panel, key: &str, text: &str) -> Value {
    let media = panel.submit(key, text).await;
    panel.verdict(key, &media, SOON).await
}

#[sqlx::test(migrations = false)]
async fn a_text_that_is_not_english_is_never_approved_by_the_builtin_analyser(pool: PgPool) {
    let panel = start(&pool).await;
    let key = panel.site("careful", json!({})).await;
    for text in [
        "Ich komme morgen um acht",
        "Te voy a llamar mañana",
        "Я тебя убью",
        "ya tebya ubyu",
        "Thank you all for coming yesterday, it was a lovely evening with good food. Ich weiß, \
         dass du da warst, und ich komme wieder. See you next week at the same place.",
    ] {
        let verdict = verdict(&panel, &key, text).await;
        assert_eq!(verdict["status"], "pending_review", "{text}: {verdict}");
        let result = &verdict["moderationResult"];
        assert_eq!(result["reason"], UNREAD, "{text}");
        assert_eq!(result.get("ai_analysis"), None, "{text}: {verdict}");
    }

    // A term that is found anyhow is scored, and its rule decides.
    for text in [
        "Ich bringe dich um, das weißt du genau",
        "Ich weiß dass du da warst und ich komme wieder, kill them all",
    ] {
        let found = verdict(&panel, &key, text).await;
        assert_ne!(found["status"], "approved", "{found}");
        let scores = &found["moderationResult"]["ai_analysis"];
        assert!(scores["violence"].as_f64() > Some(0.5), "{found}");
        assert_eq!(scores.get("harassment"), None, "{found}");
    }

    for (on_failure, status) in [("reject", "rejected"), ("approve", "approved")] {
        let settings = json!({ "on_failure": on_failure });
        let key = panel.site(on_failure, settings).await;
        let unread = verdict(&panel, &key, "Ich komme morgen um acht").await;
        assert_eq!(unread["status"], status, "{unread}");
        assert_eq!(unread["moderationResult"]["reason"], UNREAD);
    }
}

#[sqlx::test(migrations = false)]
async fn english_and_what_has_no_language_are_judged_by_their_scores(pool: PgPool) {
    let panel = start(&pool).await;
    let key = panel.site("plain", json!({})).await;
    let threat = verdict(&panel, &key, "I will kill you").await;
    assert_ne!(threat["status"], "approved", "{threat}");
    assert_eq!(
        threat["moderationResult"]["rule_violations"][0]["rule_type"],
        "ai_threshold"
    );
    for text in [
        "a quiet afternoon",
        "ok",
        "lol gg wp",
        "Giuseppe Schäfer",
        "https://example.com/wie-geht-es-dir-heute",
        "12345",
        "🔥🔥",
    ] {
        let verdict = verdict(&panel, &key, text).await;
        assert_eq!(verdict["status"], "approved", "{text}: {verdict}");
        let scores = &verdict["moderationResult"]["ai_analysis"];
        assert!(scores["violence"].is_number(), "{text}: {verdict}");
    }
}
