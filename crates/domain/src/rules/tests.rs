//! The documents of rules.

use super::*;

#[test]
fn a_rule_is_one_flat_document_and_unknown_members_are_refused() {
    let body: RuleBody = serde_json::from_str(
        r#"{"name":"terms","type":"keyword","keywords":["x"],"effect":"reject"}"#,
    )
    .unwrap();
    assert!(body.enabled);
    assert_eq!(
        serde_json::to_value(&body).unwrap(),
        serde_json::json!({"name": "terms", "enabled": true, "type": "keyword",
            "keywords": ["x"], "matching": "whole_word", "effect": "reject"})
    );
    for wrong in [
        r#"{"name":"a","type":"keyword","keywords":["x"],"effect":"reject","keyword":"y"}"#,
        r#"{"name":"a","type":"regex","pattern":"x","effect":"reject","flags":"i"}"#,
        r#"{"name":"a","type":"ai_threshold","category":"hate","reject":0.5}"#,
        r#"{"name":"a","type":"ai_threshold","category":"gore","reject_at":0.5}"#,
        r#"{"name":"a","type":"keyword","keywords":["x"],"effect":"ban"}"#,
        r#"{"name":"a","type":"magic"}"#,
        r#"{"name":"a"}"#,
    ] {
        assert!(serde_json::from_str::<RuleBody>(wrong).is_err(), "{wrong}");
    }
}
