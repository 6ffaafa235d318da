//! Every provider with every fault: what it did not check is never approved, and the next provider
//! in the order of preference is asked instead.

mod handling;
mod without_faults;

use std::time::Duration;

use image::ImageFormat;
use serde_json::json;
use sqlx::PgPool;

use crate::support::{FakeProvider, Mode, Panel, Wire};
use handling::{Course, FAULTS, MOST};

/// Longer than five attempts take.
const PATIENCE: Duration = Duration::from_secs(40);

const MINUTES: Duration = Duration::from_mins(4);

/// The most memory of a worker, whatever providers answer.
const MEMORY: u64 = 600 << 20;

/// The content that a provider gets.
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

    /// The reason if neither this provider nor another one checked the item.
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

/// A provider that always fails, a site that has only this provider, and a site that has a second
/// one.
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
            // A guardrail without a filter scores nothing, which is no failure: see `gaps.rs`.
            if (*wire, mode) == (Wire::Guardrail, Mode::Foreign) {
                continue;
            }
            let provider = FakeProvider::start(*wire, mode).await;
            let name = format!("{}-{fault}", wire.name());
            let is_silent = mode == Mode::Hang;
            // All others answer in time, however busy the machine is.
            let members = if is_silent {
                "deadline_seconds = 1"
            } else {
                ""
            };
            entries.push(provider.entry(&name, members));
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
    // One for each site without a second provider.
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
