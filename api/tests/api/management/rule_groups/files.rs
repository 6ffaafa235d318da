//! Rule groups as documents.

use serde_json::json;
use sqlx::PgPool;

use super::{Caller, word};
use crate::{
    app::{App, Tenant},
    client::Answer,
};

impl Caller<'_> {
    pub(super) async fn import(&self, path: &str, content_type: &str, body: &str) -> Answer {
        self.send_as(content_type, "POST", path, body).await
    }

    async fn export(&self, group: &str) -> Answer {
        let exported = self.get(&format!("/rule-groups/{group}/export")).await;
        assert_eq!(exported.status, 200, "{exported:?}");
        assert_eq!(exported.header("content-type"), Some("application/yaml"));
        exported
    }
}

fn awkward() -> serde_json::Value {
    json!([
        {
            "name": "yes: 'no' # maybe", "enabled": false, "type": "keyword",
            "keywords": ["no", "1e3", "~", "- a", "*x", "é\u{202e}x", "0x1F", "a: b"],
            "matching": "substring", "exceptions": ["null"], "effect": "reject",
        },
        { "name": "1.5", "type": "regex", "pattern": "review-\\d{4} # 'q'", "effect": "review" },
        { "name": "c", "type": "ai_threshold", "category": "self_harm", "review_at": 0.4, "reject_at": 1.0 },
        { "name": "d", "type": "link", "policy": "deny", "domains": ["short.example"], "effect": "review" },
    ])
}

#[sqlx::test(migrations = false)]
async fn what_is_exported_and_imported_again_is_an_equal_group(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let group = member.new_group("House: rules", awkward()).await;
    let exported = member.export(&group).await;
    let name = exported.header("content-disposition").unwrap();
    assert_eq!(name, format!("attachment; filename=\"{group}-1.yaml\""));

    let there = Tenant::create(&app.pool, "there").await;
    let other = app.member(there.team).await;
    let yaml = &exported.body;
    let imported = other
        .import("/rule-groups/import", "application/yaml", yaml)
        .await;
    let imported = imported.created();
    assert_eq!(imported["name"], "House: rules");
    let copy = imported["id"].as_str().unwrap();
    assert_eq!(
        other.draft(copy).await["rules"],
        member.draft(&group).await["rules"]
    );
    assert_eq!(other.export(copy).await.body, *yaml);
    // The same name once more is refused, as it is elsewhere.
    let again = other
        .import("/rule-groups/import", "text/yaml; charset=utf-8", yaml)
        .await;
    again.problem(409, "name_taken");
}

#[sqlx::test(migrations = false)]
async fn an_imported_draft_keeps_the_ids_and_json_is_taken_too(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let group = member.new_group("House", json!([word("a", "a")])).await;
    let yaml = member.export(&group).await.body;
    let edited = format!("{yaml}- name: b\n  type: keyword\n  keywords: [b]\n  effect: review\n");
    let path = format!("/rule-groups/{group}/import");
    let draft = member.import(&path, "application/yaml", &edited).await.ok();
    assert_eq!(draft["edited"], true);
    let diff = member.get(&format!("/rule-groups/{group}/diff")).await.ok();
    assert_eq!(
        (&diff["added"], &diff["changed"], &diff["removed"]),
        (&json!([draft["rules"][1]]), &json!([]), &json!([]))
    );
    let file = json!({ "name": "As JSON", "rules": [word("\u{1f600}", "c")] }).to_string();
    let made = member
        .import("/rule-groups/import", "application/json", &file)
        .await;
    let made = made.created()["id"].as_str().unwrap().to_owned();
    assert_eq!(member.draft(&made).await["rules"][0]["name"], "\u{1f600}");
}

#[sqlx::test(migrations = false)]
async fn a_wrong_document_is_refused_with_its_line_and_a_bomb_at_once(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let refused = async |content_type: &str, body: &str| {
        let refused = member
            .import("/rule-groups/import", content_type, body)
            .await;
        refused.problem(400, "invalid_request").to_string()
    };
    let detail = refused(
        "application/yaml",
        "name: x\nrules:\n- name: a\n  type: magic\n",
    )
    .await;
    assert!(
        detail.contains("rules[0].type") && detail.contains("line 4"),
        "{detail}"
    );
    let levels = (1..30).map(|n: u8| format!("a{n}: &a{n} [*a{m}, *a{m}]\n", m = n - 1));
    let bomb = format!("a0: &a0 [x, x]\n{}", levels.collect::<String>());
    for body in [
        bomb.as_str(),
        "name: &a x\nrules: []\n",
        "- a\n",
        "",
        "name: x\n",
    ] {
        refused("application/yaml", body).await;
    }
    let pattern = "name: x\nrules:\n- {name: a, type: regex, pattern: '(', effect: review}\n";
    let rule = member
        .import("/rule-groups/import", "application/yaml", pattern)
        .await;
    rule.blames("invalid_request", &["rules[0].pattern"]);
    let other = member
        .import("/rule-groups/import", "text/plain", "name: x\n")
        .await;
    other.problem(415, "unsupported_media_type");
    // A stranger's document is not even looked at.
    let stranger = app.caller_with("mgmt_00000000000000000000000000000000");
    let unread = stranger
        .import("/rule-groups/import", "application/yaml", &bomb)
        .await;
    unread.problem(401, "invalid_token");
    assert_eq!(app.count("select count(*) from rule_groups").await, 1);
}
