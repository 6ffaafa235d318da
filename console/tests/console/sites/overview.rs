//! The first page of a site: what it is, and what it still needs.

use domain::{id::TeamId, reach::Reach, role::Role};
use management::Caller;
use poem::http::StatusCode;
use sqlx::PgPool;
use store::site::readiness;
use uuid::Uuid;

use super::{ESCAPED, HOSTILE, assert_unknown, site};
use crate::browser::Stage;

const DONE: &str = "<li class=\"done\">";

#[sqlx::test(migrations = false)]
async fn a_new_site_leads_through_its_first_steps(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let forum = site(&stage, "Forum").await;
    let path = format!("/t/{}/sites/{forum}", stage.team);
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let new = admin.get(&path).await;
    assert_eq!(new.status, StatusCode::OK, "{}", new.text);
    assert!(new.text.contains("First steps"), "{}", new.text);
    assert!(!new.text.contains(DONE), "{}", new.text);
    assert!(new.text.contains(&format!("href=\"{path}/keys\">Keys<")));

    let caller = Caller::command_line(&stage.management);
    management::site_keys::create(&caller, forum).await.unwrap();
    let endpoint = Uuid::now_v7();
    let add = "insert into webhook_endpoints (id, site_id, url, events) values ($1, $2, $3, '{media.moderated}')";
    sqlx::query(add)
        .bind(endpoint)
        .bind(forum.as_uuid())
        .bind(format!("https://shop.example/{HOSTILE}"))
        .execute(&pool)
        .await
        .unwrap();
    let begun = admin.get(&path).await.text;
    assert_eq!(begun.matches(DONE).count(), 2, "{begun}");
    assert!(
        begun.contains(&format!("/webhooks/{endpoint}\">Test<")),
        "{begun}"
    );
    assert!(
        begun.contains(&format!("https://shop.example/{ESCAPED}")),
        "{begun}"
    );

    // A ping that failed is no test that succeeded.
    let ping = "
        insert into audit_log (id, team_id, actor, action, target_id, details)
        values ($1, $2, 'command_line', 'endpoint.ping', $3, json_build_object('outcome', $4::text))";
    let mut ticked = Vec::new();
    for outcome in ["timeout", "delivered"] {
        sqlx::query(ping)
            .bind(Uuid::now_v7())
            .bind(stage.team.as_uuid())
            .bind(endpoint)
            .bind(outcome)
            .execute(&pool)
            .await
            .unwrap();
        ticked.push(admin.get(&path).await.text.matches(DONE).count());
    }
    assert_eq!(ticked, [2, 3]);

    // The last step: the group that judges has a rule.
    let rules = "
        update rule_group_versions
        set rules = json_build_array(json_build_object('name', 'x'))
        where rule_group_id = (select default_rule_group_id from sites where id = $1)";
    sqlx::query("alter table rule_group_versions disable trigger user")
        .execute(&pool)
        .await
        .unwrap();
    let changed = sqlx::query(rules).bind(forum.as_uuid()).execute(&pool);
    assert_eq!(changed.await.unwrap().rows_affected(), 1);
    let whole = admin.get(&path).await.text;
    assert!(!whole.contains("First steps"), "{whole}");
}

#[sqlx::test(migrations = false)]
async fn a_viewer_sees_a_site_and_no_way_to_change_it(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let forum = site(&stage, HOSTILE).await;
    let path = format!("/t/{}/sites/{forum}", stage.team);
    let mut viewer = stage.person("viewer@market.example", Role::Viewer).await;
    let shown = viewer.get(&path).await;
    assert_eq!(shown.status, StatusCode::OK, "{}", shown.text);
    assert!(shown.text.contains(&forum.to_string()), "the id to copy");
    assert!(
        shown
            .text
            .contains(&format!("<h1 dir=\"auto\">{ESCAPED}</h1>"))
    );
    assert!(!shown.text.contains("/settings"), "{}", shown.text);
    assert!(!shown.text.contains("<a class=\"button"), "{}", shown.text);
}

#[sqlx::test(migrations = false)]
async fn the_pages_of_a_foreign_site_are_as_those_of_none(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let key = format!("/keys/{}", Uuid::now_v7());
    let places = [
        "",
        "/settings",
        "/keys",
        "/keys/rotate",
        &key,
        "/secret",
        "/secret/rotate",
    ];
    assert_unknown(&stage, &mut admin, &places).await;
}

#[sqlx::test(migrations = false)]
async fn nothing_is_counted_beyond_the_reach_of_the_caller(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let forum = site(&stage, "Forum").await;
    let mut conn = pool.acquire().await.unwrap();
    let other = TeamId::from_uuid(Uuid::now_v7());
    for (reach, found) in [
        (Reach::Everything, true),
        (Reach::Team(stage.team), true),
        (Reach::Team(other), false),
    ] {
        let counts = readiness::counts(&mut conn, reach, &[forum]).await;
        let ready = readiness::readiness(&mut conn, reach, forum).await;
        assert_eq!(counts.unwrap().len(), usize::from(found), "{reach:?}");
        assert_eq!(ready.unwrap().is_some(), found, "{reach:?}");
    }
}
