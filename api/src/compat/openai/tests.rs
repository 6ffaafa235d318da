use api_common::{Code, Refusal};
use serde_json::{Value, json};

use super::{
    failed,
    request::{Modalities, inputs},
};

/// Text, URL and data URI of each item that a request becomes; empty where it has none.
fn submissions(body: &Value) -> Vec<[String; 3]> {
    let asked = inputs(body.to_string().as_bytes()).unwrap();
    let submissions = asked.inputs.into_iter().map(|input| {
        let submission = input.into_submission();
        [
            submission.body,
            submission.content_url,
            submission.content_base64,
        ]
        .map(|text| {
            let text = text
                .as_ref()
                .and_then(api_common::text_decoding::Text::as_str);
            text.unwrap_or_default().to_owned()
        })
    });
    submissions.collect()
}

#[test]
fn a_text_is_one_item_and_texts_are_several() {
    assert_eq!(submissions(&json!({ "input": "a" })), [["a", "", ""]]);
    assert_eq!(
        submissions(&json!({ "input": ["a", "b"], "model": "omni-moderation-latest" })),
        [["a", "", ""], ["b", "", ""]]
    );
}

#[test]
fn parts_are_one_item() {
    let parts = json!({ "input": [
        { "type": "text", "text": "a" },
        { "type": "image_url", "image_url": { "url": "https://example.com/a.png" } },
        { "type": "text", "text": "b" },
    ] });
    assert_eq!(
        submissions(&parts),
        [["a\nb", "https://example.com/a.png", ""]]
    );
    let inline = "data:image/png;base64,AAAA";
    let parts = json!({ "input": [{ "type": "image_url", "image_url": { "url": inline } }] });
    assert_eq!(submissions(&parts), [["", "", inline]]);
    let asked = inputs(parts.to_string().as_bytes()).unwrap();
    let modalities = Modalities {
        text: false,
        image: true,
    };
    assert_eq!(asked.inputs[0].modalities(), modalities);
}

/// The text of each item that a request becomes.
fn texts(body: &str) -> Vec<String> {
    let inputs = inputs(body.as_bytes()).unwrap().inputs.into_iter();
    inputs
        .map(|input| input.into_submission().body.unwrap().into_string().unwrap())
        .collect()
}

#[test]
fn texts_can_be_cut_in_every_form() {
    for (body, expected) in [
        (r#"{"input":"see you \ud83d"}"#, &["see you \u{fffd}"][..]),
        (
            r#"{"input":["\ude00 a","b","\ud83d\ude00"]}"#,
            &["\u{fffd} a", "b", "😀"],
        ),
        (
            r#"{"input":[{"type":"text","text":"a\ud83d"},{"text":"\\ud83d","type":"text"}]}"#,
            &["a\u{fffd}\n\\ud83d"],
        ),
        (r#"{"other":"\ud83d","input":"a"}"#, &["a"]),
    ] {
        assert_eq!(texts(body), expected, "{body}");
    }
    let refused = |body: &str| {
        let refusal = inputs(body.as_bytes()).err().expect("refused");
        let (_, _, mut errors) = refusal.into_parts();
        (errors[0].field.clone(), errors.remove(0).message)
    };
    // It is repeated in the answer.
    let (field, message) = refused(r#"{"model":"\ud83d","input":"a"}"#);
    assert_eq!(field, "model");
    assert!(message.contains("an emoji was cut in half"), "{message}");
    assert_eq!(refused(r#"{"input":["\ud83"]}"#).0, "input");
}

#[test]
fn an_inline_image_has_no_case() {
    for inline in [
        "data:image/png;base64,AAAA",
        "DATA:image/jpeg;BASE64,AAAA",
        " Data:;base64,AA",
    ] {
        let body = json!({ "input": [{ "type": "image_url", "image_url": { "url": inline } }] });
        assert_eq!(submissions(&body), [["", "", inline]]);
    }
    let cut =
        r#"{"input":[{"type":"image_url","image_url":{"url":"https://example.com/\ud83d"}}]}"#;
    let mut asked = inputs(cut.as_bytes()).unwrap();
    let submission = asked.inputs.remove(0).into_submission();
    assert!(submission.content_url.unwrap().whole().is_err());
}

#[test]
fn what_is_no_input_is_refused_by_name() {
    let image = json!({ "type": "image_url", "image_url": { "url": "https://example.com/a.png" } });
    for body in [
        json!({ "input": 7 }),
        json!({ "input": [] }),
        json!({ "input": [7] }),
        json!({ "input": vec!["a"; 101] }),
        json!({ "input": [{ "type": "audio" }] }),
        json!({ "input": [image, image] }),
        json!({ "input": ["a", 7] }),
        json!({ "input": [7, "a"] }),
        json!({ "input": ["a", image] }),
        json!({ "input": null }),
        json!({ "input": { "type": "text", "text": "a" } }),
        json!({ "input": [{ "type": "text" }] }),
        json!({ "input": [{ "type": "text", "text": 7 }] }),
        json!({ "input": [{ "type": "image_url" }] }),
        json!({ "input": [{ "type": "image_url", "image_url": "https://example.com/a.png" }] }),
        json!({ "model": "omni-moderation-latest" }),
    ] {
        let refusal = inputs(body.to_string().as_bytes()).err().expect("refused");
        let (code, _, errors) = refusal.into_parts();
        assert_eq!(code, Code::InvalidRequest, "{body}");
        assert_eq!(errors[0].field, "input", "{body}");
    }
}

#[test]
fn the_name_of_a_model_is_short_because_it_is_repeated() {
    for (bytes, is_short) in [(1_000, true), (1_001, false)] {
        let body = json!({ "input": "a", "model": "m".repeat(bytes) });
        let asked = inputs(body.to_string().as_bytes());
        assert_eq!(asked.is_ok(), is_short, "{bytes} bytes");
    }
}

#[tokio::test]
async fn a_refusal_is_in_their_format() {
    let refusal = Refusal::invalid_field("body", "is too large");
    let mut response = failed(refusal);
    assert_eq!(response.status(), 400);
    assert_eq!(response.content_type(), Some("application/json"));
    let body: Value = response.take_body().into_json().await.unwrap();
    assert_eq!(
        body,
        json!({ "error": {
            "message": "input is too large",
            "type": "invalid_request_error",
            "param": "input",
            "code": "invalid_request",
        } })
    );
    assert_eq!(failed(Refusal::invalid_api_key()).status(), 401);
}
