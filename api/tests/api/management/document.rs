//! The management interface's document: complete, in agreement with the service, and served.

use std::collections::BTreeSet;

use chrono::Utc;
use domain::{id::MemberId, role::Role, scope::Scope};
use serde_json::{Value, json};
use sqlx::PgPool;
use store::{jobs, person};

use super::Caller;
use crate::{app::App, client::Answer, openapi_files};

/// The list that examples name.
const HASH_LIST: &str = "01980f6d-21aa-7bbb-8ccc-0123456789ab";

/// An operation as the document describes it.
pub(super) struct Operation {
    pub(super) method: String,
    /// With parameters in braces.
    pub(super) template: String,
    /// None if every valid token may do it.
    pub(super) scope: Option<Scope>,
    pub(super) operators_only: bool,
    /// The example of its request's body, and its media type.
    pub(super) request: Option<Value>,
    pub(super) content_type: String,
    described: Value,
}

impl Operation {
    /// Its path, with this id for every parameter.
    pub(super) fn path(&self, id: &str) -> String {
        self.path_with(|_| id)
    }

    /// Its path, with what stands for each parameter.
    fn path_with<'a>(&'a self, id: impl Fn(&str) -> &'a str) -> String {
        let segments = self.template.split('/');
        let filled: Vec<_> = segments
            .map(|segment| match segment.strip_prefix('{') {
                Some(name) => id(name.trim_end_matches('}')),
                None => segment,
            })
            .collect();
        filled.join("/")
    }

    /// The example of its request's body, or none.
    pub(super) fn body(&self) -> String {
        match &self.request {
            None => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(body) => body.to_string(),
        }
    }
}

pub(super) fn operations() -> Vec<Operation> {
    let document = openapi_files::management();
    let mut operations = Vec::new();
    for (template, methods) in document["paths"].as_object().unwrap() {
        for (method, described) in methods.as_object().unwrap() {
            let text = described["description"].as_str().unwrap();
            let scope = match text.rsplit_once("Scope: ").unwrap().1 {
                "none." => None,
                scope => Some(scope.trim_matches(['`', '.']).parse().unwrap()),
            };
            let forbidden = described["responses"]["403"]["description"]
                .as_str()
                .unwrap_or_default();
            let content = described["requestBody"]["content"].as_object();
            let only = content.and_then(|content| content.iter().next());
            let (content_type, body) = only.map_or(("application/json", &Value::Null), |only| {
                (only.0.as_str(), &only.1["example"])
            });
            operations.push(Operation {
                method: method.to_ascii_uppercase(),
                template: template.clone(),
                scope,
                operators_only: forbidden.contains("`operators_only`"),
                request: (!body.is_null()).then(|| body.clone()),
                content_type: content_type.to_owned(),
                described: described.clone(),
            });
        }
    }
    operations
}

impl Caller<'_> {
    /// A request for an operation, of the media type that it takes.
    pub(super) async fn perform(&self, operation: &Operation, path: &str, body: &str) -> Answer {
        self.send_as(&operation.content_type, &operation.method, path, body)
            .await
    }
}

fn members(value: &Value) -> BTreeSet<String> {
    value.as_object().unwrap().keys().cloned().collect()
}

