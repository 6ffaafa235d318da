//! Every provider with every fault: what it did not check is never approved, and the next in the order of preference is
//! asked instead.

use std::time::Duration;

use image::ImageFormat;
use serde_json::json;
use sqlx::PgPool;

use crate::support::{FakeProvider, Fault, Mode, Panel, Wire};

/// Longer than five attempts take.
const PATIENCE: Duration = Duration::from_secs(40);
const MINUTES: Duration = Duration::from_mins(4);
/// What a worker may hold, whatever it is answered.
const MEMORY: u64 = 600 << 20;

/// What a failure is to those who hold on to a provider.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Course {
    /// It may pass: an item has five attempts.
    Attempts,
    /// It is final.
    Once,
    /// The provider is paused for a while, then gets one request, and so on; no attempt is charged.
    Paused,
}

/// A file of providers may have so many.
const MOST: usize = 100;

/// Some of [`Fault::ALL`], which all are tried with one request each in `answers.rs`. Each provider has as many of them as there is
/// room for in a file, and each of them is had by several providers.
const FAULTS: [(&str, Mode, Course); 21] = [
    ("hang", Mode::Hang, Course::Attempts),
    ("500", Mode::Status(500), Course::Attempts),
    ("400", Mode::Status(400), Course::Once),
    ("302", Mode::Status(302), Course::Once),
    ("401", Mode::Status(401), Course::Paused),
    ("403", Mode::Status(403), Course::Attempts),
    ("429", Mode::Status(429), Course::Paused),
    ("now", Mode::Limited("0"), Course::Paused),
    ("limited", Mode::Limited("5"), Course::Paused),
    ("hidden", Mode::Hidden, Course::Paused),
    ("half", Mode::Half, Course::Attempts),
    ("foreign", Mode::Foreign, Course::Attempts),
    ("malformed", Mode::Malformed, Course::Attempts),
    ("huge", Mode::Huge, Course::Attempts),
    ("reset", Mode::Reset, Course::Attempts),
    ("cut", Mode::Wrong(Fault::CutOff), Course::Attempts),
    ("bomb", Mode::Wrong(Fault::Bomb), Course::Attempts),
    ("endless", Mode::Wrong(Fault::ENDLESS), Course::Attempts),
    (
        "headers",
        Mode::Wrong(Fault::Headers(5_000)),
        Course::Attempts,
    ),
    ("deep", Mode::Wrong(Fault::DEEP), Course::Attempts),
    ("metadata", Mode::Wrong(Fault::METADATA), Course::Once),
];

impl Course {
    /// The most requests that two items are worth which arrive together, one of them with another provider to go to.
    const fn most(self) -> usize {
        match self {
            // Each of the two; the breaker opens after five failures in a row, and then it is a probe every now and then.
            Self::Attempts => 5 + 5,
            Self::Once => 1 + 1,
            // After 0, 1, 3, 7, 15 and 31 seconds; or, of a breaker, 0, 5, 15 and 35 seconds. Both may be there first.
            Self::Paused => 7 + 1,
        }
    }
}

/// What a provider is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Text,
    Image,
}

impl Shown {
    async fn submit(self, panel: &Panel, key: &str, violent: bool) -> String {
        match self {
            Self::Text if violent => panel.submit(key, FakeProvider::VIOLENT).await,
            Self::Text => panel.submit(key, "a quiet afternoon").await,
            Self::Image => {
                let file = FakeProvider::picture(96, 96, ImageFormat::Png, violent);
                panel.submit_image(key, &file, None).await
            }
        }
    }

    /// What is told if this provider did not check it, and nobody else did.
    fn reason(self, provider: &str) -> String {
        match self {
            Self::Text => format!(
                "Not checked: the analysis by `{provider}` failed; no rule and no provider examined the text."
            ),
            Self::Image => {
                format!("Not checked: the analysis of the image by `{provider}` failed.")
            }
        }
    }
}

/// A provider that does nothing but fail, with a site that has no other, and one that has.
struct Case {
    provider: FakeProvider,
    course: Course,
    name: String,
    alone: String,
    helped: String,
}

#[sqlx::test(migrations = false)]
async fn every_provider_with_every_fault_ends_in_a_verdict_that_says_what_was_not_checked(
    pool: PgPool,
) {
    fail_in_every_way(&pool, Shown::Text, &Wire::OF_TEXTS).await;
}

