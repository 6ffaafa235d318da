//! The reports of the desk, and trying a threshold.

use domain::{role::Role, rules::RuleEffect};
use management::{Caller, rule_groups};
use poem::http::StatusCode;
use serde_json::json;
use sqlx::PgPool;
use uuid::Uuid;

use crate::{
    browser::{Browser, Stage},
    seed::{Judged, keyword},
};

const RULE: &str = "01980f6d-13aa-7bbb-8ccc-0123456789ab";

/// A site whose group has a rule with a threshold and a hostile name. Returns the group.
async fn scored(stage: &Stage) -> Uuid {
    let site = stage.site("Forum").await;
    let pool = &stage.management.pool;
    let group: Uuid = sqlx::query_scalar("select default_rule_group_id from sites where id = $1")
        .bind(site.as_uuid())
        .fetch_one(pool)
        .await
        .unwrap();
    let rules = json!([{
        "id": RULE, "name": "<b>hate</b>", "type": "ai_threshold", "category": "hate", "review_at": 0.5,
    }]);
    sqlx::query(
        "update rule_group_versions set rules = $2, uses_ai = true
         where id = (select live_version_id from rule_groups where id = $1)",
    )
    .bind(group)
    .bind(rules)
    .execute(pool)
    .await
    .unwrap();
    for (body, score) in [("first", 0.9), ("second", 0.6)] {
        let item = Judged {
            violations: vec![keyword("=Contact", RuleEffect::Review, 0..1)],
            ..Judged::text(body)
        };
        let media = stage.judged(site, item).await;
        sqlx::query(
            "with judged as (
                 update media set group_versions = array[(select live_version_id from rule_groups where id = $2)] where id = $1
             )
             insert into analyses (media_id, scores, providers, unchecked, gaps) values ($1, $3, '[]', '[]', '[]')",
        )
        .bind(media.as_uuid())
        .bind(group)
        .bind(json!({ "hate": score }))
        .execute(pool)
        .await
        .unwrap();
    }
    group
}

/// Decides what comes first, as told.
async fn decide(stage: &Stage, person: &mut Browser, decision: &str) {
    let started = person
        .post(&format!("/t/{}/desk/claim", stage.team), "")
        .await;
    let review = started.leads_to().split('?').next().unwrap().to_owned();
    let form = format!("decision={decision}&reason=Because");
    person
        .post(&format!("{review}/decision"), &form)
        .await
        .leads_to();
    let told = "update review_opinions set outcome = 'told' where outcome is null";
    let pool = &stage.management.pool;
    sqlx::query(told).execute(pool).await.unwrap();
    sqlx::query(
        "insert into verdicts (media_id, number, status, previous_status, moderation_type, details, trace)
         select media_id, 2, case ruling when 'reject' then 'rejected' else 'approved' end, 'pending_review', 'manual', '{}',
             '{\"review\":{}}'
         from review_opinions
         on conflict do nothing",
    )
    .execute(pool)
    .await
    .unwrap();
}

#[sqlx::test(migrations = false)]
async fn leads_read_reports_and_an_admin_tries_a_threshold(pool: PgPool) {
    // Midnight may pass before the reports are read.
    let first_day = chrono::Utc::now().date_naive();
    let stage = Stage::new(pool).await;
    let group = scored(&stage).await;
    let mut mo = stage.person("mo@market.example", Role::Moderator).await;
    let mut lead = stage.person("lead@market.example", Role::Lead).await;
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    decide(&stage, &mut mo, "reject").await;
    decide(&stage, &mut mo, "approve").await;
    let desk = format!("/t/{}/desk", stage.team);
    let page = format!("{desk}/quality");
    assert!(!mo.get(&desk).await.text.contains("desk/quality"));
    for path in [page.clone(), format!("{page}/csv")] {
        assert_eq!(mo.get(&path).await.status, StatusCode::FORBIDDEN, "{path}");
    }
    assert!(lead.get(&desk).await.text.contains("desk/quality"));
    let shown = lead.get(&page).await;
    assert_eq!(shown.status, StatusCode::OK, "{}", shown.text);
    assert!(!shown.text.contains("<b>hate"), "{}", shown.text);
    for text in [
        "2 decisions from",
        "&#60;b&#62;hate&#60;/b&#62;",
        "50 % (9 to 91)",
        "100 % (21 to 100)",
        "<polyline class=\"ok\" points=\"50,100 ",
    ] {
        assert!(shown.text.contains(text), "{text}: {}", shown.text);
    }
    assert!(
        !shown.text.contains("Try this threshold"),
        "leads may not change rules"
    );

    let today = chrono::Utc::now().date_naive();
    let csv = lead
        .get(&format!("{page}/csv?from={first_day}&to={today}"))
        .await;
    assert_eq!(csv.headers["content-type"], "text/csv; charset=utf-8");
    assert!(
        csv.headers["content-disposition"]
            .to_str()
            .unwrap()
            .starts_with("attachment")
    );
    assert!(
        csv.text.contains("\r\nreport,,,,,counted,2\r\n"),
        "{}",
        csv.text
    );
    assert!(csv.text.contains(",'=Contact,"), "{}", csv.text);
    for wrong in ["from=yesterday", "site=x"] {
        let answer = lead.get(&format!("{page}?{wrong}")).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{wrong}");
    }
    let long = lead
        .get(&format!("{page}?from=2026-01-01&to=2026-06-01"))
        .await;
    assert!(long.status.is_client_error(), "{}", long.status);

    assert!(admin.get(&page).await.text.contains("Try this threshold"));
    let form = format!("group={group}&rule={RULE}&site=&effect=review&threshold=0.65");
    let refused = lead.post(&format!("{page}/try"), &form).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    let tried = admin.post(&format!("{page}/try"), &form).await;
    let there = tried.leads_to().to_owned();
    assert!(
        there.starts_with(&format!("/t/{}/rules/{group}/backtests/", stage.team)),
        "{there}"
    );
    assert_eq!(admin.get(&there).await.status, StatusCode::OK);
    let caller = Caller::command_line(&stage.management);
    let draft = rule_groups::drafts::get(&caller, group.into());
    let draft = draft.await.unwrap().draft;
    let rule = serde_json::to_value(&draft.rules[0]).unwrap();
    assert_eq!((&rule["review_at"], draft.edited), (&json!(0.65), true));
    // One backtest at a time.
    let again = admin.post(&format!("{page}/try"), &form).await;
    assert_eq!(again.status, StatusCode::CONFLICT, "{}", again.text);
    let wrong = form.replace("0.65", "1.5");
    let wrong = admin.post(&format!("{page}/try"), &wrong).await;
    assert!(wrong.status.is_client_error(), "{}", wrong.status);
}

#[sqlx::test(migrations = false)]
async fn people_see_how_much_they_have_seen(pool: PgPool) {
    let stage = Stage::new(pool).await;
    scored(&stage).await;
    let mut mo = stage.person("mo@market.example", Role::Moderator).await;
    let mut other = stage.person("other@market.example", Role::Moderator).await;
    let mut lead = stage.person("lead@market.example", Role::Lead).await;
    let page = format!("/t/{}/desk/exposure", stage.team);
    assert!(mo.get(&page).await.text.contains("Nothing yet."));
    decide(&stage, &mut mo, "reject").await;
    let own = mo.get(&page).await.text;
    assert!(own.contains("data-label=\"Decisions\">1<"), "{own}");
    assert!(other.get(&page).await.text.contains("Nothing yet."));
    let all = lead.get(&page).await.text;
    assert!(all.contains("data-label=\"Who\""), "{all}");
}
