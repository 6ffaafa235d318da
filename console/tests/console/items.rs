//! Items: the list, an item, and what people decide.

mod decisions;

use domain::{
    decision::{ImageProblem, Unchecked},
    id::MediaId,
    media::OnFailure,
    role::Role,
    rules::RuleEffect,
    score::Category,
};
use management::{Caller, people::Standing, people::invitations};
use poem::http::StatusCode;
use serde_json::json;
use sqlx::PgPool;
use uuid::Uuid;

use crate::{
    browser::{PASSWORD, Stage},
    seed::{HOSTILE, Judged, is_harmless, keyword},
};

#[sqlx::test(migrations = false)]
async fn items_are_listed_and_filtered_by_the_address(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let path = format!("/t/{}/items", stage.team);
    let mut viewer = stage.person("viewer@market.example", Role::Viewer).await;
    let empty = viewer.get(&path).await.text;
    assert!(empty.contains("No items yet"), "{empty}");
    assert!(empty.contains("<details class=\"fold\"><summary>Filters"));

    let (forum, shop) = (stage.site("Forum").await, stage.site("Shop").await);
    let clean = stage.judged(forum, Judged::text("A clean text")).await;
    let spam = Judged {
        app_media_id: Some("comment-7"),
        violations: vec![keyword("Spam", RuleEffect::Reject, 0..3)],
        ..Judged::text("Buy now")
    };
    let spam = stage.judged(shop, spam).await;
    let waiting = stage.pending(shop, " \n").await;
    let all = viewer.get(&path).await.text;
    for (media, text) in [
        (clean, "A clean text"),
        (spam, "Buy now"),
        (waiting, "Only white space"),
    ] {
        assert!(
            all.contains(&format!("{path}/{media}")) && all.contains(text),
            "{all}"
        );
    }
    assert!(
        all.contains("comment-7") && all.contains("nobody yet"),
        "{all}"
    );

    for (query, expected) in [
        ("status=rejected".to_owned(), vec![spam]),
        ("status=pending".to_owned(), vec![waiting]),
        (format!("site={shop}"), vec![spam, waiting]),
        (format!("site={shop}&status=rejected"), vec![spam]),
        ("app_media_id=comment-7".to_owned(), vec![spam]),
        (
            "since=2020-01-01T00:00".to_owned(),
            vec![clean, spam, waiting],
        ),
        ("until=2020-01-01T00%3A00".to_owned(), vec![]),
        (format!("site={}", Uuid::now_v7()), vec![]),
    ] {
        let page = viewer.get(&format!("{path}?{query}")).await;
        assert_eq!(page.status, StatusCode::OK, "{query}");
        assert!(page.text.contains("<details class=\"fold\" open>"));
        for media in [clean, spam, waiting] {
            let is_listed = page.text.contains(&format!("{path}/{media}"));
            assert_eq!(is_listed, expected.contains(&media), "{query}");
        }
        if expected.is_empty() {
            assert!(page.text.contains("No such items"), "{query}");
        }
    }
    for (query, problem) in [
        ("status=gone", "status-problem"),
        ("site=1", "site-problem"),
        ("since=yesterday", "since-problem"),
        ("until=2026-02-30T00:00", "until-problem"),
    ] {
        let page = viewer.get(&format!("{path}?{query}")).await;
        assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY, "{query}");
        assert!(page.text.contains(problem), "{query}: {}", page.text);
    }
}

#[sqlx::test(migrations = false)]
async fn the_next_page_keeps_the_filters(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let path = format!("/t/{}/items", stage.team);
    let site = stage.site("Forum").await;
    let oldest = stage.judged(site, Judged::text("The oldest text")).await;
    for number in 0..50 {
        let text = format!("Text {number}");
        stage.judged(site, Judged::text(&text)).await;
    }
    let mut viewer = stage.person("viewer@market.example", Role::Viewer).await;
    let page = viewer
        .get(&format!("{path}?status=approved&done=x"))
        .await
        .text;
    assert!(!page.contains(&oldest.to_string()), "{page}");
    let next = crate::browser::between(&page, "href=\"?", "\" rel=\"next\"");
    let next = next.replace("&#38;", "&");
    assert!(next.starts_with("status=approved&after="), "{next}");
    let page = viewer.get(&format!("{path}?{next}")).await.text;
    assert!(page.contains(&oldest.to_string()), "{page}");
    assert!(!page.contains("rel=\"next\""), "{page}");
}

