//! Wrong rules: every mistake is told at its place, all of them at once.

use serde_json::{Value, json};
use sqlx::PgPool;

use super::word;
use crate::{app::App, client::Answer};

/// Rules with a mistake of every kind.
fn mistakes() -> Value {
    json!([
        word("right", "right"),
        { "name": "a", "type": "keyword", "keywords": ["x", 7, ""], "effect": "ban" },
        { "name": "b", "type": "magic", "pattern": "x" },
        { "name": "c", "type": "regex", "pattern": "ab(", "flags": "i" },
        { "type": "ai_threshold", "category": "gore", "review_at": "high", "effect": "review" },
        "no rule",
        { "id": "x", "name": 5, "type": "link", "policy": "block", "domains": "a.example", "enabled": "yes", "effect": "review" },
        { "name": "d", "type": "image_hash", "lists": ["x"] },
    ])
}

/// The places of these mistakes, in the order in which they are told.
const PLACES: [&str; 19] = [
    "rules[1].keywords[1]",
    "rules[1].effect",
    "rules[1].keywords[2]",
    "rules[2].type",
    "rules[3].flags",
    "rules[3].effect",
    "rules[3].pattern",
    "rules[4].effect",
    "rules[4].name",
    "rules[4].category",
    "rules[4].review_at",
    "rules[5]",
    "rules[6].id",
    "rules[6].name",
    "rules[6].enabled",
    "rules[6].policy",
    "rules[6].domains",
    "rules[7].lists[0]",
    "rules[7].effect",
];

fn message(answer: &Answer, field: &str) -> String {
    let problem = answer.problem(400, "invalid_request");
    let errors = problem["errors"].as_array().unwrap();
    let error = errors.iter().find(|error| error["field"] == field);
    error.unwrap()["message"].as_str().unwrap().to_owned()
}

#[sqlx::test(migrations = false)]
async fn every_mistake_in_rules_is_told_at_once_with_its_place(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let group = member.new_group("House", json!([])).await;
    let path = format!("/rule-groups/{group}");
    let new = json!({ "name": "Other", "rules": mistakes() });
    let draft = json!({ "revision": 1, "rules": mistakes() });
    let sample = json!({ "text": "x", "rules": mistakes() });
    let made = member.post("/rule-groups", new.clone()).await;
    for answer in [
        &made,
        &member.put(&format!("{path}/draft"), draft).await,
        &member.post(&format!("{path}/test"), sample).await,
        &member.post("/rule-groups/import", new.clone()).await,
        &member.post(&format!("{path}/import"), new).await,
    ] {
        answer.blames("invalid_request", &PLACES);
    }
    assert_eq!(
        message(&made, "rules[1].effect"),
        "must be one of `reject`, `review`"
    );
    assert_eq!(
        message(&made, "rules[2].type"),
        "must be one of `keyword`, `regex`, `link`, `image_hash`, `ai_threshold`"
    );
    assert_eq!(
        message(&made, "rules[3].flags"),
        "is not a member of a rule of the type `regex`, which has `type`, `id`, `name`, `enabled`, `exceptions`, `pattern`, `effect`"
    );
    assert_eq!(
        message(&made, "rules[3].effect"),
        "is missing: it must be one of `reject`, `review`"
    );
    assert!(
        message(&made, "rules[4].effect").ends_with("`category`, `review_at`, `reject_at`"),
        "an effect is what a threshold has not"
    );
    assert!(message(&made, "rules[4].category").contains("`self_harm`"));
    assert_eq!(app.count("select count(*) from rule_groups").await, 2);
}

