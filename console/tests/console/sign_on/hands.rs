//! Accounts that change hands: a stranger had the account of somebody else's address before its owner came. The stranger's
//! team invited the address, and the stranger opened the link, set up a second factor, and connected an identity of its own.

mod joining;

use domain::{email::Email, role::Role, totp::TotpSecret};
use management::{
    Caller, Visitor,
    account::links,
    people::{self, Standing, factors, hand_over::hand_over, resets},
};
use poem::http::StatusCode;
use serde_json::{Value, json};
use sqlx::PgPool;
use uuid::Uuid;

use super::{Scene, provider::Provider, signs_in};
use crate::browser::{Answer, Browser, PASSWORD, Stage, base32, between};

/// The address of somebody who has never been here.
const CEO: &str = "ceo@bigcorp.example";
/// What that person chooses.
const NEW: &str = "gravel lantern moth";

fn form(password: &str) -> String {
    format!("password={}", password.replace(' ', "+"))
}

fn sign_in_form(password: &str) -> String {
    format!("email={CEO}&{}", form(password))
}

/// What a stranger has.
struct Stranger {
    browser: Browser,
    factor: TotpSecret,
    recovery_code: String,
}

impl Stranger {
    /// The stranger's team has invited the address, and the stranger has opened the link.
    async fn of(stage: &Stage) -> Self {
        let link = stage.invitation(CEO, Role::Admin).await;
        let mut browser = stage.browser();
        let joined = format!("name=Ceo&{}", form(PASSWORD));
        browser.post(&link, &joined).await.leads_to();
        let page = browser.post("/account/factor", "").await.text;
        let secret = between(&page, "name=\"secret\" value=\"", "\"");
        let factor = TotpSecret::from_bytes(base32(secret));
        let code = format!("code={}", factor.code_at(chrono::Utc::now()));
        let codes = browser.post("/account/factor/confirm", &code).await.text;
        Self {
            browser,
            factor,
            recovery_code: between(&codes, "<li><code>", "</code>").to_owned(),
        }
    }

    /// Signs in with the password, and keeps the session that waits for a code.
    async fn half_session(stage: &Stage) -> Browser {
        let mut browser = stage.browser();
        let asked = browser.post("/sign-in", &sign_in_form(PASSWORD)).await;
        assert_eq!(asked.leads_to(), "/sign-in/code");
        browser
    }
}

/// Begins to connect the account of this browser with a person of the provider: the address with which it comes back.
pub(super) async fn begin_to_connect(
    provider: &Provider,
    browser: &mut Browser,
    subject: &str,
) -> String {
    let page = browser.post("/account/sign-on", "").await.text;
    let address = between(&page, "main wide\" href=\"", "\"");
    let address = address.replace("&amp;", "&").replace("&#38;", "&");
    provider.expect(subject, &[]);
    provider.visit(&address)
}

pub(super) async fn connect(provider: &Provider, browser: &mut Browser, subject: &str) {
    let back = begin_to_connect(provider, browser, subject).await;
    let connected = browser.get(&back).await;
    assert_eq!(connected.leads_to(), "/account?done=connected");
}

/// A browser in which the provider's person is signed in, if the person gets in. The provider says that it checked several
/// factors.
pub(super) async fn gets_in(provider: &Provider, stage: &Stage, subject: &str) -> Option<Browser> {
    let mut browser = stage.browser();
    let claims = json!({ "amr": ["mfa"], "auth_time": chrono::Utc::now().timestamp() });
    provider.expect(subject, &[]);
    provider.set(|state| state.claims = claims);
    let sent = browser.get("/sign-on").await;
    let back = provider.visit(sent.leads_to());
    browser.get(&back).await;
    provider.set(|state| state.claims = json!({}));
    signs_in(&browser).then_some(browser)
}

fn ceo() -> Email {
    CEO.parse().unwrap()
}

/// A link to a new password, by the operator.
async fn reset_link(stage: &Stage) -> String {
    let (by, email) = (Caller::command_line(), ceo());
    let issued = resets::create_of(&stage.management, &by, &email);
    format!("/links/{}", issued.await.unwrap().secret.expose())
}

/// The owner of the address gets a link from the operator, and sets a new password.
async fn reset_password(stage: &Stage) {
    let link = reset_link(stage).await;
    let page = stage.browser().get(&link).await.text;
    assert!(
        page.contains("Everything ends that could sign in"),
        "{page}"
    );
    let done = stage.browser().post(&link, &form(NEW)).await;
    assert_eq!(done.leads_to(), "/sign-in?done=password-set");
}

/// The operator removes the second factor.
async fn remove_factor(stage: &Stage) {
    let (by, email) = (Caller::command_line(), ceo());
    let removed = factors::remove(&stage.management, &by, &email);
    assert!(removed.await.unwrap().had_factor);
}

