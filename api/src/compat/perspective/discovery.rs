//! The description in Google's format that its client libraries read before the first request. They find the method's address in it.

use poem::{
    Response,
    http::{HeaderMap, HeaderValue, header},
};
use serde_json::{Value, json};

/// The description, with the address at which the client has found it.
pub(super) fn document(headers: &HeaderMap) -> Response {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let host = text(header::HOST.as_str()).unwrap_or("localhost");
    let scheme = match text("x-forwarded-proto") {
        Some("https") => "https",
        Some(_) | None => "http",
    };
    let mut response = Response::builder()
        .content_type("application/json")
        .body(described(&format!("{scheme}://{host}/compat/perspective/")).to_string());
    // It differs with the address.
    let unstored = HeaderValue::from_static("no-store");
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, unstored);
    response
}

fn described(root: &str) -> Value {
    let text = || json!({ "type": "string" });
    let texts = || json!({ "type": "array", "items": { "type": "string" } });
    let map = |of: &str| json!({ "type": "object", "additionalProperties": { "$ref": of } });
    let object = |id: &str, properties: Value| json!({ "id": id, "type": "object", "properties": properties });
    json!({
        "kind": "discovery#restDescription",
        "discoveryVersion": "v1",
        "id": "commentanalyzer:v1alpha1",
        "name": "commentanalyzer",
        "version": "v1alpha1",
        "title": "Gatehouse, for clients of Perspective",
        "protocol": "rest",
        "rootUrl": root,
        "servicePath": "",
        "baseUrl": root,
        "basePath": "",
        "batchPath": "batch",
        "parameters": {
            "key": { "type": "string", "location": "query", "description": "The site key." },
            "alt": { "type": "string", "location": "query", "default": "json", "enum": ["json"] },
            "prettyPrint": { "type": "boolean", "location": "query" },
        },
        "schemas": {
            "AnalyzeCommentRequest": object("AnalyzeCommentRequest", json!({
                "comment": { "$ref": "TextEntry" },
                "requestedAttributes": map("AttributeParameters"),
                "spanAnnotations": { "type": "boolean" },
                "languages": texts(),
                "doNotStore": { "type": "boolean" },
                "clientToken": text(),
                "sessionId": text(),
                "communityId": text(),
            })),
            "AnalyzeCommentResponse": object("AnalyzeCommentResponse", json!({
                "attributeScores": map("AttributeScores"),
                "languages": texts(),
                "clientToken": text(),
            })),
            "AttributeParameters": object("AttributeParameters", json!({
                "scoreType": text(),
                "scoreThreshold": { "type": "number", "format": "float" },
            })),
            "AttributeScores": object("AttributeScores", json!({
                "summaryScore": { "$ref": "Score" },
                "spanScores": { "type": "array", "items": { "$ref": "SpanScore" } },
            })),
            "Score": object("Score", json!({
                "value": { "type": "number", "format": "float" },
                "type": text(),
            })),
            "SpanScore": object("SpanScore", json!({
                "begin": { "type": "integer", "format": "int32" },
                "end": { "type": "integer", "format": "int32" },
                "score": { "$ref": "Score" },
            })),
            "TextEntry": object("TextEntry", json!({ "text": text(), "type": text() })),
        },
        "resources": {
            "comments": {
                "methods": {
                    "analyze": {
                        "id": "commentanalyzer.comments.analyze",
                        "path": "v1alpha1/comments:analyze",
                        "flatPath": "v1alpha1/comments:analyze",
                        "httpMethod": "POST",
                        "parameterOrder": [],
                        "parameters": {},
                        "request": { "$ref": "AnalyzeCommentRequest" },
                        "response": { "$ref": "AnalyzeCommentResponse" },
                    },
                },
            },
        },
    })
}
