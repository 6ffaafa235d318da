//! What is told and what is not: the released document, changed in one place at a time.

use serde_json::{Value, json};

use super::{breaks, released};

/// Sets what is at a JSON pointer, or adds it to the object or list above; nothing removes it.
fn change(document: &mut Value, pointer: &str, value: Option<Value>) {
    let (above, name) = pointer.rsplit_once('/').unwrap();
    let name = &name.replace("~1", "/");
    match (document.pointer_mut(above).unwrap(), value) {
        (Value::Object(object), Some(value)) => {
            object.insert(name.clone(), value);
        }
        (Value::Object(object), None) => {
            object.shift_remove(name).unwrap();
        }
        (Value::Array(list), Some(value)) => list.push(value),
        (Value::Array(list), None) => {
            list.remove(name.parse().unwrap());
        }
        (_, _) => panic!("nothing can be changed at {pointer}"),
    }
}

const SUBMIT: &str = "/paths/~1submit-media/post";
const STATUS: &str = "/paths/~1get-media-status/get";
const CREATED: &str = "/paths/~1submit-media/post/callbacks/media.created/https:~1~1receiver.example.com~1webhooks/post";
const SUBMISSION: &str = "/components/schemas/SubmitRequest";
const ANSWER: &str = "/components/schemas/MediaStatus";
const DETAILS: &str = "/components/schemas/ModerationDetails/properties";

fn told(place: &str, member: &str, value: Option<Value>) -> Vec<String> {
    let mut changed = released();
    change(&mut changed, &format!("{place}{member}"), value);
    breaks(&released(), &changed)
}

/// Each change is told in these words, among whatever else it does.
fn assert_breaks(
    place: &str,
    cases: impl IntoIterator<Item = (&'static str, Option<Value>, &'static str)>,
) {
    for (member, value, expected) in cases {
        let told = told(place, member, value);
        assert!(
            told.iter().any(|line| line == expected),
            "{member}: {told:#?}"
        );
    }
}

#[test]
fn an_operation_that_goes_or_is_renamed_breaks_clients() {
    assert_breaks(
        "",
        [
            (
                "/paths/~1submit-media",
                None,
                "document: /submit-media is gone",
            ),
            (
                "/paths/~1get-media-status/get",
                None,
                "/get-media-status: get is gone",
            ),
            (
                "/security",
                Some(json!([{ "bearer": [] }])),
                r#"document: security is [{"bearer":[]}], was []"#,
            ),
            (
                "/servers",
                Some(json!([])),
                r#"document: servers is [], was [{"url":"/functions/v1"}]"#,
            ),
        ],
    );
    assert_breaks(
        SUBMIT,
        [
            (
                "/operationId",
                Some(json!("submit")),
                r#"post /submit-media: operationId is "submit", was "submitMedia""#,
            ),
            (
                "/security",
                Some(json!([])),
                "post /submit-media: security is [], was null",
            ),
        ],
    );
}

#[test]
fn a_request_that_was_right_stays_right() {
    let team = |required: bool| {
        Some(json!({ "name": "team", "in": "query", "required": required, "schema": {} }))
    };
    assert_breaks(
        STATUS,
        [
            (
                "/parameters/1",
                None,
                "get /get-media-status: query media_id is gone",
            ),
            (
                "/parameters/-",
                team(true),
                "get /get-media-status: query team is now required",
            ),
            (
                "/parameters/0/schema/maxLength",
                Some(json!(9)),
                "get /get-media-status, query api_key: maxLength is 9, was null",
            ),
            (
                "/requestBody",
                Some(json!({ "required": true })),
                "get /get-media-status: the body is now required",
            ),
        ],
    );
    assert_eq!(told(STATUS, "/parameters/-", team(false)), [""; 0]);
    assert_breaks(
        SUBMIT,
        [(
            "/requestBody/content/application~1json",
            None,
            "post /submit-media: application/json is gone",
        )],
    );
    assert_breaks(
        SUBMISSION,
        [
            (
                "/required/-",
                Some(json!("body")),
                "SubmitRequest: body is now required",
            ),
            ("/properties/body", None, "SubmitRequest: body is gone"),
            (
                "/properties/body/type",
                Some(json!("number")),
                r#"SubmitRequest.body: type is "number", was "string""#,
            ),
            (
                "/properties/body/nullable",
                None,
                "SubmitRequest.body: nullable is null, was true",
            ),
            (
                "/properties/body/maxLength",
                Some(json!(9)),
                "SubmitRequest.body: maxLength is 9, was 102400",
            ),
            (
                "/properties/body/minLength",
                Some(json!(1)),
                "SubmitRequest.body: minLength is 1, was null",
            ),
            (
                "/properties/body/pattern",
                Some(json!("a")),
                r#"SubmitRequest.body: pattern is "a", was null"#,
            ),
            (
                "/properties/body/enum",
                Some(json!(["a"])),
                r#"SubmitRequest.body: enum is ["a"], was null"#,
            ),
            (
                "/properties/metadata/additionalProperties",
                Some(json!(false)),
                "SubmitRequest.metadata: additionalProperties is false, was {}",
            ),
            (
                "/properties/metadata/additionalProperties/type",
                Some(json!("string")),
                r#"SubmitRequest.metadata.*: type is "string", was null"#,
            ),
        ],
    );
}

