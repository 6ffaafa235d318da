//! The page for site owners: its examples are taken and answered as it says.

use serde_json::Value;
use sqlx::PgPool;

use crate::app::App;

const PAGE: &str = include_str!("../../../../../docs/rules.md");

/// The page's code blocks, each with its language and the request that stands before it, if one does.
fn blocks() -> Vec<(&'static str, Option<&'static str>, String)> {
    let mut blocks = Vec::new();
    let mut request = None;
    let mut lines = PAGE.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let block: Vec<_> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push((language, request.take(), block.join("\n")));
        } else if let Some(line) = line.strip_prefix('`') {
            let line = line.strip_suffix('`');
            request = line.filter(|line| line.starts_with('P') && line.contains(" /"));
        }
    }
    blocks
}

/// What is expected of an answer: members that are not told may be anything.
fn assert_within(expected: &Value, answer: &Value, at: &str) {
    match (expected, answer) {
        (Value::Object(expected), Value::Object(answer)) => {
            for (name, expected) in expected {
                let at = format!("{at}.{name}");
                assert_within(expected, answer.get(name).unwrap_or(&Value::Null), &at);
            }
        }
        (Value::Array(expected), Value::Array(answer)) => {
            assert_eq!(expected.len(), answer.len(), "{at}");
            for (expected, answer) in expected.iter().zip(answer) {
                assert_within(expected, answer, at);
            }
        }
        _ => assert_eq!(expected, answer, "{at}"),
    }
}

#[sqlx::test(migrations = false)]
async fn the_examples_on_the_page_about_rules_are_answered_as_it_says(pool: PgPool) {
    let app = App::start(pool).await;
    app.leaves(store::jobs::BACKTESTS);
    let member = app.member(app.tenant.team).await;
    let (mut group, mut version) = (String::new(), String::new());
    let (mut answer, mut asked) = (Value::Null, 0);
    for (language, request, text) in blocks() {
        match (language, request) {
            ("yaml", None) => {
                let made = member
                    .import("/rule-groups/import", "application/yaml", &text)
                    .await;
                made.created()["id"]
                    .as_str()
                    .unwrap()
                    .clone_into(&mut group);
            }
            ("json", Some(request)) => {
                let (method, path) = request.split_once(' ').unwrap();
                let path = path.replace("{group}", &group);
                let body = text.replace("{version}", &version);
                let answered = member.send(method, &path, &body).await;
                assert!(
                    (200..300).contains(&answered.status),
                    "{request}: {answered:?}"
                );
                answer = answered.json();
                if path.ends_with("/versions") {
                    answer["id"].as_str().unwrap().clone_into(&mut version);
                }
                asked += 1;
            }
            ("json", None) => {
                let expected = serde_json::from_str(&text).unwrap();
                assert_within(&expected, &answer, &text);
            }
            other => panic!("the page has a block of another kind: {other:?}"),
        }
    }
    assert_eq!(asked, 6);
}
