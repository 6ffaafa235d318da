//! The OpenAPI document: complete, in agreement with the service, and served.

use std::collections::BTreeSet;

use domain::{
    decision::ModerationDetails,
    event::{Envelope, EventData, EventKind, MediaCreated, MediaModerated},
    media::{ContentType, ModerationType, Status},
};
use serde_json::{Value, json, value::RawValue};
use sqlx::PgPool;

use crate::{
    app::{App, SUBMIT},
    openapi_files,
};

fn document() -> Value {
    openapi_files::public().clone()
}

fn schema(document: &Value, name: &str) -> Value {
    document["components"]["schemas"][name].clone()
}

fn properties(schema: &Value) -> BTreeSet<String> {
    schema["properties"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect()
}

fn members(value: &Value) -> BTreeSet<String> {
    value.as_object().unwrap().keys().cloned().collect()
}

#[test]
fn it_is_openapi_3_0_and_the_same_each_time() {
    let text = api::openapi_documents::public();
    assert_eq!(text, api::openapi_documents::public());
    assert!(text.ends_with("}\n"));
    let document = document();
    assert_eq!(document["openapi"], "3.0.3");
    assert_eq!(document["info"]["version"], "1.0.0");
    assert_eq!(document["servers"][0]["url"], "/functions/v1");
    assert!(document.get("webhooks").is_none());
    let operations: Vec<_> = document["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, methods)| {
            methods
                .as_object()
                .unwrap()
                .keys()
                .map(move |method| format!("{method} {path}"))
        })
        .collect();
    assert_eq!(
        operations,
        [
            "post /submit-media",
            "post /get-media-status",
            "get /get-media-status"
        ]
    );
}

#[test]
fn every_answer_declares_its_request_id_and_every_refusal_is_a_problem() {
    let document = document();
    for methods in document["paths"].as_object().unwrap().values() {
        for operation in methods.as_object().unwrap().values() {
            for (status, response) in operation["responses"].as_object().unwrap() {
                assert!(response["headers"]["X-Request-Id"].is_object(), "{status}");
                assert_eq!(
                    response["headers"]["Retry-After"].is_object(),
                    status == "503" || status == "429"
                );
                for limit in ["RateLimit", "RateLimit-Policy"] {
                    let known_key = !matches!(status.as_str(), "401" | "408" | "413" | "415");
                    assert_eq!(
                        response["headers"][limit].is_object(),
                        known_key,
                        "{status}"
                    );
                }
                let content = members(&response["content"]);
                let expected = if status == "200" {
                    "application/json"
                } else {
                    "application/problem+json"
                };
                assert_eq!(content, BTreeSet::from([expected.to_owned()]));
            }
        }
    }
}

/// A type without a name gets one from generators: its parent's and the property's, or the singular of the property for an item of
/// a list.
#[test]
fn no_schema_is_called_like_the_property_of_another() {
    for document in [openapi_files::public(), openapi_files::management()] {
        let schemas = document["components"]["schemas"].as_object().unwrap();
        for (parent, schema) in schemas {
            let Some(properties) = schema["properties"].as_object() else {
                continue;
            };
            for (property, its) in properties {
                let words = property.split('_').filter(|word| !word.is_empty());
                let name: String = words
                    .map(|word| word[..1].to_uppercase() + &word[1..])
                    .collect();
                let is_named = its.to_string().contains("\"$ref\"");
                let given = if its["items"].is_object() {
                    name.trim_end_matches('s').to_owned()
                } else {
                    format!("{parent}{name}")
                };
                let is_taken = schemas.contains_key(&given);
                assert!(
                    is_named || !is_taken || is_plain(its),
                    "{parent}.{property}: {given}"
                );
            }
        }
    }
}

/// Whether this has no bounds, values or properties, so that generators need no type for it.
fn is_plain(schema: &Value) -> bool {
    let schema = schema.get("items").unwrap_or(schema);
    ["maxLength", "pattern", "enum", "properties"]
        .iter()
        .all(|bound| schema.get(bound).is_none())
}