/// Whether a value is what a schema says, as far as our schemas say anything.
fn assert_fits(document: &Value, schema: &Value, value: &Value, at: &str) {
    // A reference with a description beside it is the only part of an `allOf`.
    let schema = schema.pointer("/allOf/0").unwrap_or(schema);
    if let Some(reference) = schema["$ref"].as_str() {
        let schema = document.pointer(&reference[1..]).unwrap();
        return assert_fits(document, schema, value, at);
    }
    if let Some(mapping) = schema["discriminator"]["mapping"].as_object() {
        let kind = value["type"]
            .as_str()
            .unwrap_or_else(|| panic!("{at} has no type"));
        let schema = json!({ "$ref": mapping[kind] });
        return assert_fits(document, &schema, value, at);
    }
    // A reference that may be null is one of two.
    if let Some([of, null]) = schema["oneOf"].as_array().map(Vec::as_slice) {
        let schema = if value.is_null() { null } else { of };
        return assert_fits(document, schema, value, at);
    }
    if value.is_null() {
        assert_eq!(schema["nullable"], true, "{at} is null");
        let set = schema["enum"].as_array();
        assert!(set.is_none_or(|set| set.contains(value)), "{at} is null");
        return;
    }
    match schema["type"].as_str().unwrap() {
        "object" => {
            let Some(properties) = schema["properties"].as_object() else {
                assert!(value.is_object(), "{at}");
                return;
            };
            for (name, member) in value.as_object().unwrap() {
                let schema = properties
                    .get(name)
                    .unwrap_or_else(|| panic!("{at}.{name} is not described"));
                assert_fits(document, schema, member, &format!("{at}.{name}"));
            }
            for name in schema["required"].as_array().into_iter().flatten() {
                let there = value.get(name.as_str().unwrap()).is_some();
                assert!(there, "{at} has no {name}");
            }
        }
        "array" => {
            for item in value.as_array().unwrap() {
                assert_fits(document, &schema["items"], item, &format!("{at}[]"));
            }
        }
        "string" => {
            let text = value.as_str().unwrap_or_else(|| panic!("{at} is {value}"));
            if let Some(set) = schema["enum"].as_array() {
                assert!(set.contains(value), "{at} is {value}");
            }
            match schema["format"].as_str() {
                Some("uuid") => assert!(text.parse::<uuid::Uuid>().is_ok(), "{at} is {text}"),
                Some("date-time") => {
                    assert!(
                        chrono::DateTime::parse_from_rfc3339(text).is_ok(),
                        "{at} is {text}"
                    );
                }
                Some(_) | None => {}
            }
        }
        "boolean" => assert!(value.is_boolean(), "{at} is {value}"),
        "integer" => assert!(value.is_i64(), "{at} is {value}"),
        "number" => assert!(value.is_number(), "{at} is {value}"),
        other => panic!("{at} has the type {other}"),
    }
}

/// An answer is what the document says that the operation answers.
pub(super) fn assert_answers(method: &str, template: &str, answer: &Value) {
    let document = openapi_files::management();
    let operation = &document["paths"][template][method.to_ascii_lowercase()];
    let responses = operation["responses"].as_object().unwrap();
    let (status, success) = responses.iter().find(|(s, _)| s.starts_with('2')).unwrap();
    let schema = &success["content"]["application/json"]["schema"];
    assert_fits(
        document,
        schema,
        answer,
        &format!("{method} {template} {status}"),
    );
}

#[test]
fn it_is_openapi_3_0_and_the_same_each_time() {
    let text = api::openapi_documents::management();
    assert_eq!(text, api::openapi_documents::management());
    assert!(text.ends_with("}\n"));
    let document = openapi_files::management();
    assert_eq!(document["openapi"], "3.0.3");
    assert_eq!(document["servers"][0]["url"], "/management/v1");
    let scheme = &document["components"]["securitySchemes"]["token"];
    assert_eq!(
        (&scheme["type"], &scheme["scheme"]),
        (&"http".into(), &"bearer".into())
    );
    for bound in ["minimum", "maximum"] {
        assert!(
            !text.contains(&format!("\"{bound}\": 1.0")),
            "bounds of integers are integers"
        );
    }
}

