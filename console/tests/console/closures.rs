//! Closures: beginning one, watching it, and cancelling it.

use domain::role::Role;
use poem::http::StatusCode;
use sqlx::PgPool;
use uuid::Uuid;

use crate::{browser::Stage, sites::site};

#[sqlx::test(migrations = false)]
async fn an_owner_closes_a_site_and_cancels_it(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let path = format!("/t/{}/closures", stage.team);
    let mut owner = stage.person("owner@market.example", Role::Owner).await;
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    assert_eq!(admin.get(&path).await.status, StatusCode::FORBIDDEN);
    let (site, name) = (site(&stage, "Fan club").await, "Fan club");
    let settings = format!("/t/{}/sites/{site}/settings", stage.team);
    let form = format!("closures?site={site}");
    assert!(owner.get(&settings).await.text.contains(&form));
    assert!(!admin.get(&settings).await.text.contains(&form));
    let empty = owner.get(&format!("{path}?site={site}")).await.text;
    assert!(
        empty.contains("No closure") && empty.contains(&format!("\"{site}\" selected")),
        "{empty}"
    );
    for (form, told) in [
        (
            format!("what={site}&name=x&grace_days=30"),
            "Must be the exact name of the site",
        ),
        (
            "what=team&name=x&grace_days=30".into(),
            "Must be the exact name of the team",
        ),
        (
            format!("what={site}&name=x&grace_days=400"),
            "Must be a whole number from 0 to 365",
        ),
        (
            "what=x&name=x&grace_days=1".into(),
            "Must be one of those that are offered",
        ),
    ] {
        let wrong = owner.post(&path, &form).await;
        assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY, "{form}");
        assert!(wrong.text.contains(told), "{form}: {}", wrong.text);
    }
    let form = format!("what={site}&name={}&grace_days=7", name.replace(' ', "+"));
    let begun = owner.post(&path, &form).await;
    assert_eq!(begun.status, StatusCode::SEE_OTHER, "{}", begun.text);
    let id: Uuid = sqlx::query_scalar("select id from closures")
        .fetch_one(&pool)
        .await
        .unwrap();
    let page = format!("{path}/{id}");
    let shown = owner.get(&page).await.text;
    assert!(
        shown.contains(">grace<") && shown.contains("Cancel the closure"),
        "{shown}"
    );
    let command = format!("--site {site} --export ");
    assert!(shown.contains(&command), "{shown}");
    let title = format!("the site <span dir=\"auto\">{name}</span></h1>");
    assert_eq!(shown.matches(name).count(), 2, "{shown}");
    assert!(shown.contains(&title), "{shown}");
    assert!(owner.get(&path).await.text.contains(name));
    assert_eq!(stage.last("closure.create").await.0, "owner@market.example");
    let banner = admin.get(&settings).await.text;
    assert!(banner.contains("accepts no submissions"), "{banner}");
    assert!(!banner.contains(&page), "{banner}");
    assert!(owner.get(&settings).await.text.contains(&page));

    sqlx::query("update closures set waits_for = 'legal_hold'")
        .execute(&pool)
        .await
        .unwrap();
    let waiting = owner.get(&page).await.text;
    assert!(waiting.contains("a legal hold to be lifted"), "{waiting}");
    let cancelled = owner.post(&format!("{page}/cancel"), "").await;
    assert_eq!(
        cancelled.status,
        StatusCode::SEE_OTHER,
        "{}",
        cancelled.text
    );
    let shown = owner.get(&page).await.text;
    assert!(
        shown.contains(">cancelled<") && !shown.contains("Cancel the closure"),
        "{shown}"
    );
    let open = "select count(*) from sites where closure_id is not null";
    let open: i64 = sqlx::query_scalar(open).fetch_one(&pool).await.unwrap();
    assert_eq!(open, 0);
}

#[sqlx::test(migrations = false)]
async fn an_operator_closes_a_team(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let mut operator = stage.person("ops@example.com", Role::Operator).await;
    let name: String = sqlx::query_scalar("select name from teams where id = $1")
        .bind(stage.team.as_uuid())
        .fetch_one(&pool)
        .await
        .unwrap();
    let team = operator
        .get(&format!("/instance/teams/{}", stage.team))
        .await
        .text;
    let form = format!("/instance/closures?team={}", stage.team);
    assert!(team.contains(&form), "{team}");
    let offered = operator.get(&form).await.text;
    assert!(offered.contains("the whole team"), "{offered}");
    let form = format!(
        "team={}&what=team&name={}&grace_days=7",
        stage.team,
        name.replace(' ', "+")
    );
    let begun = operator.post("/instance/closures", &form).await;
    assert_eq!(begun.status, StatusCode::SEE_OTHER, "{}", begun.text);
    let closing = "select count(*) from teams where closure_id is not null";
    let closing: i64 = sqlx::query_scalar(closing).fetch_one(&pool).await.unwrap();
    assert_eq!(closing, 1);
    let list = operator.get("/instance/closures").await.text;
    assert!(list.contains(">grace<"), "{list}");
}
