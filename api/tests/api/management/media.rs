//! Media: lists, items with their history, images, decisions.

mod authors;
mod decisions;
mod previews;

use std::time::Duration;

use domain::{
    decision::Unchecked,
    event::EventKind,
    id::MediaId,
    image_hash::{Hashed, Sha256Digest},
    media::{Modality, ModerationType, Status},
    score::{Category, Scores},
};
use queue::{Effect, FinishTx, JobId, NewJobs, Survivor};
use serde_json::{Value, json};
use sqlx::PgPool;
use store::{
    analysis::{Analysed, ProviderReport},
    endpoint,
    image::Examined,
    item_progress::{Progress, Stage},
    verdict::Concluded,
};

use super::document::assert_answers;
use crate::{
    app::{App, Tenant},
    client::Answer,
};

/// What a failure may tell of our network, which is nobody's business.
const INTERNAL: &str = "connect to 10.0.0.7 refused";

impl App {
    /// Applies what a worker's handler returned, as the queue does when the job ends.
    pub(super) async fn apply<E: Effect>(&self, effect: E) {
        let survivor = Survivor {
            job: JobId(1),
            attempt: 1,
            effect: &effect,
        };
        let mut db = self.pool.begin().await.unwrap();
        let mut tx = FinishTx {
            conn: &mut db,
            jobs: NewJobs::new(),
        };
        E::apply(&[survivor], &mut tx).await.unwrap();
        db.commit().await.unwrap();
    }

    /// The machine's verdict on an item.
    pub(super) async fn judge(&self, media: &str, status: Status) {
        let trace = json!({
            "evidence": [],
            "unchecked": [{ "what": "provider_failed", "provider": "openai", "detail": INTERNAL }],
            "unscored": [],
        });
        self.apply(Progress::from(Concluded {
            media: media.parse().unwrap(),
            status,
            moderation_type: ModerationType::Ai,
            details: r#"{"rule_violations":[],"processing_time_ms":1}"#.into(),
            trace: trace.to_string(),
            shadows: Vec::new(),
        }))
        .await;
    }

    /// The machine asks for a person because of these categories, and because rules with these names matched.
    pub(super) async fn flag(&self, media: &str, categories: &[&str], rules: &[&str]) {
        let violations: Vec<Value> = rules
            .iter()
            .map(|name| {
                json!({
                    "rule_id": uuid::Uuid::now_v7(),
                    "rule_name": name,
                    "rule_type": "keyword",
                    "confidence": 1.0,
                    "details": "A word of the list.",
                })
            })
            .collect();
        let details = json!({ "rule_violations": violations, "flagged_categories": categories });
        self.apply(Progress::from(Concluded {
            media: media.parse().unwrap(),
            status: Status::PendingReview,
            moderation_type: ModerationType::Ai,
            details: details.to_string(),
            trace: "{}".into(),
            shadows: Vec::new(),
        }))
        .await;
    }

    /// An item that waits for a moderator.
    pub(super) async fn in_review(&self, text: &str) -> String {
        let media = self.submitted(text).await;
        self.judge(&media, Status::PendingReview).await;
        media
    }
}

fn approval(media: &str) -> (String, Value) {
    let body = json!({ "decision": "approve", "reason": "It is fine." });
    (format!("/media/{media}/decision"), body)
}

fn ids(answer: &Answer) -> Vec<String> {
    let list = answer.ok();
    let data = list["data"].as_array().unwrap();
    data.iter()
        .map(|item| item["id"].as_str().unwrap().to_owned())
        .collect()
}

#[sqlx::test(migrations = false)]
async fn media_are_listed_newest_first_in_parts_and_by_what_is_asked_for(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let waiting = app.in_review("a").await;
    let rejected = app.submitted("b").await;
    app.judge(&rejected, Status::Rejected).await;
    let named = app
        .submit(json!({ "body": "c", "app_media_id": "é 1&2" }))
        .await
        .ok();
    let named = named["id"].as_str().unwrap().to_owned();
    let all = [named.as_str(), &rejected, &waiting];

    let whole = member.get("/media").await;
    assert_eq!(ids(&whole), all);
    assert_answers("GET", "/media", &whole.ok());
    let first = member.get("/media?limit=2").await.ok();
    let cursor = first["next_cursor"].as_str().unwrap();
    app.submitted("meanwhile").await;
    let rest = member.get(&format!("/media?limit=2&cursor={cursor}")).await;
    assert_eq!(ids(&rest), [waiting.as_str()]);
    assert_eq!(rest.ok()["next_cursor"], Value::Null);

    let accepted = whole.ok()["data"][1]["created_at"].clone();
    let accepted = accepted.as_str().unwrap();
    let site = app.tenant.site;
    for (query, found) in [
        ("status=pending_review".to_owned(), vec![waiting.as_str()]),
        ("status=rejected".to_owned(), vec![&rejected]),
        (format!("site_id={site}&status=rejected"), vec![&rejected]),
        ("app_media_id=%C3%A9%201%262".to_owned(), vec![&named]),
        (
            "app_media_id=%C3%A9%201%262&status=rejected".to_owned(),
            vec![],
        ),
        (format!("since={accepted}&status=rejected"), vec![&rejected]),
        (format!("until={accepted}"), vec![&waiting]),
        (format!("site_id={}", uuid::Uuid::now_v7()), vec![]),
    ] {
        let answer = member.get(&format!("/media?{query}")).await;
        assert_eq!(ids(&answer), found, "{query}");
    }
    let long = "a".repeat(1_025);
    for (name, value) in [
        ("status", "done"),
        ("site_id", "x"),
        ("since", "yesterday"),
        ("until", "2026-01-31"),
        ("app_media_id", "%00"),
        ("app_media_id", &long),
        ("author", ""),
        ("author", "%00"),
        ("author", &long),
        ("rule_id", "x"),
        ("rule_id", ""),
        ("category", "Hate"),
        ("category", "hate,spam"),
    ] {
        let answer = member.get(&format!("/media?{name}={value}")).await;
        answer.blames("invalid_request", &[name]);
    }
}