/// The owner of the address accepts an invitation with the new password.
async fn join(stage: &Stage, role: Role) -> Browser {
    let mut browser = stage.browser();
    let link = stage.invitation(CEO, role).await;
    let answer = browser.post(&link, &form(NEW)).await;
    let there = answer.leads_to();
    assert_ne!(
        there,
        link,
        "nothing else can sign in: {}",
        browser.get(&link).await.text
    );
    if there == "/account/factor" {
        browser.set_up_factor().await;
    }
    browser
}

/// What the audit log of the team has of an action, the latest first.
async fn told(stage: &Stage, action: &str) -> Vec<Value> {
    let details =
        "select details from audit_log where team_id = $1 and action = $2 order by id desc";
    let details = sqlx::query_scalar(details)
        .bind(stage.team.as_uuid())
        .bind(action);
    details.fetch_all(&stage.management.pool).await.unwrap()
}

/// Panics if the stranger gets in with anything that it kept.
async fn assert_nothing_is_left(scene: &Scene, stranger: &mut Stranger, half: &mut Browser) {
    assert!(
        gets_in(&scene.provider, &scene.stage, "eve")
            .await
            .is_none()
    );
    for browser in [&mut stranger.browser, half] {
        assert_eq!(browser.get("/account").await.leads_to(), "/sign-in");
    }
    let refused = scene.stage.browser();
    let refused = refused
        .clone()
        .post("/sign-in", &sign_in_form(PASSWORD))
        .await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[sqlx::test(migrations = false)]
async fn the_attack_step_by_step(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let mut stranger = Stranger::of(&scene.stage).await;
    connect(&scene.provider, &mut stranger.browser, "eve").await;
    let so_far = gets_in(&scene.provider, &scene.stage, "eve").await;
    assert!(so_far.is_some(), "so far the account is the stranger's");
    let mut half = Stranger::half_session(&scene.stage).await;

    reset_password(&scene.stage).await;
    remove_factor(&scene.stage).await;
    let other = scene.stage.with_another_team().await;
    let mut owner = join(&other, Role::Owner).await;
    let tokens = format!("/t/{}/tokens/new", other.team);
    assert_eq!(owner.get(&tokens).await.status, StatusCode::OK);

    if let Some(mut eve) = gets_in(&scene.provider, &scene.stage, "eve").await {
        let page = eve.get(&tokens).await;
        panic!("the stranger signs in, and opens {tokens}: {}", page.status);
    }
    assert_nothing_is_left(&scene, &mut stranger, &mut half).await;
    assert_eq!(owner.get(&tokens).await.status, StatusCode::OK);
}

#[sqlx::test(migrations = false)]
async fn a_new_password_by_a_link_ends_everything_that_could_sign_in(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let stage = &scene.stage;
    let mut stranger = Stranger::of(stage).await;
    connect(&scene.provider, &mut stranger.browser, "eve").await;
    let mut half = Stranger::half_session(stage).await;
    let invite = format!("/t/{}/people/invite", stage.team);
    let friend = "email=friend%40example.com&role=admin";
    let invited = stranger.browser.post(&invite, friend).await.text;
    let friend = between(&invited, "/links/", "<").to_owned();

    let earlier = reset_link(stage).await;
    reset_password(stage).await;
    assert_nothing_is_left(&scene, &mut stranger, &mut half).await;
    let links = [earlier, format!("/links/{friend}")];
    for link in links {
        let gone = stage.browser().get(&link).await.status;
        assert_eq!(gone, StatusCode::NOT_FOUND, "{link}");
    }
    let ended = json!({
        "ended_sessions": 2, "ended_identities": 1, "ended_recovery_codes": 10, "ended_links": 1,
    });
    assert_eq!(told(stage, "password.reset").await, [ended]);

    // The factor stays, but a code that was kept for the day when the app is lost does not.
    let mut owner = stage.browser();
    let asked = owner.post("/sign-in", &sign_in_form(NEW)).await;
    assert_eq!(asked.leads_to(), "/sign-in/code");
    let code = format!("code={}", stranger.recovery_code);
    let refused = owner.post("/sign-in/code", &code).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    let later = chrono::Utc::now() + chrono::TimeDelta::seconds(30);
    let code = format!("code={}", stranger.factor.code_at(later));
    assert_eq!(owner.post("/sign-in/code", &code).await.leads_to(), "/");
    let page = owner.get("/account").await.text;
    assert!(page.contains("You have none left."), "{page}");
}

#[sqlx::test(migrations = false)]
async fn a_removed_factor_ends_everything_that_could_sign_in_but_the_password(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let stage = &scene.stage;
    let mut stranger = Stranger::of(stage).await;
    connect(&scene.provider, &mut stranger.browser, "eve").await;
    let mut half = Stranger::half_session(stage).await;
    let link = reset_link(stage).await;

    remove_factor(stage).await;
    assert!(gets_in(&scene.provider, stage, "eve").await.is_none());
    for browser in [&mut stranger.browser, &mut half] {
        assert_eq!(browser.get("/account").await.leads_to(), "/sign-in");
    }
    assert_eq!(
        stage.browser().get(&link).await.status,
        StatusCode::NOT_FOUND
    );
    let ended = json!({
        "ended_sessions": 2, "ended_identities": 1, "ended_recovery_codes": 10, "ended_links": 1,
        "email": CEO,
    });
    assert_eq!(told(stage, "factor.delete").await, [ended]);
    let mut browser = stage.browser();
    let entered = browser.post("/sign-in", &sign_in_form(PASSWORD)).await;
    assert_eq!(entered.leads_to(), "/account/factor");
}

#[sqlx::test(migrations = false)]
async fn who_removes_the_own_factor_keeps_only_the_present_session(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let stage = &scene.stage;
    let mut stranger = Stranger::of(stage).await;
    connect(&scene.provider, &mut stranger.browser, "eve").await;
    let mut other = gets_in(&scene.provider, stage, "eve").await.unwrap();
    let removed = stranger.browser.post("/account/factor/remove", "").await;
    assert_eq!(removed.leads_to(), "/account?done=factor-removed");
    assert_eq!(other.get("/account").await.leads_to(), "/sign-in");
    assert!(gets_in(&scene.provider, stage, "eve").await.is_none());
    assert_eq!(
        stranger.browser.get("/account").await.leads_to(),
        "/account/factor"
    );
}

#[sqlx::test(migrations = false)]
async fn an_identity_is_not_connected_after_the_account_changed_hands(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let mut stranger = Stranger::of(&scene.stage).await;
    let back = begin_to_connect(&scene.provider, &mut stranger.browser, "eve").await;
    reset_password(&scene.stage).await;
    let refused = stranger.browser.get(&back).await;
    assert_eq!(refused.leads_to(), "/sign-in");
    assert_eq!(scene.count("identities").await, 0);
    remove_factor(&scene.stage).await;
    let other = scene.stage.with_another_team().await;
    join(&other, Role::Owner).await;
    assert!(gets_in(&scene.provider, &other, "eve").await.is_none());
}

#[sqlx::test(migrations = false)]
async fn the_old_password_accepts_nothing(pool: PgPool) {
    let scene = Scene::new(pool).await;
    Stranger::of(&scene.stage).await;
    let second = scene.stage.with_another_team().await;
    let link = second.invitation(CEO, Role::Admin).await;
    reset_password(&scene.stage).await;
    remove_factor(&scene.stage).await;
    let mut browser = scene.stage.browser();
    let refused = browser.post(&link, &form(PASSWORD)).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(!signs_in(&browser));
}

#[sqlx::test(migrations = false)]
async fn a_role_that_is_given_later_is_not_the_strangers(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let mut stranger = Stranger::of(&scene.stage).await;
    connect(&scene.provider, &mut stranger.browser, "eve").await;
    reset_password(&scene.stage).await;
    remove_factor(&scene.stage).await;
    let other = scene.stage.with_another_team().await;
    // The role in the stranger's team needs a factor.
    let mut owner = join(&other, Role::Viewer).await;
    let member: Uuid = sqlx::query_scalar("select id from memberships where team_id = $1")
        .bind(other.team.as_uuid())
        .fetch_one(&scene.stage.management.pool)
        .await
        .unwrap();
    let by = Caller::command_line();
    let promoted = people::update(&scene.stage.management, &by, member.into(), |standing| {
        Standing {
            role: Role::Owner,
            ..standing
        }
    });
    promoted.await.unwrap();
    assert!(gets_in(&scene.provider, &other, "eve").await.is_none());
    let tokens = format!("/t/{}/tokens/new", other.team);
    assert_eq!(owner.get(&tokens).await.status, StatusCode::OK);
}

#[sqlx::test(migrations = false)]
async fn identities_of_two_providers_end_together(pool: PgPool) {
    let first = Scene::new(pool.clone()).await;
    let second = Scene::new(pool).await;
    let mut stranger = Stranger::of(&first.stage).await;
    connect(&first.provider, &mut stranger.browser, "eve").await;
    // The operator chooses another provider, at which the same name is another person.
    let mut there = second.stage.browser();
    there.cookie.clone_from(&stranger.browser.cookie);
    assert!(
        gets_in(&second.provider, &second.stage, "eve")
            .await
            .is_none()
    );
    connect(&second.provider, &mut there, "eve").await;
    let page = there.get("/account").await.text;
    assert!(page.contains(&first.provider.issuer) && page.contains("not in use here now"));
    for scene in [&first, &second] {
        assert!(
            gets_in(&scene.provider, &scene.stage, "eve")
                .await
                .is_some()
        );
    }
    reset_password(&second.stage).await;
    for scene in [&first, &second] {
        assert!(
            gets_in(&scene.provider, &scene.stage, "eve")
                .await
                .is_none()
        );
    }
}

#[sqlx::test(migrations = false)]
async fn an_identity_ends_while_single_sign_on_is_switched_off(pool: PgPool) {
    let on = Scene::new(pool.clone()).await;
    let off = Stage::new(pool).await;
    let mut stranger = Stranger::of(&on.stage).await;
    connect(&on.provider, &mut stranger.browser, "eve").await;
    let mut there = off.browser();
    there.cookie.clone_from(&stranger.browser.cookie);
    let page = there.get("/account").await.text;
    assert!(page.contains("not in use here now"), "{page}");

    reset_password(&off).await;
    remove_factor(&off).await;
    join(&off, Role::Owner).await;
    assert!(gets_in(&on.provider, &on.stage, "eve").await.is_none());
}

#[sqlx::test(migrations = false)]
async fn one_command_hands_the_account_over(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let stage = &scene.stage;
    let mut stranger = Stranger::of(stage).await;
    connect(&scene.provider, &mut stranger.browser, "eve").await;
    let mut half = Stranger::half_session(stage).await;
    let (management, by) = (&stage.management, Caller::command_line());
    let done = hand_over(management, &by, &ceo()).await.unwrap();
    assert!(done.had_factor);
    assert_nothing_is_left(&scene, &mut stranger, &mut half).await;
    let ended = json!({
        "ended_sessions": 2, "ended_identities": 1, "ended_recovery_codes": 10, "ended_links": 0,
        "email": CEO, "had_factor": true,
    });
    assert_eq!(told(stage, "account.hand_over").await, [ended]);

    let link = format!("/links/{}", done.link.secret.expose());
    let set = stage.browser().post(&link, &form(NEW)).await;
    assert_eq!(set.leads_to(), "/sign-in?done=password-set");
    let other = stage.with_another_team().await;
    join(&other, Role::Owner).await;
    assert!(gets_in(&scene.provider, stage, "eve").await.is_none());
}

/// An account whose team has disabled it keeps its address. An operator can free it all the same.
#[sqlx::test(migrations = false)]
async fn an_account_in_no_team_is_handed_over_too(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let stage = &scene.stage;
    Stranger::of(stage).await;
    let disable = "update memberships set disabled_at = now()";
    let pool = &stage.management.pool;
    sqlx::query(disable).execute(pool).await.unwrap();
    let by = Caller::command_line();
    let done = hand_over(&stage.management, &by, &ceo()).await.unwrap();
    let (who, _) = stage.last("account.hand_over").await;
    assert_eq!(who, "command_line");
    // In no team, nobody is told of the new password.
    let here = Visitor::new([192, 0, 2, 1].into(), "Firefox", "req_1".to_owned());
    let link = done.link.secret.hash();
    links::reset_password(&stage.management, &here, link, NEW)
        .await
        .unwrap();
    let other = stage.with_another_team().await;
    let mut owner = join(&other, Role::Owner).await;
    let tokens = format!("/t/{}/tokens/new", other.team);
    assert_eq!(owner.get(&tokens).await.status, StatusCode::OK);
}

/// A sign-in that has read whose the identity is waits for the end of the identity, and does not outlive it.
#[sqlx::test(migrations = false)]
async fn a_sign_in_at_the_same_moment_does_not_outlive_its_identity(pool: PgPool) {
    let scene = Scene::new(pool.clone()).await;
    let mut stranger = Stranger::of(&scene.stage).await;
    connect(&scene.provider, &mut stranger.browser, "eve").await;
    let mut holder = pool.begin().await.unwrap();
    let lock = "select id from users for no key update";
    let user: Uuid = sqlx::query_scalar(lock)
        .fetch_one(&mut *holder)
        .await
        .unwrap();
    let entering = gets_in(&scene.provider, &scene.stage, "eve");
    let ending = async {
        let waits = "select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock')";
        while !sqlx::query_scalar::<_, bool>(waits)
            .fetch_one(&pool)
            .await
            .unwrap()
        {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        store::person::access::end_others(&mut holder, user.into(), None)
            .await
            .unwrap();
        holder.commit().await.unwrap();
    };
    let (entered, ()) = tokio::join!(entering, ending);
    assert!(entered.is_none());
    assert_eq!(scene.count("sessions").await, 0);
}

fn shows(answer: &Answer, texts: &[&str]) {
    for text in texts {
        assert!(answer.text.contains(text), "{text}: {}", answer.text);
    }
}