#[sqlx::test(migrations = false)]
async fn the_page_of_an_item_says_at_its_top_why_it_has_its_status(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let site = stage.site("Forum").await;
    let mut viewer = stage.person("viewer@market.example", Role::Viewer).await;
    let failed = || {
        vec![Unchecked::ProviderFailed {
            provider: "openai".to_owned(),
            modality: domain::media::Modality::Text,
            detail: "connect to 10.0.0.7".to_owned(),
        }]
    };
    let review = || vec![keyword("Contact", RuleEffect::Review, 0..3)];
    let both = vec![
        keyword("Contact", RuleEffect::Review, 0..3),
        keyword("Payment", RuleEffect::Reject, 4..8),
        keyword("Fraud", RuleEffect::Reject, 4..8),
    ];
    for (violations, unchecked, on_failure, sentence) in [
        (
            vec![],
            vec![],
            OnFailure::Review,
            "Approved because no rule matched and nothing was left unchecked.",
        ),
        (
            both,
            failed(),
            OnFailure::Approve,
            "Rejected by the rule “Payment” and one other rule. The text contains",
        ),
        (
            review(),
            failed(),
            OnFailure::Approve,
            "Not checked: the analysis by openai failed.",
        ),
        (
            review(),
            vec![],
            OnFailure::Review,
            "Waits for a person, as the rule “Contact” asked.",
        ),
        (
            vec![],
            failed(),
            OnFailure::Review,
            "Waits for a person because the analysis by openai failed: the site’s setting is to review",
        ),
        (
            vec![],
            failed(),
            OnFailure::Reject,
            "Rejected because the analysis by openai failed: the site’s setting is to reject",
        ),
        (
            vec![],
            failed(),
            OnFailure::Approve,
            "Approved although the analysis by openai failed: the site’s setting is to approve",
        ),
    ] {
        let new = Judged {
            violations,
            unchecked,
            on_failure,
            scores: Some([(Category::Spam, 0.71)].into_iter().collect()),
            ..Judged::text("one two three")
        };
        let media = stage.judged(site, new).await;
        let page = viewer.get(&item(&stage, media)).await;
        assert_eq!(page.status, StatusCode::OK);
        let top = crate::browser::between(&page.text, "id=\"verdict\"", "</div>");
        assert!(top.contains(sentence), "{sentence}: {top}");
        assert!(
            !page.text.contains("10.0.0.7"),
            "details of failures are internal"
        );
        assert!(page.text.contains("0.71") && page.text.contains("width=\"71\""));
    }
    let listed = viewer.get(&format!("/t/{}/items", stage.team)).await.text;
    let marked = listed.matches("not everything was checked").count();
    assert_eq!(marked, 5, "{listed}");
    let media = stage.pending(site, "one").await;
    let page = viewer.get(&item(&stage, media)).await.text;
    assert!(
        page.contains("Not judged yet") && page.contains("data-live"),
        "{page}"
    );
}

#[sqlx::test(migrations = false)]
async fn what_strangers_wrote_is_shown_and_does_nothing(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let site = stage.site("Forum").await;
    let mut viewer = stage.person("viewer@market.example", Role::Viewer).await;
    let long = "x".repeat(100 * 1024);
    let bodies = [
        HOSTILE.to_owned(),
        format!("{HOSTILE}{long}"),
        "\u{202e}a\u{202d}".repeat(10_000),
    ];
    for body in bodies {
        let new = Judged {
            app_media_id: Some(HOSTILE),
            metadata: Some(
                json!({ HOSTILE: HOSTILE, "deep": [{ "a": HOSTILE }], "long": "y".repeat(9_000) }),
            ),
            violations: vec![keyword(HOSTILE, RuleEffect::Reject, 1..7)],
            ..Judged::text(&body)
        };
        let media = stage.judged(site, new).await;
        for path in [item(&stage, media), format!("/t/{}/items", stage.team)] {
            let page = viewer.get(&path).await.text;
            assert!(is_harmless(&page), "{page}");
            assert!(
                page.contains("U+202E") && page.len() < 1_000_000,
                "{}",
                page.len()
            );
        }
    }
    let marked = Judged {
        violations: vec![keyword("Contact", RuleEffect::Reject, 4..9)],
        ..Judged::text("one t\u{200b}wo")
    };
    let media = stage.judged(site, marked).await;
    let page = viewer.get(&item(&stage, media)).await.text;
    assert!(page.contains("one <mark>t</mark><bdi"), "{page}");
}

