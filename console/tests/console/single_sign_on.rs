//! Single sign-on: a provider says who it is, and which roles the person has.

mod account_takeover;
mod connecting;
mod domains;
mod factors;
mod identities;
mod outages;
mod provider;
mod refusals;
mod roles;
mod unstorable_texts;

use domain::{id::TeamId, role::Role};
use management::{
    Caller,
    people::{self, Person},
};
use poem::http::{Method, StatusCode};
use sqlx::PgPool;
use store::page::Page;

use self::provider::Provider;
use crate::browser::{Answer, Browser, Stage};

/// A console with a provider.
struct Scene {
    stage: Stage,
    provider: Provider,
}

impl Scene {
    async fn new(pool: PgPool) -> Self {
        let provider = Provider::start().await;
        let stage = Stage::signing_on(pool, Some(provider.sign_on())).await;
        Self { stage, provider }
    }

    /// A role in the team, as the provider writes it.
    fn role(&self, role: Role) -> String {
        granted(self.stage.team, role)
    }

    /// A browser goes to the provider, and comes back as this person, with these roles.
    async fn sign_on(&self, browser: &mut Browser, subject: &str, roles: &[String]) -> Answer {
        self.provider.expect(subject, roles);
        let back = self.go(browser, "/sign-on").await;
        browser.get(&back).await
    }

    /// A browser goes to the provider: the path with which it comes back.
    async fn go(&self, browser: &mut Browser, path: &str) -> String {
        let sent = browser.get(path).await;
        self.provider.visit(sent.leads_to())
    }

    /// The person with this address in the team.
    async fn person(&self, subject: &str) -> Option<Person> {
        let page = Page::ONE;
        let page = Page { limit: 100, ..page };
        let caller = Caller::command_line(&self.stage.management);
        let people = people::list(&caller, page);
        let email = format!("{subject}@example.com");
        let is = |person: &Person| person.email == email && person.team == Some(self.stage.team);
        people.await.unwrap().into_iter().find(is)
    }

    async fn count(&self, table: &str) -> i64 {
        let sql = format!("select count(*) from {table}");
        let count = sqlx::query_scalar(sqlx::AssertSqlSafe(sql));
        count.fetch_one(&self.stage.management.pool).await.unwrap()
    }
}

fn granted(team: TeamId, role: Role) -> String {
    format!("gatehouse:{team}:{role}")
}

/// Whether the answer gives the browser a session.
fn signs_in(browser: &Browser) -> bool {
    let cookie = browser.cookie.as_deref().unwrap_or_default();
    cookie.len() > "__Host-gatehouse=".len()
}

#[sqlx::test(migrations = false)]
async fn a_person_with_a_role_gets_an_account_and_is_the_same_at_the_next_sign_in(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let mut browser = scene.stage.browser();
    let page = browser.get("/sign-in").await.text;
    assert!(page.contains("Sign in with Acme") && page.contains("href=\"/sign-on\""));

    let viewer = [scene.role(Role::Viewer)];
    assert_eq!(
        scene.sign_on(&mut browser, "ada", &viewer).await.leads_to(),
        "/"
    );
    assert_eq!(
        browser.attempt.as_deref(),
        Some("__Host-gatehouse-sign-on="),
        "it is forgotten"
    );
    let home = format!("/t/{}/overview", scene.stage.team);
    assert_eq!(browser.get("/").await.leads_to(), home);
    let page = browser.get(&home).await.text;
    assert!(page.contains("Ada Lindqvist") && page.contains("ada@example.com"));
    for action in ["person.create", "session.create"] {
        let (who, request) = scene.stage.last(action).await;
        assert_eq!(who, "ada@example.com", "{action}");
        assert!(request.is_some());
    }
    let account = browser.get("/account").await.text;
    assert!(
        !account.contains("action=\"/account/password\""),
        "there is none to change"
    );

    // Another address at the provider is the same person.
    let mut other = scene.stage.browser();
    scene.provider.expect("ada", &viewer);
    scene
        .provider
        .set(|state| state.person["email"] = "lindqvist@example.com".into());
    let back = scene.go(&mut other, "/sign-on").await;
    assert_eq!(other.get(&back).await.leads_to(), "/");
    assert_eq!(
        (scene.count("users").await, scene.count("sessions").await),
        (1, 2)
    );
    assert_ne!(other.cookie, browser.cookie);
}