#[sqlx::test(migrations = false)]
async fn a_rule_with_one_mistake_is_told_that_one_alone(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let with = |name: &str, value: Value| {
        let mut rule = word("a", "a");
        rule[name] = value;
        json!({ "name": "Other", "rules": [rule] })
    };
    for (new, field) in [
        (with("effect", json!(null)), "rules[0].effect"),
        (with("name", json!(null)), "rules[0].name"),
        (with("keywords", json!(null)), "rules[0].keywords"),
        (with("keywords", json!({})), "rules[0].keywords"),
        (with("keywords", json!([["a"]])), "rules[0].keywords[0]"),
        (with("matching", json!("part")), "rules[0].matching"),
        (with("enabled", json!(1)), "rules[0].enabled"),
        (with("exceptions", json!("a")), "rules[0].exceptions"),
        (with("exceptions", json!([1])), "rules[0].exceptions[0]"),
        (with("type", json!(0)), "rules[0].type"),
        (with("id", json!(7)), "rules[0].id"),
        (json!({ "name": "Other", "rules": {} }), "rules"),
        (json!({ "name": "Other", "rules": null }), "rules"),
    ] {
        let answer = member.post("/rule-groups", new).await;
        answer.blames("invalid_request", &[field]);
    }
    // What JSON lets stand twice is told, too; a long name that the client made up does not come back whole.
    let twice = r#"{"name":"x","rules":[{"name":"a","name":"b","type":"regex","pattern":"x","effect":"reject"}]}"#;
    let answer = member
        .import("/rule-groups/import", "application/json", twice)
        .await;
    answer.blames("invalid_request", &["rules[0].name"]);
    let long = "x".repeat(1_000_000);
    let answer = member
        .post("/rule-groups", with(&long, Value::Null))
        .await
        .problem(400, "invalid_request");
    assert!(answer.to_string().len() < 2_000);
}

#[sqlx::test(migrations = false)]
async fn a_hundred_mistakes_are_listed_and_the_answer_says_that_there_are_more(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let wrong = |rule: Value, times: usize| {
        let new = json!({ "name": "Other", "rules": vec![rule; times] });
        member.post("/rule-groups", new)
    };
    let regex = |pattern: &str| json!({ "name": "a", "type": "regex", "pattern": pattern, "effect": "reject" });
    for rule in [json!(1), json!({}), regex("(")] {
        let answer = wrong(rule.clone(), 3_000).await;
        let problem = answer.problem(400, "invalid_request");
        assert_eq!(problem["errors"].as_array().unwrap().len(), 100, "{rule}");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains("first 100"), "{detail}");
    }
    let few = wrong(regex("("), 100).await.problem(400, "invalid_request");
    assert!(!few["detail"].as_str().unwrap().contains("first 100"));
    let many = wrong(regex("x"), 10_001).await;
    many.blames("invalid_request", &["rules"]);
}

#[sqlx::test(migrations = false)]
async fn mistakes_in_yaml_have_their_lines_too(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let yaml = "name: ''
owner: me
rules:
- name: a
  type: magic
- name: b
  type: regex
  pattern: '('
- name: c
  type: keyword
  keywords:
  - x
  - 7
  effect: ban
";
    let answer = member
        .import("/rule-groups/import", "application/yaml", yaml)
        .await;
    answer.blames(
        "invalid_request",
        &[
            "name",
            "owner",
            "rules[0].type",
            "rules[1].effect",
            "rules[1].pattern",
            "rules[2].keywords[1]",
            "rules[2].effect",
        ],
    );
    for (field, place) in [
        ("name", "(line 1, column 7)"),
        ("owner", "(line 2, column 8)"),
        ("rules[0].type", "(line 5, column 9)"),
        ("rules[1].effect", "(line 6, column 3)"),
        ("rules[1].pattern", "(line 8, column 12)"),
        ("rules[2].keywords[1]", "(line 13, column 5)"),
        ("rules[2].effect", "(line 14, column 11)"),
    ] {
        let message = message(&answer, field);
        assert!(message.ends_with(place), "{field}: {message}");
    }
}

#[sqlx::test(migrations = false)]
async fn a_sample_for_rules_can_be_cut_like_a_submission(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let group = member
        .new_group("House", json!([word("Blocked", "blockedword")]))
        .await;
    let path = format!("/rule-groups/{group}/test");
    let result: Value = member
        .send("POST", &path, r#"{"text":"a blockedword \ud83d"}"#)
        .await
        .ok();
    assert_eq!(result["status"], "rejected", "{result}");
    assert_eq!(result["matches"][0]["matched_text"], "blockedword");
    let answer = member.send("POST", &path, r#"{"text":7}"#).await;
    answer.blames("invalid_request", &["text"]);
    // A name is shown again, so it must be whole.
    let answer = member
        .send(
            "POST",
            &path,
            r#"{"text":"a","rules":[{"name":"\ud83d","type":"keyword"}]}"#,
        )
        .await;
    let problem = answer.problem(400, "invalid_request");
    assert!(
        problem.to_string().contains("emoji was cut in half"),
        "{problem}"
    );
}
