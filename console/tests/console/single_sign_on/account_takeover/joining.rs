//! Joining a further team: what else can sign in is shown, and ends in the same step. Honest people lose nothing of what they
//! sign in with at that moment.

use domain::role::Role;
use management::{Caller, people::password_resets};
use poem::http::StatusCode;
use serde_json::json;
use sqlx::PgPool;

use super::{
    super::{
        Scene,
        connecting::{connect, gets_in},
        signs_in,
    },
    told,
};
use crate::browser::{Answer, PASSWORD, Stage};

const ADA: &str = "ada@example.com";

fn form() -> String {
    format!("password={}", PASSWORD.replace(' ', "+"))
}

#[sqlx::test(migrations = false)]
async fn what_else_can_sign_in_is_shown_to_the_owner_only_and_ends_with_the_joining(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let stage = &scene.stage;
    let mut earlier = stage.person(ADA, Role::Viewer).await;
    connect(&scene.provider, &mut earlier, "eve").await;
    let email = ADA.parse().unwrap();
    let by = Caller::command_line(&stage.management);
    let reset = password_resets::create_of(&by, &email);
    let reset = format!("/links/{}", reset.await.unwrap().secret.expose());
    let other = stage.with_another_team().await;
    let link = other.invitation(ADA, Role::Lead).await;

    // The link without the password tells nothing.
    let mut browser = stage.browser();
    let page = browser.get(&link).await;
    assert!(!page.text.contains("eve@example.com") && !page.text.contains("session"));
    let wrong = browser.post(&link, "password=wrong+horse+battery").await;
    assert!(!wrong.text.contains("eve@example.com") && !signs_in(&browser));

    assert_eq!(browser.post(&link, &form()).await.leads_to(), link);
    let page = browser.get(&link).await;
    let issuer = scene.provider.issuer.clone();
    shows(
        &page,
        &[
            "1 other session<",
            &issuer,
            "eve@example.com",
            "1 link to a new password",
        ],
    );
    // Nothing has ended so far, and the person is not in the team.
    assert_eq!(earlier.get("/account").await.status, StatusCode::OK);
    let there = format!("/t/{}/overview", other.team);
    assert_eq!(browser.get(&there).await.status, StatusCode::NOT_FOUND);

    assert_eq!(browser.post(&link, "").await.leads_to(), there);
    assert_eq!(browser.get(&there).await.status, StatusCode::OK);
    assert_eq!(earlier.get("/account").await.leads_to(), "/sign-in");
    assert!(gets_in(&scene.provider, stage, "eve").await.is_none());
    assert_eq!(
        stage.browser().get(&reset).await.status,
        StatusCode::NOT_FOUND
    );
    let ended = json!({
        "ended_sessions": 1, "ended_identities": 1, "ended_recovery_codes": 0, "ended_links": 1,
    });
    for stage in [stage, &other] {
        assert_eq!(
            told(stage, "access.end").await,
            std::slice::from_ref(&ended)
        );
    }
}

#[sqlx::test(migrations = false)]
async fn a_second_factor_comes_before_the_joining_and_its_recovery_codes_end(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let mut earlier = stage.browser();
    let link = stage.invitation(ADA, Role::Owner).await;
    earlier.post(&link, &format!("name=Ada&{}", form())).await;
    let factor = earlier.set_up_factor().await;
    let other = stage.with_another_team().await;
    let link = other.invitation(ADA, Role::Lead).await;
    let mut browser = stage.browser();
    let asked = browser.post(&link, &form()).await;
    let path = asked.leads_to().to_owned();
    assert!(path.starts_with("/sign-in/code?link=link_"), "{path}");
    // Without the code, the person is asked for the password again, and joins nothing.
    assert!(browser.get(&link).await.text.contains("type=\"password\""));
    browser.get(&path).await;
    let secret = path.split("link=").nth(1).unwrap();
    let later = chrono::Utc::now() + chrono::TimeDelta::seconds(30);
    let code = format!("code={}&link={secret}", factor.code_at(later));
    assert_eq!(browser.post("/sign-in/code", &code).await.leads_to(), link);
    shows(
        &browser.get(&link).await,
        &["10 recovery codes", "1 other session<"],
    );
    let there = format!("/t/{}/overview", other.team);
    assert_eq!(browser.post(&link, "").await.leads_to(), there);
    let page = browser.get("/account").await;
    shows(&page, &["You have none left."]);
    assert_eq!(earlier.get("/account").await.leads_to(), "/sign-in");
}

