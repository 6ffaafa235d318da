//! Input that other programs write a little differently, and that means what it means nevertheless: texts that were cut in the
//! middle of a character, and images as base64 of every kind. What means nothing is refused, with the mistake and its mend.

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD},
};
use serde_json::json;
use sqlx::PgPool;

use crate::{
    app::{App, STATUS, SUBMIT},
    client::Answer,
};

/// A picture with every digit of both alphabets.
fn picture() -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    file.extend([0xfb, 0xef, 0xbe, 0xff, 0xff, 0xff]);
    file.extend((0..=255_u8).cycle().take(1_001));
    file
}

impl App {
    /// Submits these members, as they are written.
    async fn submit_text(&self, members: &str) -> Answer {
        let key = &self.tenant.key;
        self.post_text(SUBMIT, format!(r#"{{"api_key":"{key}",{members}}}"#))
            .await
    }

    async fn stored_as<T>(&self, column: &str, answer: &Answer) -> T
    where
        T: for<'r> sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres> + Send + Unpin,
    {
        let id: uuid::Uuid = answer.ok()["id"].as_str().unwrap().parse().unwrap();
        let statement = format!(
            "select {column} from media m left join media_images i on i.media_id = m.id where m.id = $1"
        );
        sqlx::query_scalar(sqlx::AssertSqlSafe(statement))
            .bind(id)
            .fetch_one(&self.pool)
            .await
            .unwrap()
    }
}

/// What the only error says.
fn message(answer: &Answer, field: &str) -> String {
    let problem = answer.problem(400, "invalid_request");
    assert_eq!(problem["errors"][0]["field"], field, "{problem}");
    assert_eq!(problem["errors"].as_array().unwrap().len(), 1, "{problem}");
    problem["errors"][0]["message"].as_str().unwrap().to_owned()
}

#[sqlx::test(migrations = false)]
async fn a_text_that_was_cut_in_an_emoji_is_judged_with_a_replacement_character(pool: PgPool) {
    let app = App::start(pool).await;
    for (json, stored) in [
        (r#""see you \ud83d""#, "see you \u{fffd}"),
        (r#""\ude00 hello""#, "\u{fffd} hello"),
        (r#""a\uD83Db\uDE00c""#, "a\u{fffd}b\u{fffd}c"),
        (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
        (r#""\ud83c\udde9\ud83c""#, "🇩\u{fffd}"),
        // These are whole.
        (r#""\ud83d\ude00""#, "😀"),
        (r#""\\ud83d""#, r"\ud83d"),
        (r#""\\\ud83d\ude00""#, r"\😀"),
    ] {
        let answer = app.submit_text(&format!(r#""body":{json}"#)).await;
        assert_eq!(
            app.stored_as::<String>("body", &answer).await,
            stored,
            "{json}"
        );
    }
    // The limit counts what is stored.
    let longest = format!(r#""body":"{}\ud83d""#, "a".repeat(102_397));
    app.submit_text(&longest).await.ok();
    let longer = format!(r#""body":"{}\ud83d""#, "a".repeat(102_398));
    app.submit_text(&longer)
        .await
        .blames("text_too_large", &["body"]);
}

#[sqlx::test(migrations = false)]
async fn half_a_character_in_what_is_sent_back_is_refused_with_its_place_and_the_mend(
    pool: PgPool,
) {
    let app = App::start(pool).await;
    for (members, field) in [
        (r#""metadata":{"name":"Ada \ud83d"}"#, "metadata.name"),
        (
            r#""metadata":{"a":[{"b":"x"},{"c\"":"Ada \ud83d"}]}"#,
            r#"metadata.a[1].c\""#,
        ),
        (r#""metadata":{"Ada \ud83d":1}"#, r"metadata.Ada \ud83d"),
        (r#""app_media_id":"Ada \ud83d""#, "app_media_id"),
        (r#""rule_group_id":"\ud83d""#, "rule_group_id"),
        (
            r#""content_url":"https://example.com/\ud83d""#,
            "content_url",
        ),
        (r#""content_base64":"\ud83d""#, "content_base64"),
    ] {
        let answer = app.submit_text(&format!(r#""body":"hi",{members}"#)).await;
        let message = message(&answer, field);
        assert!(
            message.contains("the last emoji was cut in half"),
            "{message}"
        );
        assert!(message.contains("Array.from instead of slice"), "{message}");
        assert!(answer.header("ratelimit").is_some(), "it is counted");
    }
    // Together with a text that was cut, and with other mistakes.
    let both =
        r#""body":"\ud83d","app_media_id":"\ude00","metadata":{"a":"b\ud83dc"},"content_url":7"#;
    app.submit_text(both).await.blames(
        "invalid_request",
        &["content_url", "app_media_id", "metadata.a"],
    );
    // Metadata that is whole is echoed as it was written.
    let whole = r#"{"a":"\ud83d\ude00","b":"\\ud83d","c":1.50}"#;
    let answer = app
        .submit_text(&format!(r#""body":"\ud83d","metadata":{whole}"#))
        .await;
    assert_eq!(
        app.stored_as::<String>("metadata::text", &answer).await,
        whole
    );
    // What nobody reads can have anything, and a key is wrong anyway.
    app.submit_text(r#""body":"hi","other":"\ud83d""#)
        .await
        .ok();
    app.post_text(SUBMIT, r#"{"api_key":"\ud83d","body":"hi"}"#)
        .await
        .problem(401, "invalid_api_key");
    let key = &app.tenant.key;
    let status = format!(r#"{{"api_key":"{key}","media_id":"\ud83d"}}"#);
    app.post_text(STATUS, status)
        .await
        .blames("invalid_request", &["media_id"]);
}

#[sqlx::test(migrations = false)]
async fn the_same_cut_text_is_the_same_request(pool: PgPool) {
    let app = App::start(pool).await;
    let key = &app.tenant.key;
    let headers = [
        ("Content-Type", "application/json"),
        ("Idempotency-Key", "k"),
    ];
    let mut ids = Vec::new();
    // A text is what it says, however it is spelled.
    for json in [
        r#""a\ud83d""#,
        r#""a\uD83D""#,
        r#""a\ud83d""#,
        r#""\u0061\ufffd""#,
    ] {
        let body = format!(r#"{{"api_key":"{key}","body":{json}}}"#);
        let answer = app.request("POST", SUBMIT, &headers, body).await.ok();
        ids.push(answer["id"].clone());
    }
    ids.dedup();
    assert_eq!(ids.len(), 1);
    let other = format!(r#"{{"api_key":"{key}","body":"b\ud83d"}}"#);
    app.request("POST", SUBMIT, &headers, other)
        .await
        .problem(409, "idempotency_conflict");
}

#[sqlx::test(migrations = false)]
async fn an_image_is_read_however_its_base64_is_written(pool: PgPool) {
    let app = App::start(pool).await;
    let file = picture();
    let standard = STANDARD.encode(&file);
    let lines = |width: usize, end: &str| {
        let lines = standard.as_bytes().chunks(width);
        lines
            .map(|line| str::from_utf8(line).unwrap().to_owned() + end)
            .collect::<String>()
    };
    for written in [
        standard.clone(),
        lines(76, "\n"),
        lines(64, "\r\n"),
        format!("  {}\n\n", lines(60, "\t ")),
        STANDARD_NO_PAD.encode(&file),
        URL_SAFE.encode(&file),
        URL_SAFE_NO_PAD.encode(&file),
        format!("data:image/png;base64,{standard}"),
        format!("DATA:image/jpeg;BASE64,{standard}"),
        format!("Data:IMAGE/PNG;Base64,{}", URL_SAFE.encode(&file)),
        format!("data:image/png;name=a.png;base64,{}", lines(76, "\n")),
        format!(
            "data:;base64,{}",
            standard.replace('+', "%2B").replace('=', "%3D")
        ),
    ] {
        let answer = app.submit(json!({ "content_base64": written })).await;
        assert!(
            app.stored_as::<Vec<u8>>("bytes", &answer).await == file,
            "{written}"
        );
    }
}

#[sqlx::test(migrations = false)]
async fn what_is_no_base64_is_refused_with_the_mistake_and_the_mend(pool: PgPool) {
    let app = App::start(pool).await;
    let standard = STANDARD.encode(picture());
    for (written, code, said) in [
        (format!("{standard}!"), "invalid_image", "is '!'"),
        (
            standard[..standard.len() - 3].to_owned(),
            "invalid_image",
            "was cut off",
        ),
        (
            format!("{standard}{standard}"),
            "invalid_image",
            "goes on after its padding",
        ),
        (
            "https://example.com/a.png".to_owned(),
            "invalid_image",
            "give it in content_url",
        ),
        (
            format!("data:image/png,{standard}"),
            "invalid_image",
            "without ;base64",
        ),
        (
            format!("DATA:image/png;BASE64{standard}"),
            "invalid_image",
            "without a comma",
        ),
        (" \n ".to_owned(), "invalid_image", "only white space"),
        (" ".repeat(16_000_000), "invalid_image", "only white space"),
        (
            format!("{}\n", "AAAA".repeat(3_500_000)),
            "image_too_large",
            "decodes to more than",
        ),
    ] {
        let answer = app.submit(json!({ "content_base64": written })).await;
        answer.blames(code, &["content_base64"]);
        let message = answer.json()["errors"][0]["message"].to_string();
        assert!(message.contains(said), "{message}");
    }
    // The limit counts decoded bytes, and not the white space between them.
    let mut large = picture();
    large.resize(10 << 20, 7);
    let spaced = STANDARD
        .encode(&large)
        .replace("BwcHBwcHBwcHBwcH", "BwcHBwcHBwcHBwcH\n");
    assert!(spaced.len() > 14_800_000);
    app.submit(json!({ "content_base64": spaced })).await.ok();
    let answer = app
        .submit(json!({ "content_url": format!("Data:image/png;base64,{standard}") }))
        .await;
    assert!(message(&answer, "content_url").contains("give it in content_base64"));
}
