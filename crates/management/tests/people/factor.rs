//! The second factor.

use chrono::Utc;
use domain::{key::SecretHash, role::Role};
use management::{
    Caller, Forbidden, Refused,
    account::{Next, one_time_links, second_factor, sessions},
    people,
};
use sqlx::PgPool;

use crate::fixture::{Fixture, HERE, MANY_FAILURES, PASSWORD, anonymous_caller, forbidden};

#[sqlx::test(migrations = false)]
async fn who_needs_a_factor_and_has_none_may_only_set_one_up(pool: PgPool) {
    let app = Fixture::new(pool).await;
    for (role, team) in [
        (Role::Owner, Some(app.team)),
        (Role::Admin, Some(app.team)),
        (Role::Operator, None),
    ] {
        let email = format!("{role}@example.com");
        let link = app
            .invite(&Caller::command_line(&app.management), team, &email, role)
            .await
            .unwrap();
        let signed_in = app.accept(link).await.unwrap();
        assert_eq!(signed_in.next, Next::SetUpFactor);
        let session = signed_in.secret.hash();
        let caller = Caller::session(&app.management, session, team, "req_1".to_owned());
        let listed = people::list(&caller, crate::fixture::ALL).await;
        assert_eq!(forbidden(listed), Forbidden::FactorSetUpRequired, "{role}");
        let listed = sessions::list(&app.management, session).await;
        assert_eq!(forbidden(listed), Forbidden::FactorSetUpRequired, "{role}");

        let begun = second_factor::set_up(&app.management, session)
            .await
            .unwrap();
        let wrong =
            second_factor::confirm(&app.management, &anonymous_caller(HERE), session, "abcdef")
                .await;
        assert!(matches!(wrong, Err(Refused::WrongCode)), "{wrong:?}");
        let code = begun.secret.code_at(Utc::now()).to_string();
        let confirmed =
            second_factor::confirm(&app.management, &anonymous_caller(HERE), session, &code).await;
        let confirmed = confirmed.unwrap();
        assert_eq!(confirmed.recovery_codes.len(), 10);
        // The session has another secret now.
        let old = sessions::list(&app.management, session).await;
        assert!(matches!(old, Err(Refused::Unauthenticated)), "{old:?}");
        let caller = Caller::session(
            &app.management,
            confirmed.secret.hash(),
            team,
            "req_1".to_owned(),
        );
        people::list(&caller, crate::fixture::ALL).await.unwrap();
    }
}

#[sqlx::test(migrations = false)]
async fn a_code_is_accepted_once_and_a_session_without_it_may_do_nothing(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let mut owner = app.person("owner@example.com", Role::Owner).await;
    let sign_in = async || {
        let signed_in = app
            .sign_in(HERE, "owner@example.com", PASSWORD)
            .await
            .unwrap();
        assert_eq!(signed_in.next, Next::GiveFactor);
        signed_in.secret.hash()
    };
    let first = sign_in().await;
    let half = Caller::session(&app.management, first, Some(app.team), "req_1".to_owned());
    let listed = people::list(&half, crate::fixture::ALL).await;
    assert_eq!(forbidden(listed), Forbidden::FactorRequired);
    let removed = second_factor::remove(&app.management, &anonymous_caller(HERE), first).await;
    assert_eq!(forbidden(removed), Forbidden::FactorRequired);
    let begun = second_factor::set_up(&app.management, first).await;
    assert!(matches!(begun, Err(Refused::Conflict(..))), "{begun:?}");

    // Computed once, because a step of 30 seconds may end during the test.
    let [earlier, code, later] = [-30, 0, 30].map(|seconds| owner.code(seconds));
    // Of two who give the same code at once, one is in.
    let second = sign_in().await;
    let (one, other) = tokio::join!(app.give_code(first, &code), app.give_code(second, &code));
    assert_eq!(
        [&one, &other].iter().filter(|given| given.is_ok()).count(),
        1
    );
    owner.session = one.or(other).unwrap().hash();
    app.people(&owner).await.unwrap();
    // Nor is a code of an earlier step accepted, which an eavesdropper may have seen.
    let third = sign_in().await;
    for used in [&earlier, &code] {
        let replayed = app.give_code(third, used).await;
        assert!(matches!(replayed, Err(Refused::WrongCode)), "{replayed:?}");
    }
    app.give_code(third, &later).await.unwrap();
}

#[sqlx::test(migrations = false)]
async fn wrong_codes_end_the_session_and_slow_the_guesser_down(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let owner = app.person("owner@example.com", Role::Owner).await;
    let sign_in = async || {
        let signed_in = app.sign_in(HERE, "owner@example.com", PASSWORD).await;
        signed_in.unwrap().secret.hash()
    };
    let session = sign_in().await;
    for _ in 0..5 {
        let refused = app.give_code(session, "000000").await;
        assert!(matches!(refused, Err(Refused::WrongCode)), "{refused:?}");
    }
    let refused = app.give_code(session, &owner.code(0)).await;
    assert!(
        matches!(refused, Err(Refused::Unauthenticated)),
        "{refused:?}"
    );
    // Another session with the right password does not help who guesses.
    let next = sign_in().await;
    app.run(MANY_FAILURES).await;
    let refused = app.give_code(next, "000000").await;
    assert!(
        matches!(refused, Err(Refused::TooManyTries { .. })),
        "{refused:?}"
    );
    // The owner's own session goes on.
    app.people(&owner).await.unwrap();
}

