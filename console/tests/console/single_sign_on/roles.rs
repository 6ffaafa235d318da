//! Roles that the provider grants, changes and takes away, beside those that people give.

use domain::role::Role;
use management::{Caller, people};
use poem::http::StatusCode;
use sqlx::PgPool;

use super::{Scene, granted, signs_in};
use crate::browser::PASSWORD;

#[sqlx::test(migrations = false)]
async fn each_sign_in_brings_the_granted_roles_up_to_date(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let other = scene.stage.with_another_team().await.team;
    let mut browser = scene.stage.browser();
    scene
        .sign_on(&mut browser, "ada", &[scene.role(Role::Viewer)])
        .await;
    let people = format!("/t/{}/people/invite", scene.stage.team);
    assert_eq!(browser.get(&people).await.status, StatusCode::FORBIDDEN);

    // Raised here, added there.
    let roles = [
        scene.role(Role::Moderator),
        granted(other, Role::Viewer),
        "gatehouse:nonsense".to_owned(),
    ];
    assert_eq!(
        scene
            .sign_on(&mut scene.stage.browser(), "ada", &roles)
            .await
            .leads_to(),
        "/"
    );
    assert_eq!(scene.person("ada").await.unwrap().role, Role::Moderator);
    assert_eq!(scene.stage.last("person.update").await.0, "ada@example.com");
    let there = format!("/t/{other}/overview");
    assert_eq!(
        browser.get(&there).await.status,
        StatusCode::OK,
        "also in sessions that are open"
    );

    // Taken away there.
    scene
        .sign_on(
            &mut scene.stage.browser(),
            "ada",
            &[scene.role(Role::Viewer)],
        )
        .await;
    assert_eq!(scene.person("ada").await.unwrap().role, Role::Viewer);
    assert_eq!(
        scene.stage.last("person.disable").await.0,
        "ada@example.com"
    );
    assert_eq!(browser.get(&there).await.status, StatusCode::NOT_FOUND);

    // Taken away everywhere: no session is left.
    let mut last = scene.stage.browser();
    let refused = scene.sign_on(&mut last, "ada", &[]).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    assert!(refused.text.contains("You have no role here"));
    assert!(!signs_in(&last));
    assert_eq!(scene.count("sessions").await, 0);
    assert_eq!(browser.get("/account").await.leads_to(), "/sign-in");

    // And granted again, to the same membership.
    let before = scene.person("ada").await.unwrap();
    assert!(before.disabled_at.is_some());
    scene
        .sign_on(&mut scene.stage.browser(), "ada", &[scene.role(Role::Lead)])
        .await;
    let after = scene.person("ada").await.unwrap();
    assert_eq!(
        (after.id, after.role, after.disabled_at),
        (before.id, Role::Lead, None)
    );
}

#[sqlx::test(migrations = false)]
async fn the_provider_makes_operators_and_knows_no_team_that_does_not_exist(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let nowhere = granted(uuid::Uuid::now_v7().into(), Role::Owner);
    let refused = scene
        .sign_on(
            &mut scene.stage.browser(),
            "eve",
            std::slice::from_ref(&nowhere),
        )
        .await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    let roles = ["gatehouse:operator".to_owned(), nowhere];
    let now = chrono::Utc::now().timestamp();
    let claims = serde_json::json!({ "auth_time": now });
    scene.provider.set(|state| state.claims = claims);
    let mut browser = scene.stage.browser();
    let entered = scene.sign_on(&mut browser, "ada", &roles).await;
    assert_eq!(
        entered.leads_to(),
        "/account/factor",
        "an operator needs a second factor"
    );
    browser.set_up_factor().await;
    assert_eq!(browser.get("/instance/teams").await.status, StatusCode::OK);
}

#[sqlx::test(migrations = false)]
async fn nobody_is_granted_a_role_in_a_closed_team(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let other = scene.stage.with_another_team().await.team;
    let closed = "update teams set closed_at = now() where id = $1";
    let closed = sqlx::query(closed).bind(scene.stage.team.as_uuid());
    closed.execute(&scene.stage.management.pool).await.unwrap();
    let roles = [scene.role(Role::Viewer), granted(other, Role::Viewer)];
    let mut browser = scene.stage.browser();
    scene.sign_on(&mut browser, "ada", &roles).await;
    let open = format!("/t/{other}/overview");
    assert_eq!(browser.get(&open).await.status, StatusCode::OK);
    let closed = format!("/t/{}/overview", scene.stage.team);
    assert_eq!(browser.get(&closed).await.status, StatusCode::NOT_FOUND);
    assert!(scene.person("ada").await.is_none());
}

