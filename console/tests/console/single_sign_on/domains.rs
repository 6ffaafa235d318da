//! Addresses that belong to the provider: it says whose they are, and a stranger's invitation of one keeps nobody out.

use domain::role::Role;
use poem::http::StatusCode;
use serde_json::{Value, json};
use sqlx::PgPool;

use super::{Scene, provider::Provider, signs_in};
use crate::browser::{Answer, Browser, PASSWORD, Stage, between};

const CEO: &str = "ceo@bigcorp.example";

impl Scene {
    async fn owning(pool: PgPool) -> Self {
        let provider = Provider::start().await;
        let sign_on = provider.sign_on();
        let sign_on = sign_on.owning(vec!["bigcorp.example".parse().unwrap()]);
        let stage = Stage::signing_on(pool, Some(sign_on)).await;
        Self { stage, provider }
    }

    /// Who signs in next.
    fn expect_ceo(&self, subject: &str, verified: &Value, roles: &[String]) {
        let person = json!({
            "sub": subject, "email": CEO, "email_verified": verified, "name": "The Boss", "roles": roles,
            "auth_time": chrono::Utc::now().timestamp(),
        });
        self.provider.set(|state| state.person = person);
    }

    async fn enter(&self, browser: &mut Browser, path: &str) -> Answer {
        let back = self.go(browser, path).await;
        browser.get(&back).await
    }

    /// Takes the address from the account that has it.
    async fn take(&self, browser: &mut Browser) -> Answer {
        let page = browser.post("/sign-on/take-address", "").await.text;
        let address = between(&page, "main wide\" href=\"", "\"");
        let address = address.replace("&amp;", "&").replace("&#38;", "&");
        let back = self.provider.visit(&address);
        browser.get(&back).await
    }
}

fn local() -> String {
    format!("name=Ceo&password={}", PASSWORD.replace(' ', "+"))
}

#[sqlx::test(migrations = false)]
async fn a_teams_link_creates_no_local_account_but_the_provider_lets_its_owner_join(pool: PgPool) {
    let scene = Scene::owning(pool).await;
    let link = scene.stage.invitation(CEO, Role::Lead).await;
    let mut stranger = scene.stage.browser();
    let page = stranger.get(&link).await.text;
    assert!(
        page.contains("Continue with Acme") && !page.contains("type=\"password\""),
        "{page}"
    );
    stranger.post(&link, &local()).await;
    assert!(!signs_in(&stranger));
    // A stranger with another account there, and one whose address nobody has verified.
    let sign_on = format!("{link}/sign-on");
    scene.provider.expect("eve", &[]);
    scene.enter(&mut stranger, &sign_on).await;
    scene.expect_ceo("eve", &Value::Null, &[]);
    scene.enter(&mut stranger, &sign_on).await;
    scene.expect_ceo("eve", &json!(false), &[]);
    scene.enter(&mut stranger, &sign_on).await;
    assert!(!signs_in(&stranger));
    assert_eq!(scene.count("users").await, 0);

    let mut owner = scene.stage.browser();
    scene.expect_ceo("boss", &json!(true), &[]);
    assert_eq!(scene.enter(&mut owner, &sign_on).await.leads_to(), link);
    let there = format!("/t/{}/overview", scene.stage.team);
    assert_eq!(owner.post(&link, "").await.leads_to(), there);
    assert!(owner.get(&there).await.text.contains("The Boss"));
    assert_eq!(stranger.get(&link).await.status, StatusCode::NOT_FOUND);
    // An address of another domain is as before.
    let other = scene
        .stage
        .invitation("ceo@other.example", Role::Lead)
        .await;
    stranger.post(&other, &local()).await.leads_to();
    assert!(signs_in(&stranger));
}