#[test]
fn callbacks_describe_the_events_that_the_domain_writes() {
    let document = document();
    let at = chrono::DateTime::from_timestamp_micros(1_767_225_600_000_001).unwrap();
    let id = uuid::Uuid::from_u128(1);
    let metadata = RawValue::from_string("{}".into()).unwrap();
    let created = EventData::Created(MediaCreated {
        media_id: id.into(),
        app_media_id: Some("a"),
        site_id: id.into(),
        status: Status::Pending,
        content_type: ContentType::Text,
        created_at: at,
        metadata: Some(&metadata),
    });
    let moderated = EventData::Moderated(MediaModerated {
        media_id: id.into(),
        app_media_id: Some("a"),
        site_id: id.into(),
        status: Status::Approved,
        previous_status: Status::Pending,
        moderation_type: ModerationType::Ai,
        moderated_at: at,
        moderation_details: Some(&metadata),
        metadata: Some(&metadata),
    });
    for (kind, data, name) in [
        (EventKind::MediaCreated, created, "MediaCreated"),
        (EventKind::MediaModerated, moderated, "MediaModerated"),
    ] {
        let event: Value = serde_json::from_slice(
            &Envelope {
                event: kind,
                timestamp: at,
                data,
            }
            .to_body(),
        )
        .unwrap();
        assert_eq!(
            members(&event),
            properties(&schema(&document, &format!("{name}Event")))
        );
        assert_eq!(
            members(&event["data"]),
            properties(&schema(&document, name))
        );
        let callback = &document["paths"]["/submit-media"]["post"]["callbacks"][kind.as_str()];
        let post = &callback.as_object().unwrap().values().next().unwrap()["post"];
        let example = &post["requestBody"]["content"]["application/json"]["example"];
        assert_eq!(example["event"], kind.as_str());
        assert_eq!(members(&example["data"]), members(&event["data"]));
    }
}

#[test]
fn case_14_every_body_of_a_webhook_is_one_of_a_union_told_apart_by_a_constant_event() {
    let document = document();
    let body =
        &document["x-webhooks"]["webhook"]["post"]["requestBody"]["content"]["application/json"];
    assert_eq!(
        body["schema"]["$ref"],
        "#/components/schemas/WebhookPayload"
    );
    let union = schema(&document, "WebhookPayload");
    let mapping = union["discriminator"]["mapping"].as_object().unwrap();
    assert_eq!(union["discriminator"]["propertyName"], "event");
    assert_eq!(
        mapping.keys().collect::<Vec<_>>(),
        ["media.created", "media.moderated", "webhook.test.ping"]
    );
    let members: Vec<&Value> = union["oneOf"].as_array().unwrap().iter().collect();
    for ((event, reference), member) in mapping.iter().zip(members) {
        assert_eq!(member["$ref"], *reference);
        let name = reference.as_str().unwrap().rsplit('/').next().unwrap();
        let event_member = &schema(&document, name)["properties"]["event"];
        assert_eq!(event_member["enum"], json!([event]), "{name}");
    }
}

#[test]
fn case_14_the_ping_is_a_callback_as_the_domain_writes_it() {
    let management = openapi_files::management();
    let ping = &management["paths"]["/webhook-endpoints/{endpoint_id}/ping"]["post"];
    let callback = ping["callbacks"][domain::event::PING].as_object().unwrap();
    let body =
        &callback.values().next().unwrap()["post"]["requestBody"]["content"]["application/json"];
    let secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    let site = uuid::Uuid::from_u128(1).into();
    let at = chrono::DateTime::from_timestamp_micros(1_767_225_600_000_001).unwrap();
    let written = domain::event::ping(site, at, &secret.parse().unwrap());
    let written: Value = serde_json::from_slice(&written).unwrap();
    for document in [&document(), management] {
        let event = schema(document, "WebhookTestPingEvent");
        assert_eq!(properties(&event), members(&written));
        let data = schema(document, "WebhookTestPing");
        assert_eq!(properties(&data), members(&written["data"]));
    }
    assert_eq!(members(&body["example"]), members(&written));
}