#[sqlx::test(migrations = false)]
async fn an_item_is_shown_with_everything_that_became_of_it_and_nothing_of_our_insides(
    pool: PgPool,
) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let mut conn = app.pool.acquire().await.unwrap();
    let endpoint = endpoint::create(
        &mut conn,
        app.tenant.site,
        "https://example.com/",
        EventKind::ALL,
    )
    .await
    .unwrap();
    let metadata = r#"{"z": 1.50, "a":1e2}"#;
    let image = "data:image/gif;base64,R0lGODlhYWJj";
    let key = &app.tenant.key;
    let body = format!(
        r#"{{"api_key":"{key}","body":"hello","content_base64":"{image}","metadata":{metadata}}}"#
    );
    let accepted = app.post_text(crate::app::SUBMIT, body).await.ok();
    let media = accepted["id"].as_str().unwrap().to_owned();
    let path = format!("/media/{media}");

    let pending = member.get(&path).await;
    assert_answers("GET", "/media/{media_id}", &pending.ok());
    assert!(pending.body.contains(metadata), "{}", pending.body);
    let pending = pending.ok();
    assert_eq!(
        (
            &pending["body"],
            &pending["status"],
            &pending["content_type"]
        ),
        (&json!("hello"), &json!("pending"), &json!("image"))
    );
    assert_eq!(
        (&pending["image_format"], &pending["image_bytes"]),
        (&json!("gif"), &json!(9))
    );
    assert_eq!(
        (&pending["analyses"], &pending["verdicts"]),
        (&json!([]), &json!([]))
    );
    let version = &pending["rule_group_versions"][0];
    assert_eq!(
        (&version["rule_group_name"], &version["number"]),
        (&json!("default"), &json!(1))
    );

    let id: MediaId = media.parse().unwrap();
    let scores: Scores = [(Category::Adult, 0.25)].into_iter().collect();
    // In two parts, and the first one twice: a job may run again.
    for _ in 0..2 {
        let refused = ProviderReport {
            provider: "openai".into(),
            modality: Modality::Text,
            scores: Scores::default(),
            elapsed_ms: 7,
            failure: Some("refused".into()),
            raw: None,
            cached_from: None,
            unseen: None,
        };
        app.apply(Progress::from(Stage::Begun {
            media: id,
            reports: vec![refused],
            pieces: Vec::new(),
        }))
        .await;
    }
    app.apply(Progress::from(Stage::Analysed {
        wait: Duration::ZERO,
        analysed: Analysed {
            media: id,
            team: app.tenant.team,
            scores: Some(scores),
            image_scored: None,
            providers: vec![ProviderReport {
                provider: "own".into(),
                modality: Modality::Image,
                scores,
                elapsed_ms: 3,
                failure: None,
                raw: Some(r#"{"scores":{"adult":0.25}}"#.into()),
                cached_from: None,
                unseen: None,
            }],
            unchecked: vec![Unchecked::ProviderFailed {
                provider: "openai".into(),
                modality: Modality::Text,
                detail: INTERNAL.into(),
            }],
            gaps: Vec::new(),
            has_parts: true,
        },
    }))
    .await;
    assert_eq!(app.count("select count(*) from analysis_parts").await, 0);
    app.judge(&media, Status::PendingReview).await;
    let (decision, body) = approval(&media);
    member.post(&decision, body).await.ok();

    let answer = member.get(&path).await;
    let item = answer.ok();
    assert_answers("GET", "/media/{media_id}", &item);
    assert!(!answer.body.contains(INTERNAL), "{}", answer.body);
    assert_eq!(
        item["analyses"][0]["providers"],
        json!([
            {
                "provider": "openai",
                "modality": "text",
                "scores": {},
                "elapsed_ms": 7,
                "failure": "refused",
                "raw": null,
                "cached_from": null,
            },
            {
                "provider": "own",
                "modality": "image",
                "scores": { "adult": 0.25 },
                "elapsed_ms": 3,
                "failure": null,
                "raw": "{\"scores\":{\"adult\":0.25}}",
                "cached_from": null,
            },
        ])
    );
    assert_eq!(
        item["analyses"][0]["unchecked"],
        json!([{ "what": "provider_failed", "message": "the analysis by `openai` failed" }])
    );
    let history: Vec<_> = item["verdicts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| {
            [
                &v["number"],
                &v["previous_status"],
                &v["status"],
                &v["moderation_type"],
            ]
        })
        .collect();
    assert_eq!(
        json!(history),
        json!([
            [2, "pending_review", "approved", "manual"],
            [1, "pending", "pending_review", "ai"]
        ])
    );
    assert_eq!(
        item["verdicts"][1]["trace"]["unchecked"],
        json!([{ "what": "provider_failed", "provider": "openai" }])
    );
    assert_eq!(
        item["verdicts"][0]["trace"],
        json!({
            "moderator": { "token_id": member.id().await, "token_name": "test" },
            "reason": "It is fine.",
        })
    );
    let events: Vec<_> = item["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| {
            let delivery = &event["deliveries"][0];
            [
                &event["kind"],
                &event["verdict"],
                &delivery["endpoint_id"],
                &delivery["state"],
            ]
        })
        .collect();
    assert_eq!(
        json!(events),
        json!([
            ["media.moderated", 2, endpoint, "pending"],
            ["media.moderated", 1, endpoint, "pending"],
            ["media.created", null, endpoint, "pending"]
        ])
    );
}

