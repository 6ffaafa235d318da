//! Rules that ask for what nobody can score.

use domain::score::Category;
use serde_json::{Value, json};
use sqlx::PgPool;
use store::provider::{self, Registration};

use crate::app::App;

#[sqlx::test(migrations = false)]
async fn a_category_that_no_provider_can_score_is_warned_about_until_one_can(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let rule = |category: &str, enabled: bool| {
        json!({
            "name": category, "type": "ai_threshold", "enabled": enabled, "category": category, "review_at": 0.5,
        })
    };
    let register = async |categories: &[Category]| {
        let registration = Registration {
            name: "one".into(),
            kind: "openai",
            categories: categories.to_vec(),
            image_categories: vec![Category::Spam],
        };
        provider::register(&app.pool, &[registration])
            .await
            .unwrap();
    };
    let fields = |answer: &Value| -> Vec<Value> {
        let warnings = answer["warnings"].as_array().unwrap().iter();
        warnings.map(|warning| warning["field"].clone()).collect()
    };
    register(&[Category::Hate]).await;
    let rules = json!([
        rule("hate", true),
        rule("illicit", false),
        rule("adult", true),
        rule("spam", true)
    ]);
    let new = json!({ "name": "House", "rules": rules });
    let made = member.post("/rule-groups", new).await.created();
    assert_eq!(fields(&made), ["rules[2].category"]);
    let group = made["id"].as_str().unwrap();
    let edited = member.edit(group, rules).await;
    assert_eq!(fields(&edited), ["rules[2].category"]);
    register(&[Category::Hate, Category::Adult]).await;
    assert_eq!(fields(&member.draft(group).await), Vec::<Value>::new());
}
