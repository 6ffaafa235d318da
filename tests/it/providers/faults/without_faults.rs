//! Providers without a fault.

use serde_json::json;
use sqlx::PgPool;

use super::{MINUTES, PATIENCE};
use crate::support::{FakeProvider, Mode, Panel, Wire};

#[sqlx::test(migrations = false)]
async fn every_provider_that_is_well_is_believed(pool: PgPool) {
    let mut entries = Vec::new();
    let mut providers = Vec::new();
    for wire in Wire::OF_TEXTS {
        let provider = FakeProvider::start(wire, Mode::Well).await;
        entries.push(provider.entry(wire.name(), ""));
        providers.push((wire, provider));
    }
    let panel = Panel::start(&pool, 1, &entries, PATIENCE, &["violence"]).await;
    for (wire, provider) in &providers {
        let name = wire.name();
        let key = panel.site(name, json!({ "providers": [name] })).await;
        for _ in 0..3 {
            let calm = panel.submit(&key, "a quiet afternoon").await;
            let verdict = panel.verdict(&key, &calm, MINUTES).await;
            assert_eq!(verdict["status"], "approved", "{name}: {verdict}");
            let said = &panel.analysis(&calm).await["providers"][0];
            assert!(
                said["raw"].is_string() && said["failure"].is_null(),
                "{said}"
            );
        }
        assert_eq!(
            provider.connections(),
            1,
            "{name}: the connection is used again"
        );

        // The violent word is at the end of a text that the provider gets in several pieces.
        let long = format!("{} {}", "Calm words. ".repeat(2_000), FakeProvider::VIOLENT);
        let violent = panel.submit(&key, &long).await;
        let verdict = panel.verdict(&key, &violent, MINUTES).await;
        assert_eq!(verdict["status"], "rejected", "{name}: {verdict}");
        let confidence = &verdict["moderationResult"]["rule_violations"][0]["confidence"];
        let confidence = confidence.as_f64().unwrap();
        assert!(
            (confidence - wire.high()).abs() < 1e-9,
            "{name}: {confidence}"
        );
        let pieces = match wire {
            Wire::Http => 1,
            Wire::Azure => 3,
            Wire::OpenAi | Wire::NaturalLanguage | Wire::Mistral | Wire::Guardrail => 4,
            Wire::LlamaGuard | Wire::Policy | Wire::Judge => 5,
            Wire::Sightengine => 6,
            Wire::Hive => 40,
            Wire::Vision | Wire::Rekognition | Wire::HiveImages => 0,
        };
        assert_eq!(provider.answered(), 3 + pieces, "{name}");
    }
}
