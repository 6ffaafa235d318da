//! The audit log shows new and changed things with the members of the interface.

use serde_json::{Value, json};
use sqlx::PgPool;
use store::jobs;

use super::word;
use crate::app::App;

impl App {
    /// The latest details of an action in the audit log.
    pub(crate) async fn recorded(&self, action: &str) -> Value {
        sqlx::query_scalar(
            "select details from audit_log where action = $1 order by id desc limit 1",
        )
        .bind(action)
        .fetch_one(&self.pool)
        .await
        .unwrap()
    }
}

#[sqlx::test(migrations = false)]
async fn the_audit_log_shows_rule_groups_versions_and_backtests_as_the_answers_do(pool: PgPool) {
    let app = App::start(pool).await;
    app.leaves(jobs::BACKTESTS);
    let member = app.member(app.tenant.team).await;
    let group = json!({ "name": "House", "rules": [word("one", "one")] });
    let mut group = member.post("/rule-groups", group).await.created();
    group.as_object_mut().unwrap().remove("warnings");
    let recorded = app.recorded("rule_group.create").await;
    let expected = json!({ "created": group, "rules": 1 });
    assert_eq!(recorded, expected);

    let id = group["id"].as_str().unwrap();
    let path = format!("/rule-groups/{id}");
    member.patch(&path, json!({ "name": "Home" })).await.ok();
    let recorded = app.recorded("rule_group.update").await;
    let expected = json!({ "changed": { "name": { "from": "House", "to": "Home" } } });
    assert_eq!(recorded, expected);

    let edited = member.edit(id, json!([word("two", "two")])).await;
    let revision = &edited["revision"];
    let recorded = app.recorded("rule_group.edit").await;
    let expected = json!({ "edited": { "revision": revision, "rules": 1 } });
    assert_eq!(recorded, expected);

    for (live, action) in [(false, "rule_group.version"), (true, "rule_group.publish")] {
        let new = json!({ "revision": revision, "note": "Two.", "live": live });
        let version = member
            .post(&format!("{path}/versions"), new)
            .await
            .created();
        let expected = json!({ "created": version });
        assert_eq!(app.recorded(action).await, expected);
    }

    let new = json!({ "since": "2026-01-01T00:00:00Z", "site_id": app.tenant.site, "limit": 7 });
    let answer = member.post(&format!("{path}/backtests"), new).await;
    assert_eq!(answer.status, 202, "{answer:?}");
    let backtest = answer.json();
    let expected = json!({ "created": backtest });
    let recorded = app.recorded("backtest.create").await;
    assert_eq!(recorded, expected);
    let cancel = format!("/backtests/{}/cancel", backtest["id"].as_str().unwrap());
    let cancelled = member.send("POST", &cancel, "").await.ok();
    let expected = json!({ "cancelled": cancelled });
    let recorded = app.recorded("backtest.cancel").await;
    assert_eq!(recorded, expected);
}