#[sqlx::test(migrations = false)]
async fn an_account_that_was_never_proven_gives_its_address_up(pool: PgPool) {
    // It is older than the setting.
    let before = Stage::new(pool.clone()).await;
    let mut stranger = before.person(CEO, Role::Viewer).await;
    let scene = Scene::owning(pool.clone()).await;
    let roles = [scene.role(Role::Owner)];

    let mut owner = scene.stage.browser();
    for verified in [Value::Null, json!("maybe")] {
        scene.expect_ceo("boss", &verified, &roles);
        let refused = scene.enter(&mut owner, "/sign-on").await;
        assert!(
            refused
                .text
                .contains("Sign in with its password. Then connect it")
        );
        assert!(scene.take(&mut owner).await.status.is_client_error());
    }
    scene.expect_ceo("boss", &json!(true), &roles);
    let asked = scene.enter(&mut owner, "/sign-on").await;
    assert_eq!(asked.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        asked.text.contains("It is not mine: take the address"),
        "{}",
        asked.text
    );
    assert_eq!(
        stranger.get("/account").await.status,
        StatusCode::OK,
        "nothing has changed"
    );

    assert_eq!(scene.take(&mut owner).await.leads_to(), "/account/factor");
    assert_eq!(stranger.get("/account").await.leads_to(), "/sign-in");
    let form = format!("email={CEO}&password={}", PASSWORD.replace(' ', "+"));
    let refused = scene.stage.browser().post("/sign-in", &form).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    let told: Value = sqlx::query_scalar(
        "select details from audit_log where action = 'address.give_up' and team_id = $1",
    )
    .bind(before.team.as_uuid())
    .fetch_one(&pool)
    .await
    .unwrap();
    assert_eq!(told["changed"]["email"]["from"], CEO);
    assert_eq!(told["ended"]["ended_sessions"], 1);
    assert_eq!(told["decided_by"], "provider");
    // The stranger's team sees that its member is somebody else. The owner of the address is in none of its teams.
    let teams = "select count(*) from memberships m join users u on u.id = m.user_id where u.email = $1 and m.team_id = $2";
    let there: i64 = sqlx::query_scalar(teams)
        .bind(CEO)
        .bind(before.team.as_uuid())
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(there, 0);
    owner.set_up_factor().await;
    let home = format!("/t/{}/overview", scene.stage.team);
    assert_eq!(owner.get(&home).await.status, StatusCode::OK);
}

#[sqlx::test(migrations = false)]
async fn a_proven_account_keeps_its_address(pool: PgPool) {
    let before = Stage::new(pool.clone()).await;
    let mut owner = before.person(CEO, Role::Viewer).await;
    let scene = Scene::owning(pool).await;
    let mut browser = scene.stage.browser();
    browser.cookie.clone_from(&owner.cookie);
    scene.expect_ceo("boss", &json!(true), &[]);
    let page = browser.post("/account/sign-on", "").await.text;
    let address = between(&page, "main wide\" href=\"", "\"");
    let address = address.replace("&amp;", "&").replace("&#38;", "&");
    let back = scene.provider.visit(&address);
    assert_eq!(
        browser.get(&back).await.leads_to(),
        "/account?done=connected"
    );

    // Another person there has the same address later.
    let roles = [scene.role(Role::Owner)];
    scene.expect_ceo("heir", &json!(true), &roles);
    let mut heir = scene.stage.browser();
    let refused = scene.enter(&mut heir, "/sign-on").await;
    assert!(
        refused
            .text
            .contains("Sign in with its password. Then connect it")
    );
    assert!(!refused.text.contains("take the address"));
    assert!(scene.take(&mut heir).await.status.is_client_error());
    assert_eq!(owner.get("/account").await.status, StatusCode::OK);
}

#[sqlx::test(migrations = false)]
async fn an_address_of_no_such_domain_is_not_taken(pool: PgPool) {
    let before = Stage::new(pool.clone()).await;
    let mut local = before.person("ada@example.com", Role::Viewer).await;
    let scene = Scene::owning(pool).await;
    let person = json!({
        "sub": "ada", "email": "ada@example.com", "email_verified": true,
        "roles": [scene.role(Role::Owner)],
    });
    scene.provider.set(|state| state.person = person);
    let mut browser = scene.stage.browser();
    assert!(scene.take(&mut browser).await.status.is_client_error());
    assert!(!signs_in(&browser));
    assert_eq!(local.get("/account").await.status, StatusCode::OK);
}

/// Another site cannot have somebody lose an account: taking an address begins with a form of the console's own.
#[sqlx::test(migrations = false)]
async fn another_site_does_not_begin_to_take_an_address(pool: PgPool) {
    let scene = Scene::owning(pool).await;
    let mut browser = scene.stage.browser();
    let foreign = [("sec-fetch-site", "cross-site")];
    let path = "/sign-on/take-address";
    let refused = browser
        .send(poem::http::Method::POST, path, "", &foreign)
        .await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    assert!(browser.attempt.is_none());
    assert_eq!(
        browser.get(path).await.status,
        StatusCode::METHOD_NOT_ALLOWED
    );
}