#[sqlx::test(migrations = false)]
async fn a_recovery_code_stands_in_once(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let owner = app.person("owner@example.com", Role::Owner).await;
    let here = anonymous_caller(HERE);
    let renew = || second_factor::renew_recovery_codes(&app.management, &here, owner.session);
    let old = renew().await.unwrap();
    let codes = renew().await.unwrap();
    assert_eq!(codes.len(), 10);
    let sign_in = async || -> SecretHash {
        let signed_in = app.sign_in(HERE, "owner@example.com", PASSWORD).await;
        signed_in.unwrap().secret.hash()
    };
    let session = sign_in().await;
    let refused = app.give_code(session, &old[0].expose()).await;
    assert!(matches!(refused, Err(Refused::WrongCode)), "{refused:?}");
    let typed = codes[0].expose().to_uppercase();
    app.give_code(session, &typed).await.unwrap();
    let session = sign_in().await;
    let refused = app.give_code(session, &typed).await;
    assert!(matches!(refused, Err(Refused::WrongCode)), "{refused:?}");
    app.give_code(session, &codes[9].expose()).await.unwrap();
    let audited = app.audited().await;
    let used = audited
        .iter()
        .filter(|row| *row == "member recovery_code.use");
    assert_eq!(used.count(), 2);
}

#[sqlx::test(migrations = false)]
async fn a_new_password_by_a_link_does_not_bypass_the_factor(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let owner = app.person("owner@example.com", Role::Owner).await;
    let by = Caller::command_line(&app.management);
    let link = people::password_resets::create(&by, owner.id)
        .await
        .unwrap();
    let new = "a quite different one";
    one_time_links::reset_password(
        &app.management,
        &anonymous_caller(HERE),
        link.secret.hash(),
        new,
    )
    .await
    .unwrap();
    let ended = app.people(&owner).await;
    assert!(matches!(ended, Err(Refused::Unauthenticated)), "{ended:?}");
    let signed_in = app.sign_in(HERE, "owner@example.com", new).await.unwrap();
    assert_eq!(signed_in.next, Next::GiveFactor);
    let caller = Caller::session(
        &app.management,
        signed_in.secret.hash(),
        Some(app.team),
        "req_1".to_owned(),
    );
    let listed = people::list(&caller, crate::fixture::ALL).await;
    assert_eq!(forbidden(listed), Forbidden::FactorRequired);
    app.give_code(signed_in.secret.hash(), &owner.code(0))
        .await
        .unwrap();
}

#[sqlx::test(migrations = false)]
async fn a_team_can_ask_everybody_for_a_factor(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let admin = app.person("admin@example.com", Role::Admin).await;
    let mut viewer = app.person("viewer@example.com", Role::Viewer).await;
    app.people(&viewer).await.unwrap();
    let by = admin.caller();
    let rules = people::sign_in_rules::update(&by, app.team, |mut rules| {
        rules.factor_required = true;
        rules
    });
    assert!(rules.await.unwrap().factor_required);
    assert_eq!(
        forbidden(app.people(&viewer).await),
        Forbidden::FactorSetUpRequired
    );
    app.set_up_factor(&mut viewer).await;
    app.people(&viewer).await.unwrap();
    let changed: serde_json::Value = sqlx::query_scalar(
        "select details from audit_log where action = 'sign_in.update' and actor = 'member'",
    )
    .fetch_one(&app.pool)
    .await
    .unwrap();
    assert_eq!(
        changed,
        serde_json::json!({ "changed": { "factor_required": { "from": false, "to": true } } })
    );
}

#[sqlx::test(migrations = false)]
async fn removing_the_factor_leaves_nothing_but_setting_up_the_next(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let owner = app.person("owner@example.com", Role::Owner).await;
    app.run("update sessions set password_at = now() - interval '11 minutes'")
        .await;
    let here = anonymous_caller(HERE);
    let remove = || second_factor::remove(&app.management, &here, owner.session);
    assert_eq!(
        forbidden(remove().await),
        Forbidden::ReauthenticationRequired
    );
    app.run("update sessions set password_at = now()").await;
    remove().await.unwrap();
    assert_eq!(app.count("select count(*) from recovery_codes").await, 0);
    assert_eq!(
        forbidden(app.people(&owner).await),
        Forbidden::FactorSetUpRequired
    );
    let mut again = owner.clone();
    app.set_up_factor(&mut again).await;
    app.people(&again).await.unwrap();
}