/// A set of values has a name, which generated code calls it by; a single value is a constant. What may be null is no copy
/// under another name.
#[test]
fn case_14_sets_of_values_have_names() {
    fn assert_named(value: &Value, at: &str) {
        match value {
            Value::Object(members) => {
                let values = members.get("enum").and_then(Value::as_array);
                assert!(values.is_none_or(|values| values.len() == 1), "{at}");
                let null_beside_reference =
                    members.contains_key("allOf") && members.contains_key("nullable");
                assert!(!null_beside_reference, "{at}");
                for (name, member) in members {
                    assert_named(member, &format!("{at}/{name}"));
                }
            }
            Value::Array(items) => items.iter().for_each(|item| assert_named(item, at)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    for mut document in [document(), openapi_files::management().clone()] {
        let schemas = document["components"]["schemas"].take();
        let (sets, others): (Vec<_>, Vec<_>) = schemas
            .as_object()
            .unwrap()
            .iter()
            .partition(|(_, schema)| schema["enum"].is_array());
        assert!(sets.len() >= 4);
        assert_named(&document, "");
        for (name, schema) in others {
            assert_named(schema, name);
        }
    }
}

#[test]
fn moderation_details_are_described_as_the_domain_writes_them() {
    let document = document();
    let details = ModerationDetails {
        rule_violations: &[],
        ai_analysis: Some(&domain::score::Scores::new()),
        processing_time_ms: Some(1),
        reason: Some("a"),
        flagged_categories: &[domain::score::Category::Adult],
        unchecked: vec!["text_not_scored"],
    };
    let written = serde_json::to_value(&details).unwrap();
    assert_eq!(
        members(&written),
        properties(&schema(&document, "ModerationDetails"))
    );
}

#[sqlx::test(migrations = false)]
async fn the_service_serves_it_and_takes_its_examples(pool: PgPool) {
    let app = App::start(pool).await;
    let served = app.get("/functions/v1/openapi.json").await;
    assert_eq!(served.ok(), document());
    assert_eq!(served.body, api::openapi_documents::public());

    let docs = app.get("/docs").await;
    assert_eq!(docs.status, 200);
    assert!(
        docs.body.contains("\"openapi\": \"3.0.3\"")
            && !docs.body.contains("\"openapi\": \"3.0.0\"")
    );
    assert!(
        !docs.body.contains("src=\"http") && !docs.body.contains("href=\"http"),
        "nothing comes from elsewhere"
    );

    let document = document();
    let submit = &document["paths"]["/submit-media"]["post"];
    let examples = submit["requestBody"]["content"]["application/json"]["examples"]
        .as_object()
        .unwrap();
    for example in examples.values() {
        let answer = app.submit(example["value"].clone()).await.ok();
        // The other members are of answers that wait for the verdict.
        let described = schema(&document, "Accepted");
        let required: BTreeSet<_> = serde_json::from_value(described["required"].clone()).unwrap();
        assert_eq!(members(&answer), required);
        let status = app
            .post_keyed(crate::app::STATUS, json!({ "media_id": answer["id"] }))
            .await
            .ok();
        let described = schema(&document, "MediaStatus");
        assert_eq!(members(&status), properties(&described));
        let required: BTreeSet<_> = serde_json::from_value(described["required"].clone()).unwrap();
        assert_eq!(members(&status), required);
    }
    let problem = app
        .post(SUBMIT, &json!({}))
        .await
        .problem(400, "invalid_request");
    assert_eq!(members(&problem), properties(&schema(&document, "Problem")));
}
