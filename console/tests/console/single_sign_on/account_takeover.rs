//! Accounts that change hands: a stranger had the account of somebody else's address before its owner came. The stranger's
//! team invited the address, and the stranger opened the link, set up a second factor, and connected an identity of its own.

mod joining;
mod stranger;

use domain::role::Role;
use management::{
    AnonymousCaller, Caller,
    account::one_time_links,
    people::{self, Standing, transfer_account::transfer_account},
};
use poem::http::StatusCode;
use serde_json::{Value, json};
use sqlx::PgPool;
use uuid::Uuid;

use self::stranger::{
    CEO, NEW, Stranger, assert_nothing_is_left, ceo, form, join, remove_factor, reset_link,
    reset_password, sign_in_form,
};
use super::{
    Scene,
    connecting::{begin_to_connect, connect, gets_in},
    signs_in,
};
use crate::browser::{PASSWORD, Stage, between};

/// What the audit log of the team has of an action, the latest first.
async fn told(stage: &Stage, action: &str) -> Vec<Value> {
    let details =
        "select details from audit_log where team_id = $1 and action = $2 order by id desc";
    let details = sqlx::query_scalar(details)
        .bind(stage.team.as_uuid())
        .bind(action);
    details.fetch_all(&stage.management.pool).await.unwrap()
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
    let by = Caller::command_line(&scene.stage.management);
    let promoted = people::update(&by, member.into(), |standing| Standing {
        role: Role::Owner,
        ..standing
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
    let by = Caller::command_line(&stage.management);
    let done = transfer_account(&by, &ceo()).await.unwrap();
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
    let by = Caller::command_line(&stage.management);
    let done = transfer_account(&by, &ceo()).await.unwrap();
    let (who, _) = stage.last("account.hand_over").await;
    assert_eq!(who, "command_line");
    // In no team, nobody is told of the new password.
    let here = AnonymousCaller::new([192, 0, 2, 1].into(), "Firefox", "req_1".to_owned());
    let link = done.link.secret.hash();
    one_time_links::reset_password(&stage.management, &here, link, NEW)
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
        store::person::credentials::end_others(&mut holder, user.into(), None)
            .await
            .unwrap();
        holder.commit().await.unwrap();
    };
    let (entered, ()) = tokio::join!(entering, ending);
    assert!(entered.is_none());
    assert_eq!(scene.count("sessions").await, 0);
}
