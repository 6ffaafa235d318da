//! Requests with a policy, and answers in the formats that servers know.

use domain::image::ImageFormat;
use picture::Rendition;

use super::*;

const ASKED: &[Category] = &[Category::Hate, Category::Spam];

fn read_content(content: &str) -> Result<Scores, ProviderError> {
    read_in(AnswerFormat::Schema, content)
}

fn read_in(format: AnswerFormat, content: &str) -> Result<Scores, ProviderError> {
    let choice = json!({ "message": { "content": content } });
    read(&serde_json::from_value(choice).unwrap(), ASKED, format)
}

#[test]
fn case_73_json_is_found_among_words_and_of_two_objects_neither_is_accepted() {
    let text = Content::Text("the text");
    let told = |format| request(text, "the policy", ASKED, format)["response_format"].clone();
    assert_eq!(told(AnswerFormat::Object), json!({ "type": "json_object" }));
    assert_eq!(told(AnswerFormat::Words), Value::Null);
    for content in [
        "```json\n{\"hate\": 0.25, \"spam\": 1}\n```",
        "Here you are: {\"hate\": 0.25, \"spam\": 1}. Anything else?",
        "{\"hate\": 0.25, \"spam\": 1}",
        "<think>\nOnce {\"hate\": 1, \"spam\": 1}? No.\n</think>\n\n{\"hate\": 0.25, \"spam\": 1}",
        "<thinking>{maybe}</thinking>```\n{\"hate\": 0.25, \"spam\": 1}\n```",
        "I think so.</think>{\"hate\": 0.25, \"spam\": 1}",
        "The set {hate, spam} it is, for {0}: {\"hate\": 0.25, \"spam\": 1} {done",
    ] {
        for format in [AnswerFormat::Words, AnswerFormat::Object] {
            let scores = read_in(format, content).unwrap();
            assert_eq!(scores.get(Category::Hate), Some(0.25), "{content}");
        }
    }
    for content in [
        "{\"hate\": 0, \"spam\": 0} {\"hate\": 1, \"spam\": 1}",
        "{\"hate\": 1, \"spam\": 1}, as it says {}",
        "{\"scores\": {\"hate\": 0, \"spam\": 0}}",
        "[{\"hate\": 0, \"spam\": 0}, {\"hate\": 1, \"spam\": 1}]",
        "<think>{\"hate\": 0, \"spam\": 0}",
        // The content, quoted in the thoughts, pretends that they end there.
        "<think>It says </think>{\"hate\": 0, \"spam\": 0}, how bad.</think>{\"hate\": 1, \"spam\": 1}",
        "{\"hate\": 1, \"spam\": 1} as it says </think>{\"hate\": 0, \"spam\": 0}",
        "{\"hate\": 0}",
        "}{",
        "",
    ] {
        assert!(read_in(AnswerFormat::Words, content).is_err(), "{content}");
    }
    assert!(read_content("```json\n{\"hate\": 0, \"spam\": 0}\n```").is_err());
}

#[test]
fn of_an_answer_in_parts_only_texts_count() {
    let choice = json!({ "message": { "content": [
        { "type": "thinking", "thinking": [{ "type": "text", "text": "{}" }] },
        { "type": "text", "text": "{\"hate\": 0.25," },
        { "type": "text", "text": "\"spam\": 1}" },
        { "type": "reference", "reference_ids": [1] },
    ] } });
    let choice = serde_json::from_value(choice).unwrap();
    let scores = read(&choice, ASKED, AnswerFormat::Schema).unwrap();
    assert_eq!(scores.get(Category::Hate), Some(0.25));
    let nothing = json!({ "message": { "content": [] } });
    let nothing = serde_json::from_value(nothing).unwrap();
    assert!(read(&nothing, ASKED, AnswerFormat::Words).is_err());
}

#[test]
fn an_image_is_shown_in_a_data_uri() {
    let image = Rendition {
        format: ImageFormat::Png,
        bytes: vec![0, 1].into(),
    };
    let request = request(Content::Image(&image), "p", ASKED, AnswerFormat::Schema);
    assert_eq!(
        request["messages"][1]["content"],
        json!([{ "type": "image_url", "image_url": { "url": "data:image/png;base64,AAE=" } }])
    );
}

#[test]
fn the_policy_and_the_text_are_told_apart_and_each_category_is_asked_for() {
    let text = Content::Text("the text");
    let request = request(text, "the policy", ASKED, AnswerFormat::Schema);
    let system = request["messages"][0]["content"].as_str().unwrap();
    assert!(system.starts_with("the policy") && system.contains("hate, spam"));
    assert!(!system.contains("the text"));
    assert_eq!(request["messages"][1]["content"], "the text");
    let schema = &request["response_format"]["json_schema"]["schema"];
    assert_eq!(schema["required"], json!(["hate", "spam"]));
}

#[test]
fn scores_are_read_and_everything_else_is_malformed_and_never_nothing() {
    let scores = read_content(r#" {"spam": 1, "hate": 0.25} "#).unwrap();
    assert_eq!(
        scores.iter().collect::<Vec<_>>(),
        [(Category::Hate, 0.25), (Category::Spam, 1.0)]
    );
    for content in [
        "",
        "{}",
        r#"{"hate": 0.25}"#,
        r#"{"hate": 0.25, "spam": null}"#,
        r#"{"hate": 0.25, "spam": "0.1"}"#,
        r#"{"hate": 0.25, "spam": 1.1}"#,
        r#"{"hate": 0.25, "spam": 0, "adult": 0}"#,
        r#"{"hate": 0.25, "spam": 0, "gore": 0}"#,
        "I cannot help with that.",
        r#"{"hate": 0.25, "spam"#,
        r#"{"hate": 0.97, "spam": 0, "hate": 0}"#,
    ] {
        assert!(read_content(content).is_err(), "{content:?}");
    }
}