#[sqlx::test(migrations = false)]
async fn what_the_token_does_not_say_is_asked_and_must_be_about_the_same_person(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let about = |subject: &str| {
        serde_json::json!({
            "sub": subject, "email": "ada@example.com", "roles": scene.role(Role::Viewer),
        })
    };
    for (subject, status) in [
        ("eve", StatusCode::BAD_GATEWAY),
        ("ada", StatusCode::SEE_OTHER),
    ] {
        let mut browser = scene.stage.browser();
        let about = about(subject);
        scene.provider.set(|state| {
            state.person = serde_json::json!({ "sub": "ada" });
            state.about = about;
        });
        let back = scene.go(&mut browser, "/sign-on").await;
        assert_eq!(browser.get(&back).await.status, status, "{subject}");
    }
    assert_eq!(scene.person("ada").await.unwrap().role, Role::Viewer);
}

#[sqlx::test(migrations = false)]
async fn an_address_that_has_an_account_is_not_enough_but_its_owner_can_connect(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let mut owner = scene.stage.person("ada@example.com", Role::Viewer).await;
    for roles in [vec![], vec![scene.role(Role::Owner)]] {
        let mut thief = scene.stage.browser();
        let refused = scene.sign_on(&mut thief, "ada", &roles).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(
            refused
                .text
                .contains("Sign in with its password. Then connect it")
        );
        assert!(!signs_in(&thief));
    }
    assert_eq!(scene.person("ada").await.unwrap().role, Role::Viewer);

    let page = owner.post("/account/sign-on", "").await;
    assert_eq!(
        page.status,
        StatusCode::OK,
        "a page with a link: {}",
        page.text
    );
    let address = crate::browser::between(&page.text, "main wide\" href=\"", "\"");
    let address = address.replace("&amp;", "&").replace("&#38;", "&");
    let back = scene.provider.visit(&address);
    assert_eq!(owner.get(&back).await.leads_to(), "/account?done=connected");
    assert_eq!(
        scene.stage.last("identity.create").await.0,
        "ada@example.com"
    );
    assert!(owner.get("/account").await.text.contains("connected"));

    let mut browser = scene.stage.browser();
    assert_eq!(
        scene.sign_on(&mut browser, "ada", &[]).await.leads_to(),
        "/"
    );
    assert_eq!(scene.count("users").await, 1);
}

#[sqlx::test(migrations = false)]
async fn an_account_is_connected_only_after_a_recent_password_and_with_one_person(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let mut owner = scene.stage.person("bob@example.com", Role::Viewer).await;
    let make_old = "update sessions set password_at = now() - interval '11 minutes'";
    sqlx::query(make_old)
        .execute(&scene.stage.management.pool)
        .await
        .unwrap();
    let asked = owner.post("/account/sign-on", "").await;
    assert_eq!(asked.status, StatusCode::FORBIDDEN);
    assert!(asked.text.contains("Your password again"));

    scene
        .sign_on(
            &mut scene.stage.browser(),
            "ada",
            &[scene.role(Role::Viewer)],
        )
        .await;
    let password = format!(
        "password_again={}",
        crate::browser::PASSWORD.replace(' ', "+")
    );
    let page = owner.post("/account/sign-on", &password).await;
    let address = crate::browser::between(&page.text, "main wide\" href=\"", "\"");
    let address = address.replace("&amp;", "&").replace("&#38;", "&");
    // Ada is somebody else here already.
    let back = scene.provider.visit(&address);
    let refused = owner.get(&back).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(scene.count("identities").await, 1);
}

#[sqlx::test(migrations = false)]
async fn without_a_provider_there_is_no_such_page_and_head_signs_nobody_in(pool: PgPool) {
    let scene = Scene::new(pool.clone()).await;
    let mut browser = scene.stage.browser();
    scene.provider.expect("ada", &[scene.role(Role::Viewer)]);
    let back = scene.go(&mut browser, "/sign-on").await;
    let head = browser.send(Method::HEAD, &back, "", &[]).await;
    assert_eq!(head.status, StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(scene.count("sessions").await, 0);
    assert_eq!(browser.get(&back).await.leads_to(), "/");

    let stage = Stage::new(pool).await;
    let mut browser = stage.browser();
    assert!(!browser.get("/sign-in").await.text.contains("/sign-on"));
    for path in ["/sign-on", "/sign-on/callback?state=x&code=y"] {
        assert_eq!(
            browser.get(path).await.status,
            StatusCode::NOT_FOUND,
            "{path}"
        );
    }
}