#[sqlx::test(migrations = false)]
async fn every_provider_with_every_fault_over_an_image_ends_so_too(pool: PgPool) {
    fail_in_every_way(&pool, Shown::Image, &Wire::OF_IMAGES).await;
}

async fn fail_in_every_way(pool: &PgPool, shown: Shown, wires: &[Wire]) {
    let well = FakeProvider::openai(Mode::Well).await;
    let mut entries = vec![well.entry("well", "")];
    let mut providers = Vec::new();
    let each = (MOST - entries.len()) / wires.len();
    let mut faults = FAULTS.iter().cycle();
    for wire in wires {
        for (fault, mode, course) in faults.by_ref().take(each).copied() {
            // A guardrail without a filter scores nothing, and does not fail: `gaps.rs`.
            if (*wire, mode) == (Wire::Guardrail, Mode::Foreign) {
                continue;
            }
            let provider = FakeProvider::start(*wire, mode).await;
            let name = format!("{}-{fault}", wire.name());
            entries.push(provider.entry(&name, "deadline_seconds = 1"));
            providers.push((name, provider, course));
        }
    }
    let panel = Panel::start(pool, 1, &entries, PATIENCE, &["violence"]).await;
    let mut cases = Vec::new();
    for (name, provider, course) in providers {
        let alone = format!("{name}-alone");
        let helped = format!("{name}-helped");
        cases.push(Case {
            alone: panel.site(&alone, json!({ "providers": [name] })).await,
            helped: panel
                .site(&helped, json!({ "providers": [name, "well"] }))
                .await,
            name,
            provider,
            course,
        });
    }
    let mut submitted = Vec::new();
    for case in &cases {
        let alone = shown.submit(&panel, &case.alone, false).await;
        let helped = shown.submit(&panel, &case.helped, true).await;
        submitted.push((alone, helped));
    }
    for (case, (alone, helped)) in cases.iter().zip(submitted) {
        let (name, provider) = (&case.name, &case.provider);
        let verdict = panel.verdict(&case.alone, &alone, MINUTES).await;
        assert_eq!(verdict["status"], "pending_review", "{name}: {verdict}");
        let details = &verdict["moderationResult"];
        let reason = details["reason"].as_str().unwrap();
        assert_eq!(reason, shown.reason(name));
        assert_eq!(details.get("ai_analysis"), None, "{name}");

        let verdict = panel.verdict(&case.helped, &helped, MINUTES).await;
        assert_eq!(verdict["status"], "rejected", "{name}: {verdict}");
        assert_eq!(
            verdict["moderationResult"]["ai_analysis"]["violence"], 0.97,
            "{name}"
        );
        let analysis = panel.analysis(&helped).await;
        let said = analysis["providers"].as_array().unwrap();
        assert_eq!(said.last().unwrap()["provider"], "well", "{name}: {said:?}");
        let asked = provider.asked();
        let most = case.course.most();
        assert!((1..=most).contains(&asked), "{name}: {asked} requests");
    }
    let approved: i64 =
        sqlx::query_scalar("select count(*) from verdicts where status = 'approved'")
            .fetch_one(pool)
            .await
            .unwrap();
    assert_eq!(approved, 0);
    assert_eq!(well.answered(), cases.len());
    // Each of those alone.
    let unchecked = "gatehouse_unchecked_total{what=\"provider_failed\"}";
    let worker = &panel.workers[0];
    let counted = Panel::metric(worker, unchecked).await;
    assert_eq!(
        counted,
        Some(f64::from(u32::try_from(cases.len()).unwrap()))
    );
    let memory = worker.most_memory();
    assert!(memory < MEMORY, "{memory} bytes");
    let logged = panel.logged();
    assert!(logged.contains("a provider failed permanently for an item"));
    for secret in [
        FakeProvider::KEY,
        FakeProvider::VIOLENT,
        "a quiet afternoon",
    ] {
        assert!(!logged.contains(secret), "{secret}");
    }
}

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
        assert_eq!(provider.connections(), 1, "{name}: it is used again");

        // It hides at the end of a text that goes to the provider in several pieces.
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
