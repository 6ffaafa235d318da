use api_common::{Code, Refusal};
use domain::{
    id::MediaId,
    media::{Status, StatusVocabulary},
    score::Category,
    submission::SubmissionLimits,
};
use poem::http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    super::submit_and_wait::Judged, Attribute, discovery, error::Failed, request::Asked,
    response::Analysis, sentences,
};
use crate::public::Verdict;

fn asked(body: &Value) -> Result<Asked, Refusal> {
    Asked::parse(body.to_string().as_bytes(), &SubmissionLimits::default())
}

fn judged(scores: &[(Category, f64)]) -> Judged {
    let verdict = Verdict {
        media: MediaId::from(Uuid::from_u128(7)),
        status: Status::Rejected,
        vocabulary: StatusVocabulary::State,
        details: None,
    };
    Judged::with(verdict, scores)
}

fn answer(body: &Value, judged: &[Judged]) -> Value {
    let (_, _, asked) = asked(body).unwrap().into_parts();
    let Ok(analysis) = Analysis::of(asked, judged) else {
        panic!("there are scores");
    };
    serde_json::to_value(analysis).unwrap()
}

#[test]
fn an_attribute_is_the_highest_of_its_categories_and_nothing_if_one_was_not_checked() {
    let both = judged(&[(Category::Harassment, 0.2), (Category::Hate, 0.7)]);
    let one = judged(&[(Category::Harassment, 0.2)]);
    let score = |name: &str, judged: &Judged| Attribute::named(name).unwrap().score(judged);
    assert_eq!(score("TOXICITY", &both), Some(0.7));
    assert_eq!(score("TOXICITY@6", &both), Some(0.7));
    assert_eq!(score("TOXICITY_EXPERIMENTAL", &both), Some(0.7));
    assert_eq!(score("INSULT", &both), Some(0.2));
    assert_eq!(score("TOXICITY", &one), None);
    assert_eq!(score("PROFANITY", &both), None);
    assert_eq!(Attribute::named("KINDNESS"), None);
}