#[test]
fn an_answer_that_was_understood_stays_understandable() {
    assert_breaks(
        SUBMIT,
        [
            ("/responses/200", None, "post /submit-media: 200 is gone"),
            ("/responses/413", None, "post /submit-media: 413 is gone"),
            (
                "/responses/202",
                Some(json!({})),
                "post /submit-media: may now be answered with 202",
            ),
            (
                "/responses/503/headers/Retry-After",
                None,
                "post /submit-media, 503: Retry-After is gone",
            ),
            (
                "/responses/200/content/text~1csv",
                Some(json!({})),
                "post /submit-media, 200: may now be text/csv",
            ),
        ],
    );
    assert_breaks(
        "/components/headers",
        [
            (
                "/RequestId/required",
                Some(json!(false)),
                "post /submit-media, 200: X-Request-Id is no longer always there",
            ),
            (
                "/RetryAfter/schema/minimum",
                None,
                "post /submit-media, 429, Retry-After: minimum is null, was 0",
            ),
        ],
    );
    assert_breaks(
        ANSWER,
        [
            (
                "/required/0",
                None,
                "MediaStatus: media_id is no longer always there",
            ),
            ("/properties/action", None, "MediaStatus: action is gone"),
            (
                "/properties/created_at/nullable",
                Some(json!(true)),
                "MediaStatus.created_at: nullable is true, was null",
            ),
            (
                "/properties/created_at/format",
                None,
                r#"MediaStatus.created_at: format is null, was "date-time""#,
            ),
            (
                "/properties/content_type/enum/-",
                Some(json!("video")),
                r#"MediaStatus.content_type: enum is ["image","text","video"], was ["image","text"]"#,
            ),
            (
                "/properties/content_type/enum/0",
                None,
                r#"MediaStatus.content_type: enum is ["text"], was ["image","text"]"#,
            ),
            (
                "/properties/content_type/enum",
                None,
                r#"MediaStatus.content_type: enum is null, was ["image","text"]"#,
            ),
        ],
    );
    assert_breaks(
        DETAILS,
        [
            (
                "/rule_violations/items",
                Some(json!({ "type": "string" })),
                r#"RuleViolation: type is "string", was "object""#,
            ),
            (
                "/ai_analysis/additionalProperties/type",
                Some(json!("string")),
                r#"ModerationDetails.ai_analysis.*: type is "string", was "number""#,
            ),
        ],
    );
}

#[test]
fn an_event_that_was_understood_stays_understandable() {
    assert_breaks(
        SUBMIT,
        [(
            "/callbacks/media.created",
            None,
            "post /submit-media: media.created is gone",
        )],
    );
    assert_breaks(
        CREATED,
        [
            (
                "/parameters/0",
                None,
                "post media.created: header X-Service-Signature is gone",
            ),
            (
                "/parameters/0/required",
                Some(json!(false)),
                "post media.created: header X-Service-Signature is no longer always there",
            ),
            ("/responses/410", None, "post media.created: 410 is gone"),
        ],
    );
    assert_breaks(
        "/components/schemas",
        [
            (
                "/MediaCreated/required/0",
                None,
                "MediaCreated: media_id is no longer always there",
            ),
            (
                "/MediaModerated/properties/status/enum/-",
                Some(json!("gone")),
                r#"MediaModerated.status: enum is ["approved","rejected","pending_review","gone"], was ["approved","rejected","pending_review"]"#,
            ),
        ],
    );
}

