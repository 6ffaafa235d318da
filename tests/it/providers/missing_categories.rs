//! A category that a provider lists, but leaves out of its answer, is not checked. This applies to
//! the text and to the image separately.

use std::time::Duration;

use image::ImageFormat;
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::support::{FakeProvider, Mode, Panel, SOON, Wire};

const HOUR: Duration = Duration::from_hours(1);

const CALM: &str = "a quiet afternoon";

/// An item for which a provider leaves something out.
struct Gap {
    /// The provider, and how it answers.
    name: &'static str,
    wire: Wire,
    mode: Mode,
    members: &'static str,
    /// The provider for content that the first one does not examine.
    others: &'static [&'static str],
    has_text: bool,
    has_image: bool,
    /// The expected reason.
    reason: &'static str,
    text: &'static [&'static str],
    image: &'static [&'static str],
}

/// The categories of the rules.
const WANTED: [&str; 3] = ["adult", "violence", "illicit"];

const GAPS: [Gap; 8] = [
    Gap {
        name: "vision",
        wire: Wire::Vision,
        mode: Mode::UnsureOf("adult"),
        members: "",
        others: &[],
        has_text: false,
        has_image: true,
        reason: "Not checked: no provider scored the image for `adult`.",
        text: &[],
        image: &["adult", "illicit"],
    },
    Gap {
        name: "openai-image",
        wire: Wire::OpenAi,
        mode: Mode::UnsureOf("sexual"),
        members: "",
        others: &[],
        has_text: false,
        has_image: true,
        reason: "Not checked: no provider scored the image for `adult`.",
        text: &[],
        image: &["adult", "illicit"],
    },
    Gap {
        name: "openai-text",
        wire: Wire::OpenAi,
        mode: Mode::UnsureOf("illicit"),
        members: "",
        others: &[],
        has_text: true,
        has_image: false,
        reason: "Not checked: no provider scored the text for `illicit`.",
        text: &["illicit"],
        image: &[],
    },
    Gap {
        name: "http-text",
        wire: Wire::Http,
        mode: Mode::UnsureOf("adult"),
        members: "categories = [\"adult\", \"violence\"]",
        others: &[],
        has_text: true,
        has_image: false,
        reason: "Not checked: no provider scored the text for `adult`.",
        text: &["adult", "illicit"],
        image: &[],
    },
    Gap {
        name: "http-image",
        wire: Wire::Http,
        mode: Mode::UnsureOf("adult"),
        members: "categories = [\"adult\", \"violence\"]",
        others: &[],
        has_text: false,
        has_image: true,
        reason: "Not checked: no provider scored the image for `adult`.",
        text: &[],
        image: &["adult", "illicit"],
    },
    Gap {
        name: "guardrail",
        wire: Wire::Guardrail,
        mode: Mode::Unsure,
        members: "categories = [\"adult\", \"violence\"]",
        others: &[],
        has_text: true,
        has_image: false,
        reason: "Not checked: no provider scored the text for `violence`.",
        text: &["violence", "illicit"],
        image: &[],
    },
    // The text's score does not hide a gap of the image.
    Gap {
        name: "beside-a-text",
        wire: Wire::Vision,
        mode: Mode::UnsureOf("adult"),
        members: "",
        others: &["well"],
        has_text: true,
        has_image: true,
        reason: "Not checked: no provider scored the image for `adult`.",
        text: &[],
        image: &["adult", "illicit"],
    },
    // The image's score does not hide a gap of the text.
    Gap {
        name: "beside-an-image",
        wire: Wire::OpenAi,
        mode: Mode::UnsureOf("illicit"),
        members: "modalities = [\"text\"]",
        others: &["eyes"],
        has_text: true,
        has_image: true,
        reason: "Not checked: no provider scored the text for `illicit`.",
        text: &["illicit"],
        image: &["illicit"],
    },
];

#[sqlx::test(migrations = false)]
async fn case_64_a_category_that_nobody_scored_of_the_text_or_the_image_is_not_checked(
    pool: PgPool,
) {
    let well = FakeProvider::openai(Mode::Well).await;
    let eyes = FakeProvider::start(Wire::Vision, Mode::Well).await;
    let mut entries = vec![
        well.entry("well", "modalities = [\"text\"]"),
        eyes.entry("eyes", ""),
    ];
    let mut providers = Vec::new();
    for gap in &GAPS {
        let provider = FakeProvider::start(gap.wire, gap.mode).await;
        entries.push(provider.entry(gap.name, gap.members));
        providers.push(provider);
    }
    let panel = Panel::start(&pool, 1, &entries, HOUR, &WANTED).await;
    let file = FakeProvider::picture(96, 96, ImageFormat::Png, false);
    for (gap, provider) in GAPS.iter().zip(&providers) {
        let name = gap.name;
        let mut order = vec![name];
        order.extend(gap.others);
        let key = panel.site(name, json!({ "providers": order })).await;
        let media = match (gap.has_text, gap.has_image) {
            (text, true) => panel.submit_image(&key, &file, text.then_some(CALM)).await,
            (_, false) => panel.submit(&key, CALM).await,
        };
        let verdict = panel.verdict(&key, &media, SOON).await;
        assert_eq!(verdict["status"], "pending_review", "{name}: {verdict}");
        let reason = &verdict["moderationResult"]["reason"];
        assert_eq!(reason, gap.reason, "{name}");
        assert_eq!(provider.asked(), 1, "{name}");

        let (_, item) = panel
            .manage(Method::GET, &format!("/media/{media}"), &Value::Null)
            .await;
        let trace = &item["verdicts"][0]["trace"];
        let expected = json!({ "text": gap.text, "image": gap.image });
        assert_eq!(trace["unscored_of"], expected, "{name}: {trace}");
    }
    let unchecked = "gatehouse_unchecked_total{what=\"categories_not_scored\"}";
    let counted = Panel::metric(&panel.workers[0], unchecked).await;
    assert_eq!(counted, Some(8.0));

    // A provider that leaves out only categories without a rule is believed, and so is the next
    // one.
    let settings = json!({ "providers": ["openai-text", "http-text", "well"] });
    let key = panel.site("helped", settings).await;
    let media = panel.submit(&key, CALM).await;
    let verdict = panel.verdict(&key, &media, SOON).await;
    assert_eq!(verdict["status"], "approved", "{verdict}");
}
