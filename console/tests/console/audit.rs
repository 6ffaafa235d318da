//! The audit log.

use domain::role::Role;
use poem::http::StatusCode;
use sqlx::PgPool;
use uuid::Uuid;

use crate::browser::Stage;

#[sqlx::test(migrations = false)]
async fn a_change_is_shown_with_who_made_it_and_both_sides(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let mut owner = stage.person("owner@market.example", Role::Owner).await;
    let mut operator = stage.person("ops@example.com", Role::Operator).await;
    let hostile = "name=%3Cscript%3Ealert(1)%3C%2Fscript%3E%22%27%26%E2%80%AEx";
    let renamed = operator
        .post(&format!("/instance/teams/{}", stage.team), hostile)
        .await;
    assert_eq!(renamed.status, StatusCode::SEE_OTHER, "{}", renamed.text);

    let path = format!("/t/{}/audit", stage.team);
    let shown = owner.get(&path).await.text;
    assert!(!shown.contains("<script>alert"), "{shown}");
    assert!(
        shown.contains("<code>team.update</code>") && shown.contains("&#60;script&#62;alert(1)"),
        "{shown}"
    );
    let (_, sides) = shown.split_once("class=\"before\"").unwrap();
    let (before, after) = sides.split_once("class=\"after\"").unwrap();
    assert!(
        before.contains("Marktplatz") && after.contains("&#60;script"),
        "{sides}"
    );
    assert!(
        shown.contains(">an operator</a>"),
        "a team does not learn the operator's name: {shown}"
    );
    assert!(
        shown.contains(">Ada</a>") && shown.contains("Request <code>"),
        "{shown}"
    );
    assert!(
        shown.contains("0.0.0.0") || shown.contains("127.0.0.1"),
        "from where she signed in: {shown}"
    );

    let all = operator.get("/instance/audit").await.text;
    assert!(
        all.contains("<code>team.update</code>") && all.contains(">the command line"),
        "{all}"
    );
}

#[sqlx::test(migrations = false)]
async fn filters_leave_out_what_does_not_fit(pool: PgPool) {
    // Midnight may pass before the last request.
    let first_day = chrono::Utc::now().format("%Y-%m-%d");
    let stage = Stage::new(pool).await;
    let mut owner = stage.person("owner@market.example", Role::Owner).await;
    stage.person("viewer@market.example", Role::Viewer).await;
    let path = format!("/t/{}/audit", stage.team);
    let member = sqlx::query_scalar::<_, Uuid>(
        "select m.id from memberships m join users u on u.id = m.user_id where u.email = 'viewer@market.example'",
    );
    let member = member.fetch_one(&stage.management.pool).await.unwrap();
    let rows = |text: &str| text.matches("<tr id=").count();
    let all = rows(&owner.get(&path).await.text);
    assert!(all > 4, "{all}");

    let theirs = owner.get(&format!("{path}?actor={member}")).await.text;
    assert!(rows(&theirs) > 0 && rows(&theirs) < all && theirs.contains("Show all"));
    let of_one = owner.get(&format!("{path}?action=team.create")).await.text;
    assert_eq!(rows(&of_one), 1, "{of_one}");
    let today = chrono::Utc::now().format("%Y-%m-%d");
    assert_eq!(
        rows(
            &owner
                .get(&format!("{path}?since={first_day}&until={today}"))
                .await
                .text
        ),
        all
    );
    let old = owner.get(&format!("{path}?until=2020-01-01")).await.text;
    assert!(
        rows(&old) == 0 && old.contains("Nothing fits these filters."),
        "{old}"
    );
    for wrong in [
        "since=%3Cb%3E",
        "action=team.explode",
        "actor=me",
        "until=%2B262142-12-31",
    ] {
        let answer = owner.get(&format!("{path}?{wrong}")).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{wrong}");
        assert!(answer.text.contains("role=\"alert\"") && !answer.text.contains("<b>\""));
    }
    let late = owner
        .get(&format!("{path}?since=9999-12-31&until=9999-12-31"))
        .await;
    assert_eq!(late.status, StatusCode::OK, "{}", late.text);

    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    assert_eq!(admin.get(&path).await.status, StatusCode::FORBIDDEN);
    let other = stage.with_another_team().await;
    let foreign = owner.get(&format!("/t/{}/audit", other.team)).await;
    let missing = owner.get(&format!("/t/{}/audit", Uuid::now_v7())).await;
    assert_eq!(
        (foreign.status, foreign.text),
        (missing.status, missing.text)
    );
}

#[sqlx::test(migrations = false)]
async fn a_log_is_shown_a_page_at_a_time(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let mut owner = stage.person("owner@market.example", Role::Owner).await;
    let huge = serde_json::json!({ "changed": { "rules": { "from": "x".repeat(200_000), "to": "y".repeat(200_000) } } });
    for _ in 0..60 {
        let added = sqlx::query(
            "insert into audit_log (id, team_id, actor, action, details) values ($1, $2, 'command_line', 'rule_group.edit', $3)",
        );
        added
            .bind(Uuid::now_v7())
            .bind(stage.team.as_uuid())
            .bind(&huge)
            .execute(&stage.management.pool)
            .await
            .unwrap();
    }
    let path = format!("/t/{}/audit?action=rule_group.edit", stage.team);
    let first = owner.get(&path).await.text;
    assert_eq!(first.matches("<tr id=").count(), 50);
    assert!(first.len() < 500_000, "{}", first.len());
    assert!(first.contains("more characters"));
    let next = crate::browser::between(&first, "href=\"?", "\" rel=\"next\"");
    let next = next.replace("&#38;", "&");
    let second = owner
        .get(&format!("/t/{}/audit?{next}", stage.team))
        .await
        .text;
    assert_eq!(second.matches("<tr id=").count(), 10, "{next}");
}