#[sqlx::test(migrations = false)]
async fn an_item_of_another_team_is_as_one_that_does_not_exist(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let site = stage.site("Forum").await;
    let media = stage.judged(site, Judged::text("secret")).await;
    let name = "Other".parse().unwrap();
    let caller = Caller::command_line(&stage.management);
    let other = management::teams::create(&caller, &name, None).await;
    let mut stage = stage;
    stage.team = other.unwrap().id;
    let mut foreign = stage.person("eve@other.example", Role::Lead).await;
    let missing = MediaId::from(Uuid::now_v7());
    let form = "decision=reject&seen_status=approved&reason=No";
    let pairs = [
        (
            foreign.get(&item(&stage, media)).await,
            foreign.get(&item(&stage, missing)).await,
        ),
        (
            foreign
                .post(&format!("{}/decision", item(&stage, media)), form)
                .await,
            foreign
                .post(&format!("{}/decision", item(&stage, missing)), form)
                .await,
        ),
    ];
    for (there, missing) in pairs {
        assert_eq!(there.status, StatusCode::NOT_FOUND);
        assert_eq!((there.status, there.text), (missing.status, missing.text));
    }
    assert!(stage.recorded("media.decide").await.is_empty());
    let listed = foreign
        .get(&format!("/t/{}/items?site={site}", stage.team))
        .await
        .text;
    assert!(!listed.contains("secret"), "{listed}");
}

#[sqlx::test(migrations = false)]
async fn an_image_is_described_and_an_admin_adds_it_to_a_hash_list(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let site = stage.site("Forum").await;
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let mut moderator = stage.person("mo@market.example", Role::Moderator).await;
    let new = Judged {
        unchecked: vec![Unchecked::ImageNotAnalysed {
            problem: ImageProblem::TooLarge,
        }],
        ..Judged::text("With an image")
    };
    let media = stage.judged(site, new).await;
    stage.image(media, [0xab; 32]).await;
    let path = item(&stage, media);
    let page = admin.get(&path).await.text;
    for shown in [
        "PNG",
        "640 × 480 pixels",
        "not stored",
        "90 of 100",
        &"ab".repeat(32),
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(
        page.contains("There is no preview. The image is no longer stored"),
        "{page}"
    );
    assert!(
        !page.contains("<img") && !page.contains("Add the image"),
        "{page}"
    );

    let created = admin
        .post(
            &format!("/t/{}/hash-lists/new", stage.team),
            "name=Known&kind=deny&max_distance=31",
        )
        .await;
    let (_, list) = created.leads_to().split_once("hash-lists/").unwrap();
    let list = list.split('?').next().unwrap().to_owned();
    assert!(admin.get(&path).await.text.contains("Add the image"));
    assert!(!moderator.get(&path).await.text.contains("Add the image"));
    let form = format!("list={list}&note=Seen+before");
    let refused = moderator.post(&format!("{path}/hash-list"), &form).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    let added = admin.post(&format!("{path}/hash-list"), &form).await;
    assert_eq!(added.leads_to(), format!("{path}?done=image-listed"));
    let twice = admin.post(&format!("{path}/hash-list"), &form).await;
    assert_eq!(twice.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        twice.text.contains("stands on the list already"),
        "{}",
        twice.text
    );
    let listed = admin
        .get(&format!("/t/{}/hash-lists/{list}", stage.team))
        .await
        .text;
    assert!(
        listed.contains(&path) && listed.contains("Seen before"),
        "{listed}"
    );
    assert_eq!(stage.recorded("hash_entry.create").await, ["Ada"]);
}

fn item(stage: &Stage, media: MediaId) -> String {
    format!("/t/{}/items/{media}", stage.team)
}

pub(crate) fn encoded(text: &str) -> String {
    let bytes = text.bytes().map(|byte| format!("%{byte:02X}"));
    bytes.collect()
}
