use serde_json::{Value, json};

use super::{
    failure::failed,
    request::{Modalities, inputs},
};
use crate::problem::{Code, Refusal};

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
            let text = text.as_ref().and_then(crate::text::Text::as_str);
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