#[test]
fn every_operation_says_everything_about_itself() {
    for operation in operations() {
        let (described, at) = (&operation.described, operation.path("1"));
        for told in ["summary", "description", "operationId"] {
            assert!(described[told].is_string(), "{at} has no {told}");
        }
        assert_eq!(
            described["security"][0]["token"],
            Value::Array(Vec::new()),
            "{at}"
        );
        assert_eq!(
            described["requestBody"].is_object(),
            operation.request.is_some(),
            "{at}"
        );
        for parameter in described["parameters"].as_array().into_iter().flatten() {
            assert!(
                parameter["description"].is_string(),
                "{at} {}",
                parameter["name"]
            );
        }
        let responses = described["responses"].as_object().unwrap();
        assert!(
            ["401", "500", "503"]
                .iter()
                .all(|status| responses.contains_key(*status))
        );
        let asks_for_a_scope = operation.scope.is_some();
        assert_eq!(responses.contains_key("403"), asks_for_a_scope, "{at}");
        for (status, response) in responses {
            let at = format!("{} {at} {status}", operation.method);
            let headers = members(&response["headers"]);
            assert!(headers.contains("X-Request-Id"), "{at}");
            let passing = matches!(status.as_str(), "429" | "503");
            assert_eq!(headers.contains("Retry-After"), passing, "{at}");
            assert_eq!(
                headers.contains("WWW-Authenticate"),
                status == "401",
                "{at}"
            );
            let new = matches!(status.as_str(), "201" | "202");
            assert_eq!(headers.contains("Location"), new, "{at}");
            match status.as_str() {
                "200"
                    if operation.method == "GET"
                        && ["/image", "/preview"]
                            .iter()
                            .any(|end| operation.template.ends_with(end)) =>
                {
                    let formats = members(&response["content"]);
                    assert!(
                        formats.iter().all(|name| name.starts_with("image/")),
                        "{at}"
                    );
                }
                "200" if operation.template.ends_with("/csv") => {
                    assert!(response["content"]["text/csv"].is_object(), "{at}");
                }
                "200" if operation.template.ends_with("/export") => {
                    let yaml = &response["content"]["application/yaml"];
                    assert!(yaml["example"].is_string(), "{at}");
                }
                "200" if operation.template.ends_with("/archive") => {
                    assert!(response["content"]["application/x-tar"].is_object(), "{at}");
                }
                "200" | "201" | "202" => {
                    let content = &response["content"]["application/json"];
                    assert_fits(
                        openapi_files::management(),
                        &content["schema"],
                        &content["example"],
                        &at,
                    );
                }
                "204" => assert!(response.get("content").is_none(), "{at}"),
                _ => assert!(
                    response["content"]["application/problem+json"].is_object(),
                    "{at}"
                ),
            }
        }
    }
}

#[test]
fn requests_are_closed_and_answers_are_complete() {
    let document = openapi_files::management();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        if schema["oneOf"].is_array() || schema["type"] == "string" {
            continue;
        }
        // Rules are in requests and in answers.
        if schema["properties"]["type"]["enum"].is_array() {
            assert_eq!(schema["additionalProperties"], false, "{name}");
            continue;
        }
        let is_request = name.starts_with("New") || name.ends_with("Change");
        let closed = schema["additionalProperties"] == false;
        assert_eq!(closed, is_request, "{name}");
        if !is_request
            && ![
                "Problem",
                "FieldProblem",
                "ModerationDetails",
                "RuleViolation",
                "Scores",
            ]
            .contains(&name.as_str())
        {
            let required: BTreeSet<String> =
                serde_json::from_value(schema["required"].clone()).unwrap();
            assert_eq!(required, members(&schema["properties"]), "{name}");
        }
    }
}

/// A viewer of the tenant's team.
async fn person_of(app: &App) -> MemberId {
    let mut conn = app.pool.acquire().await.unwrap();
    let (email, name) = (
        "grace@example.com".parse().unwrap(),
        "Grace".parse().unwrap(),
    );
    let user = person::create_account(&mut conn, &email, &name, "no hash").await;
    let (user, team) = (user.unwrap().unwrap(), Some(app.tenant.team));
    person::join(&mut conn, user, team, Role::Viewer, None)
        .await
        .unwrap()
}

/// A review that somebody has.
async fn review_of(app: &App, caller: &Caller<'_>) -> String {
    app.in_review("a review").await;
    let claimed = caller.post("/reviews/claim", json!({ "limit": 20 })).await;
    let claimed = claimed.ok();
    let last = claimed["data"].as_array().unwrap().last().unwrap();
    last["id"].as_str().unwrap().to_owned()
}