#[sqlx::test(migrations = false)]
async fn what_people_gave_or_took_by_hand_stays(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let hand = Caller::command_line(&scene.stage.management);
    scene
        .sign_on(
            &mut scene.stage.browser(),
            "ada",
            &[scene.role(Role::Viewer)],
        )
        .await;
    let ada = scene.person("ada").await.unwrap();
    let lead = |standing: people::Standing| people::Standing {
        role: Role::Lead,
        ..standing
    };
    people::update(&hand, ada.id, lead).await.unwrap();
    for roles in [vec![scene.role(Role::Owner)], vec![]] {
        let entered = scene
            .sign_on(&mut scene.stage.browser(), "ada", &roles)
            .await;
        assert_eq!(entered.leads_to(), "/");
        assert_eq!(scene.person("ada").await.unwrap().role, Role::Lead);
    }

    people::disable(&hand, ada.id).await.unwrap();
    let mut browser = scene.stage.browser();
    let refused = scene
        .sign_on(&mut browser, "ada", &[scene.role(Role::Owner)])
        .await;
    assert_eq!(
        refused.status,
        StatusCode::FORBIDDEN,
        "disabled is disabled"
    );
    assert!(!signs_in(&browser));
    assert!(scene.person("ada").await.unwrap().disabled_at.is_some());
}

#[sqlx::test(migrations = false)]
async fn a_granted_role_that_was_taken_by_hand_is_not_granted_again(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let viewer = [scene.role(Role::Viewer)];
    let mut browser = scene.stage.browser();
    scene.sign_on(&mut browser, "ada", &viewer).await;
    let ada = scene.person("ada").await.unwrap();
    let hand = Caller::command_line(&scene.stage.management);
    let disabled = people::disable(&hand, ada.id);
    disabled.await.unwrap();
    assert_eq!(browser.get("/account").await.leads_to(), "/sign-in");
    let refused = scene
        .sign_on(&mut scene.stage.browser(), "ada", &viewer)
        .await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
}

#[sqlx::test(migrations = false)]
async fn a_team_keeps_its_only_owner_whatever_the_provider_says(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let owner = [scene.role(Role::Owner)];
    scene
        .sign_on(&mut scene.stage.browser(), "ada", &owner)
        .await;
    for roles in [vec![scene.role(Role::Viewer)], vec![]] {
        scene
            .sign_on(&mut scene.stage.browser(), "ada", &roles)
            .await;
        let ada = scene.person("ada").await.unwrap();
        assert_eq!((ada.role, ada.disabled_at), (Role::Owner, None));
    }
    scene
        .sign_on(&mut scene.stage.browser(), "bob", &owner)
        .await;
    scene
        .sign_on(
            &mut scene.stage.browser(),
            "ada",
            &[scene.role(Role::Viewer)],
        )
        .await;
    assert_eq!(scene.person("ada").await.unwrap().role, Role::Viewer);
}

#[sqlx::test(migrations = false)]
async fn a_password_opens_only_what_people_gave_by_hand(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let other = scene.stage.with_another_team().await.team;
    let mut local = scene.stage.person("ada@example.com", Role::Viewer).await;
    let page = local.post("/account/sign-on", "").await.text;
    let address = crate::browser::between(&page, "main wide\" href=\"", "\"");
    scene.provider.expect("ada", &[]);
    let back = scene
        .provider
        .visit(&address.replace("&amp;", "&").replace("&#38;", "&"));
    local.get(&back).await;

    let mut browser = scene.stage.browser();
    scene
        .sign_on(&mut browser, "ada", &[granted(other, Role::Viewer)])
        .await;
    let there = format!("/t/{other}/overview");
    assert_eq!(browser.get(&there).await.status, StatusCode::OK);
    let form = format!(
        "email=ada%40example.com&password={}",
        PASSWORD.replace(' ', "+")
    );
    let mut signed_in = scene.stage.browser();
    assert_eq!(signed_in.post("/sign-in", &form).await.leads_to(), "/");
    for browser in [&mut local, &mut signed_in] {
        assert_eq!(browser.get(&there).await.status, StatusCode::NOT_FOUND);
        assert!(
            !browser
                .get("/account")
                .await
                .text
                .contains(&other.to_string())
        );
    }
}