#[test]
fn additions_and_words_break_nobody() {
    let text = || Some(json!({ "type": "string" }));
    let changes = [
        ("/paths/~1new", Some(json!({ "get": {} }))),
        ("/info/description", None),
        ("/components/schemas/New", text()),
        (&format!("{STATUS}/deprecated"), Some(json!(true))),
        (
            &format!("{STATUS}/parameters/0/required"),
            Some(json!(false)),
        ),
        (&format!("{SUBMIT}/callbacks/media.new"), Some(json!({}))),
        (
            &format!("{CREATED}/parameters/-"),
            Some(json!({ "name": "X-New", "in": "header", "schema": {} })),
        ),
        (&format!("{SUBMIT}/responses/418"), Some(json!({}))),
        (
            &format!("{SUBMIT}/responses/200/headers/X-New"),
            Some(json!({ "schema": {} })),
        ),
        (
            &format!("{SUBMIT}/requestBody/content/text~1plain"),
            Some(json!({})),
        ),
        (&format!("{SUBMISSION}/properties/new"), text()),
        (&format!("{SUBMISSION}/required/0"), None),
        (
            &format!("{SUBMISSION}/properties/body/maxLength"),
            Some(json!(999_999)),
        ),
        (&format!("{SUBMISSION}/properties/content_url/format"), None),
        (&format!("{ANSWER}/properties/new"), text()),
        (&format!("{ANSWER}/required/-"), Some(json!("new"))),
        (&format!("{ANSWER}/properties/action/nullable"), None),
        (
            &format!("{ANSWER}/properties/action/maxLength"),
            Some(json!(9)),
        ),
    ] as [(&str, Option<Value>); _];
    for (pointer, value) in changes {
        assert_eq!(told("", pointer, value), [""; 0], "{pointer}");
    }
}

/// A document whose one operation takes and answers this.
fn with(thing: &Value) -> Value {
    let content =
        json!({ "application/json": { "schema": { "$ref": "#/components/schemas/Thing" } } });
    json!({
        "paths": { "/": { "post": {
            "requestBody": { "content": content },
            "responses": { "200": { "content": content } },
        } } },
        "components": { "schemas": {
            "Thing": thing,
            "One": { "type": "integer", "default": 1 },
            "Two": { "type": "object", "properties": { "again": { "$ref": "#/components/schemas/Thing" } } },
        } },
    })
}

#[test]
fn alternatives_defaults_and_parts_are_compared_too() {
    let (one, two) = (
        json!({ "$ref": "#/components/schemas/One" }),
        json!({ "$ref": "#/components/schemas/Two" }),
    );
    let either = with(&json!({ "oneOf": [one, two] }));
    let first = with(&json!({ "oneOf": [one] }));
    assert_eq!(breaks(&either, &either), [""; 0]);
    let gone = "Thing: #/components/schemas/Two is gone";
    assert_eq!(
        breaks(&either, &first),
        [gone, gone],
        "neither taken nor answered any more"
    );
    assert_eq!(
        breaks(&first, &either),
        ["Thing: may now be #/components/schemas/Two"]
    );

    let mut other_default = first.clone();
    change(
        &mut other_default,
        "/components/schemas/One/default",
        Some(json!(2)),
    );
    assert_eq!(breaks(&first, &other_default), ["One: default is 2, was 1"]);

    let part = with(&json!({ "description": "a", "allOf": [two] }));
    let mut emptied = part.clone();
    change(
        &mut emptied,
        "/components/schemas/Two/properties/again",
        None,
    );
    assert_eq!(breaks(&part, &part), [""; 0]);
    assert_eq!(
        breaks(&part, &emptied),
        ["Thing: again is gone", "Thing: again is gone"]
    );
}

#[test]
fn a_reference_that_may_be_null_is_the_same_as_its_schema_with_null() {
    let nothing = json!({ "type": "boolean", "nullable": true, "enum": [null] });
    let one = json!({ "$ref": "#/components/schemas/One" });
    let inline = with(&json!({ "type": "integer", "default": 1, "nullable": true }));
    let either = with(&json!({ "oneOf": [one, nothing] }));
    let never_null = with(&json!({ "allOf": [one] }));
    assert_eq!(breaks(&inline, &either), [""; 0]);
    assert_eq!(breaks(&either, &inline), [""; 0]);
    assert_eq!(
        breaks(&either, &never_null),
        ["Thing: nullable is null, was true"],
        "null is no longer taken"
    );
    assert_eq!(
        breaks(&never_null, &either),
        ["Thing: nullable is true, was null"],
        "null may now be answered"
    );
}