#[sqlx::test(migrations = false)]
async fn the_service_serves_it_and_takes_its_examples(pool: PgPool) {
    let app = App::start(pool).await;
    for queue in [
        jobs::BACKTESTS,
        jobs::HASH_IMPORTS,
        jobs::HASH_SCANS,
        jobs::RECOVERIES,
        jobs::REVIEWS,
        jobs::BULK_DECISIONS,
        jobs::ERASURES,
        jobs::CLOSURES,
    ] {
        app.leaves(queue);
    }
    let served = app.get("/management/v1/openapi.json").await;
    served.ok();
    assert_eq!(served.body, api::openapi_documents::management());
    let docs = app.get("/docs/management").await;
    assert_eq!(docs.status, 200);
    assert!(docs.body.contains("\"title\": \"Gatehouse management\""));
    assert!(!docs.body.contains("src=\"http") && !docs.body.contains("href=\"http"));
    for page in [docs, app.get("/docs").await] {
        assert!(
            ["/docs", "/docs/management"]
                .iter()
                .all(|other| { page.body.contains(&format!("<a href=\"{other}\">")) })
        );
    }

    let operator = app.operator().await;
    let site = operator.get("/sites").await.ok()["data"][0].clone();
    let group = site["default_rule_group_id"].as_str().unwrap();
    let media = app.in_review("an example").await;
    let list = operator.known_image(&media, app.tenant.team).await;
    let endpoint = json!({ "url": "https://example.com/" });
    let endpoints = format!("/sites/{}/webhook-endpoints", app.tenant.site);
    let endpoint = operator.post(&endpoints, endpoint).await.created();
    let there = json!({
        "endpoint_id": endpoint["id"],
        "plan_id": store::plan::UNLIMITED,
        "team_id": app.tenant.team,
        "site_id": app.tenant.site,
        "site_ids": [app.tenant.site],
        "person_id": person_of(&app).await,
        "media_id": media,
        "hash_list_id": list,
        "endpoint_id": app.endpoint().await,
        "default_rule_group_id": group,
        "rule_group_id": group,
        "queue": "recoveries",
        "group_id": app.tenant.team,
        "lane_id": app.tenant.team,
        "policy_id": app.policy("spam", 1, &[], false).await,
    });
    let lead = app.member(app.tenant.team).await;
    for operation in operations() {
        let Some(body) = operation.request.clone() else {
            continue;
        };
        // Rules name lists.
        let text = body.to_string().replace(HASH_LIST, &list);
        let mut body: Value = serde_json::from_str(&text).unwrap();
        // What the example refers to is not there.
        for (member, id) in there.as_object().unwrap() {
            if body.get(member).is_some() {
                body[member] = id.clone();
            }
        }
        if body.get("grace_days").is_some() {
            body["name"] = "main".into();
        }
        if body.get("since").is_some() {
            body["since"] = Utc::now().to_rfc3339().into();
        }
        if body.get("revision").is_some() {
            let draft = operator.get(&format!("/rule-groups/{group}/draft")).await;
            body["revision"] = draft.ok()["revision"].clone();
        }
        if body.get("version_id").is_some() {
            body["version_id"] = operator.spare_version(group).await.into();
        }
        if operation.template == "/rule-groups/import" {
            // An operator says whose the group is to be.
            let target = format!("/rule-groups/import?team_id={}", app.tenant.team);
            operator.post(&target, body).await.created();
            continue;
        }
        let parameter = operation.template.split(['{', '}']).nth(1);
        let id = parameter.map_or("", |name| there[name].as_str().unwrap_or_default());
        let body = match body {
            Value::String(text) => text,
            body => body.to_string(),
        };
        // Reviews are a person's of the team.
        let review = if operation.template.contains("{review_id}") {
            Some(review_of(&app, &lead).await)
        } else {
            None
        };
        let id = review.as_deref().unwrap_or(id);
        let path = operation.path_with(|name| there[name].as_str().unwrap_or(id));
        let is_of_the_desk = ["/reviews", "/golden", "/notes", "/policies"];
        let caller = if is_of_the_desk.iter().any(|part| path.contains(part)) {
            &lead
        } else {
            &operator
        };
        let answer = caller.perform(&operation, &path, &body).await;
        assert!(matches!(answer.status, 200..=202 | 204), "{answer:?}");
        if answer.status != 204 {
            assert_answers(&operation.method, &operation.template, &answer.json());
        }
        if operation.template == "/closures" {
            let path = format!("/closures/{}/cancel", answer.json()["id"].as_str().unwrap());
            operator.post(&path, json!({})).await.ok();
        }
    }
}