#[test]
fn a_comment_can_be_cut_and_what_is_repeated_cannot() {
    let parse = |comment: &str, token: &str| {
        let body = format!(
            r#"{{"comment":{{"text":{comment}}},"clientToken":{token},"requestedAttributes":{{"TOXICITY":{{}}}}}}"#
        );
        Asked::parse(body.as_bytes(), &SubmissionLimits::default())
    };
    for (comment, text) in [
        (r#""see you \ud83d""#, "see you \u{fffd}"),
        (r#""\ude00 a. b""#, "\u{fffd} a. b"),
        (r#""\ud83d\ude00 \\ud83d""#, "😀 \\ud83d"),
    ] {
        let (whole, _, rest) = parse(comment, r#""mine""#).unwrap().into_parts();
        assert_eq!(whole.body.unwrap().as_str(), Some(text));
        // A half counts as one UTF-16 unit, as it does for the client.
        assert_eq!(rest.whole.end, text.encode_utf16().count());
    }
    for (comment, token, field) in [
        (r#""a""#, r#""\ud83d""#, "clientToken"),
        ("7", r#""mine""#, "comment.text"),
        ("null", r#""mine""#, "comment.text"),
    ] {
        let refusal = parse(comment, token).err().expect("refused");
        let (_, _, errors) = refusal.into_parts();
        assert_eq!(errors[0].field, field);
    }
}

#[test]
fn an_answer_has_what_was_asked_for() {
    let body = json!({
        "comment": { "text": "a 😀 text" },
        "requestedAttributes": {
            "TOXICITY": {},
            "IDENTITY_ATTACK": { "scoreThreshold": 0.8, "scoreType": "PROBABILITY" },
            "SEVERE_TOXICITY": null,
        },
        "languages": ["en"],
        "clientToken": "mine",
    });
    let scores = [(Category::Harassment, 0.25), (Category::Hate, 0.75)];
    let score = json!({ "value": 0.75, "type": "PROBABILITY" });
    assert_eq!(
        answer(&body, &[judged(&scores)]),
        json!({
            "attributeScores": {
                "TOXICITY": {
                    "summaryScore": score,
                    "spanScores": [{ "begin": 0, "end": 9, "score": score }],
                },
            },
            "languages": ["en"],
            "clientToken": "mine",
            "gatehouse": {
                "media_id": Uuid::from_u128(7),
                "status": "rejected",
                "action": "block",
                "reason": null,
                "unscored": ["SEVERE_TOXICITY"],
            },
        })
    );
}

#[test]
fn sentences_have_scores_of_their_own_if_they_are_wanted() {
    let mut body = json!({
        "comment": { "text": "What a day! 😀 You fool." },
        "requestedAttributes": { "INSULT": {} },
        "spanAnnotations": true,
    });
    let (_, parts, _) = asked(&body).unwrap().into_parts();
    assert_eq!(parts.len(), 2);
    let insults = [0.5, 0.1, 0.9].map(|score| judged(&[(Category::Harassment, score)]));
    let spans = answer(&body, &insults)["attributeScores"]["INSULT"]["spanScores"].clone();
    assert_eq!(
        spans,
        json!([
            { "begin": 0, "end": 11, "score": { "value": 0.1, "type": "PROBABILITY" } },
            { "begin": 12, "end": 24, "score": { "value": 0.9, "type": "PROBABILITY" } },
        ])
    );
    body["spanAnnotations"] = false.into();
    let (_, parts, _) = asked(&body).unwrap().into_parts();
    assert!(parts.is_empty());
}

#[test]
fn a_long_text_has_a_bounded_number_of_spans_that_cover_all_of_it() {
    let text = "Bär. 😀 Fox.  ".repeat(1_000);
    let found = sentences(&text);
    assert!(found.len() <= 50 && found.len() > 40, "{}", found.len());
    let units: Vec<u16> = text.encode_utf16().collect();
    let mut end = 0;
    for (span, sentence) in &found {
        let between = String::from_utf16(&units[end..span.begin]).unwrap();
        assert_eq!(between.trim(), "");
        let there = String::from_utf16(&units[span.begin..span.end]).unwrap();
        assert_eq!(there, *sentence);
        end = span.end;
    }
    assert_eq!(String::from_utf16(&units[end..]).unwrap().trim(), "");
    for alone in ["", "  ", "One sentence.", " One sentence. "] {
        assert!(sentences(alone).is_empty(), "{alone}");
    }
}

#[test]
fn a_request_is_refused_by_the_member_that_is_wrong() {
    let wanted = json!({ "TOXICITY": {} });
    for (field, body) in [
        ("comment", json!({ "requestedAttributes": wanted })),
        (
            "comment.text",
            json!({ "comment": { "text": " " }, "requestedAttributes": wanted }),
        ),
        (
            "comment.type",
            json!({ "comment": { "text": "a", "type": "HTML" }, "requestedAttributes": wanted }),
        ),
        ("requestedAttributes", json!({ "comment": { "text": "a" } })),
        (
            "requestedAttributes",
            json!({ "comment": { "text": "a" }, "requestedAttributes": {} }),
        ),
        (
            "requestedAttributes",
            json!({ "comment": { "text": "a" }, "requestedAttributes": { "KINDNESS": {} } }),
        ),
        (
            "requestedAttributes",
            json!({ "comment": { "text": "a" }, "requestedAttributes": { "TOXICITY": { "scoreType": "RANK" } } }),
        ),
        (
            "requestedAttributes",
            json!({ "comment": { "text": "a" }, "requestedAttributes": { format!("TOXICITY@{}", "1".repeat(1_000)): {} } }),
        ),
        (
            "clientToken",
            json!({ "comment": { "text": "a" }, "requestedAttributes": wanted, "clientToken": "a".repeat(1_001) }),
        ),
        (
            "languages",
            json!({ "comment": { "text": "a" }, "requestedAttributes": wanted, "languages": vec!["en"; 51] }),
        ),
        (
            "languages",
            json!({ "comment": { "text": "a" }, "requestedAttributes": wanted, "languages": ["a".repeat(1_001)] }),
        ),
    ] {
        let refusal = asked(&body).err().expect("refused");
        let (code, _, errors) = refusal.into_parts();
        assert_eq!(code, Code::InvalidRequest, "{body}");
        assert_eq!(errors[0].field, field, "{body}");
    }
    let body = json!({ "comment": { "text": "a" }, "requestedAttributes": { "PROFANITY": {} } });
    let (_, _, rest) = asked(&body).unwrap().into_parts();
    let Err(Failed::Refused(refusal)) = Analysis::of(rest, &[judged(&[])]) else {
        panic!("nothing has a score");
    };
    assert_eq!(refusal.into_parts().2[0].field, "requestedAttributes");
}

#[tokio::test]
async fn a_text_that_nobody_could_score_is_perspectives_own_error() {
    for (languages, named) in [
        (json!(null), json!(["und"])),
        (json!(["de"]), json!(["de"])),
    ] {
        let body = json!({
            "comment": { "text": "a" },
            "requestedAttributes": { "PROFANITY": {}, "TOXICITY@6": {} },
            "languages": languages,
        });
        let (_, _, rest) = asked(&body).unwrap().into_parts();
        let failed = Analysis::of(rest, &[judged(&[])]).expect_err("it has no score");
        let mut response = failed.into_response();
        assert_eq!(response.status(), 400);
        let body: Value = response.take_body().into_json().await.unwrap();
        let error = &body["error"];
        assert_eq!(error["status"], "INVALID_ARGUMENT");
        assert_eq!(
            error["details"][0]["errorType"],
            "LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE"
        );
        assert_eq!(
            error["details"][0]["languageNotSupportedByAttributeError"],
            json!({ "detectedLanguages": named, "attribute": "TOXICITY@6" })
        );
        assert_eq!(error["details"][1]["reason"], "NOT_CHECKED");
        assert_eq!(error["details"][1]["metadata"]["status"], "rejected");
    }
}

#[tokio::test]
async fn a_refusal_is_in_googles_format() {
    let failed = |refusal: Refusal| Failed::from(refusal).into_response();
    let mut response = failed(Refusal::invalid_field("body", "is too large"));
    assert_eq!(response.status(), 400);
    assert_eq!(response.content_type(), Some("application/json"));
    let body: Value = response.take_body().into_json().await.unwrap();
    assert_eq!(
        body,
        json!({ "error": {
            "code": 400,
            "message": "comment.text is too large",
            "status": "INVALID_ARGUMENT",
            "details": [
                {
                    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                    "reason": "INVALID_REQUEST",
                    "domain": "gatehouse",
                },
                {
                    "@type": "type.googleapis.com/google.rpc.BadRequest",
                    "fieldViolations": [{ "field": "comment.text", "description": "is too large" }],
                },
            ],
        } })
    );
    assert_eq!(failed(Refusal::invalid_api_key()).status(), 401);
}

#[tokio::test]
async fn the_description_names_the_address_at_which_it_was_found() {
    let mut headers = HeaderMap::new();
    headers.insert("host", HeaderValue::from_static("moderation.example.com"));
    for (forwarded, root) in [
        (None, "http://moderation.example.com/compat/perspective/"),
        (
            Some("https"),
            "https://moderation.example.com/compat/perspective/",
        ),
    ] {
        if let Some(scheme) = forwarded {
            headers.insert("x-forwarded-proto", HeaderValue::from_static(scheme));
        }
        let mut response = discovery::document(&headers);
        let body: Value = response.take_body().into_json().await.unwrap();
        assert_eq!(body["rootUrl"], root);
    }
}