#[sqlx::test(migrations = false)]
async fn an_inline_image_is_a_file_to_save_and_nothing_else(pool: PgPool) {
    use base64::{Engine as _, prelude::BASE64_STANDARD};

    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    // Larger than what is read at a time; in ASCII, so that the test's client can show it.
    let image = format!("GIF89a{}", "0123456789".repeat(70_000));
    let accepted = app
        .submit(json!({ "content_base64": BASE64_STANDARD.encode(&image) }))
        .await
        .ok();
    let media = accepted["id"].as_str().unwrap();
    let path = format!("/media/{media}/image");
    let answer = member.get(&path).await;
    assert_eq!(answer.status, 200);
    assert!(answer.body == image, "the image is not the same");
    let disposition = format!("attachment; filename=\"{media}.gif\"");
    for (name, value) in [
        ("content-type", "image/gif"),
        ("content-length", &image.len().to_string()),
        ("content-disposition", &disposition),
        ("x-content-type-options", "nosniff"),
        ("cache-control", "no-store"),
    ] {
        assert_eq!(answer.header(name), Some(value), "{name}");
    }

    let text = app.submitted("a text has none").await;
    member
        .get(&format!("/media/{text}/image"))
        .await
        .problem(404, "not_found");
    let item = async || member.get(&format!("/media/{media}")).await.ok();
    assert_eq!(item().await["image"], Value::Null, "not examined yet");
    let hashed = Hashed {
        sha256: Sha256Digest::of(image.as_bytes()),
        pdq: None,
        quality: 7,
    };
    app.apply(Examined {
        matches: Vec::new(),
        media: media.parse().unwrap(),
        team: app.tenant.team,
        uses_ai: false,
        size: Some((640, 480)),
        hashed: Some(hashed),
        problem: None,
        marks: store::jobs::Marks::default(),
    })
    .await;
    let known = json!({
        "width": 640,
        "height": 480,
        "sha256": hashed.sha256,
        "pdq": null,
        "pdq_quality": 7,
        "problem": null,
    });
    assert_eq!(item().await["image"], known);
    // What the retention does.
    app.count(
        "with gone as (update media_images set bytes = null returning 1) select count(*) from gone",
    )
    .await;
    member.get(&path).await.problem(404, "not_found");
    let item = item().await;
    assert_answers("GET", "/media/{media_id}", &item);
    assert_eq!(item["image_format"], Value::Null);
    assert_eq!(item["image"], known, "what is known stays");
}

#[sqlx::test(migrations = false)]
async fn another_teams_media_are_neither_listed_nor_shown_nor_decided(pool: PgPool) {
    let app = App::start(pool).await;
    let other = Tenant::create(&app.pool, "other").await;
    let media = app.in_review("ours").await;
    let stranger = app.member(other.team).await;
    for query in [
        String::new(),
        "?status=pending_review".to_owned(),
        format!("?site_id={}", app.tenant.site),
    ] {
        let answer = stranger.get(&format!("/media{query}")).await;
        assert!(ids(&answer).is_empty(), "{query}");
    }
    let (path, body) = approval(&media);
    stranger
        .post(&path, body.clone())
        .await
        .problem(404, "not_found");
    let operator = app.operator().await;
    assert_eq!(ids(&operator.get("/media").await), [media.as_str()]);
    operator.post(&path, body).await.ok();
    let entry = operator.get("/audit-log?action=media.decide").await.ok();
    assert_eq!(entry["data"][0]["team_id"], json!(app.tenant.team));
}