#[sqlx::test(migrations = false)]
async fn who_signed_in_at_the_provider_keeps_that_identity_and_this_session(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let stage = &scene.stage;
    let mut earlier = stage.person(ADA, Role::Viewer).await;
    connect(&scene.provider, &mut earlier, "ada").await;
    let mut browser = gets_in(&scene.provider, stage, "ada").await.unwrap();
    let other = stage.with_another_team().await;
    let link = other.invitation(ADA, Role::Lead).await;
    let page = browser.get(&link).await;
    shows(&page, &["1 other session<"]);
    assert!(!page.text.contains(&scene.provider.issuer), "{}", page.text);
    let there = format!("/t/{}/overview", other.team);
    assert_eq!(browser.post(&link, "").await.leads_to(), there);
    assert_eq!(browser.get(&there).await.status, StatusCode::OK);
    assert_eq!(earlier.get("/account").await.leads_to(), "/sign-in");
    assert!(gets_in(&scene.provider, stage, "ada").await.is_some());
}

#[sqlx::test(migrations = false)]
async fn who_has_no_password_joins_by_signing_in_at_the_provider(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let stage = &scene.stage;
    let roles = [scene.role(Role::Viewer)];
    scene.sign_on(&mut stage.browser(), "ada", &roles).await;
    let other = stage.with_another_team().await;
    let link = other.invitation(ADA, Role::Lead).await;
    let mut browser = stage.browser();
    let sign_on = format!("{link}/sign-on");
    shows(&browser.get(&link).await, &["Continue with Acme", &sign_on]);

    // Another person of the provider is not the one who is invited.
    let mut eve = stage.browser();
    scene.provider.expect("eve", &roles);
    let back = scene.go(&mut eve, &sign_on).await;
    let refused = eve.get(&back).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(!signs_in(&eve));

    scene.provider.expect("ada", &roles);
    let now = chrono::Utc::now().timestamp();
    scene
        .provider
        .set(|state| state.claims = json!({ "auth_time": now }));
    let back = scene.go(&mut browser, &sign_on).await;
    assert_eq!(browser.get(&back).await.leads_to(), link);
    let there = format!("/t/{}/overview", other.team);
    assert_eq!(browser.post(&link, "").await.leads_to(), there);
    assert_eq!(browser.get(&there).await.status, StatusCode::OK);
    assert!(scene.count("identities").await == 1);
}

/// The session is no proof for ever: the person authenticates again before joining.
#[sqlx::test(migrations = false)]
async fn an_old_session_gives_the_password_again_before_it_joins(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let mut browser = stage.person(ADA, Role::Viewer).await;
    let make_old = "update sessions set password_at = now() - interval '11 minutes'";
    sqlx::query(make_old).execute(&pool).await.unwrap();
    let other = stage.with_another_team().await;
    let link = other.invitation(ADA, Role::Lead).await;
    let asked = browser.post(&link, "").await;
    assert_eq!(asked.status, StatusCode::FORBIDDEN);
    shows(&asked, &["Your password again"]);
    let again = format!("password_again={}", PASSWORD.replace(' ', "+"));
    let there = format!("/t/{}/overview", other.team);
    assert_eq!(browser.post(&link, &again).await.leads_to(), there);
}

fn shows(answer: &Answer, texts: &[&str]) {
    for text in texts {
        assert!(answer.text.contains(text), "{text}: {}", answer.text);
    }
}
