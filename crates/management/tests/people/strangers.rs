//! What strangers try, and people who know a password but not the second factor.

use std::time::Duration;

use domain::role::Role;
use management::{
    AnonymousCaller, Refused,
    account::{
        Next, second_factor,
        sign_in::{self, give_code, give_password},
    },
};
use sqlx::PgPool;

use crate::fixture::{ELSEWHERE, Fixture, HERE, PASSWORD, anonymous_caller};

#[sqlx::test(migrations = false)]
async fn case_78_what_costs_no_hash_leaves_no_row(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let long = "long ".repeat(100);
    for n in 0..3 {
        let email = format!("{n}@example.com");
        let refused = app.sign_in(HERE, &email, &long).await;
        assert!(matches!(refused, Err(Refused::SignInFailed)), "{refused:?}");
    }
    assert_eq!(app.count("select count(*) from sign_in_failures").await, 0);
}

#[sqlx::test(migrations = false)]
async fn case_77_a_thief_of_the_password_alone_does_not_end_the_owners_sessions(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let owner = app.person("owner@example.com", Role::Owner).await;
    app.run("update sessions set used_at = now() - interval '1 minute'")
        .await;
    for n in 0..25 {
        let address = [203, 0, 113, n];
        let signed_in = app.sign_in(address, "owner@example.com", PASSWORD).await;
        assert_eq!(signed_in.unwrap().next, Next::GiveFactor);
    }
    assert_eq!(app.count("select count(*) from sessions").await, 20);
    app.people(&owner).await.unwrap();
}

#[sqlx::test(migrations = false)]
async fn a_session_that_wrong_codes_have_ended_is_in_the_audit_log(pool: PgPool) {
    let app = Fixture::new(pool).await;
    app.person("owner@example.com", Role::Owner).await;
    let signed_in = app.sign_in(ELSEWHERE, "owner@example.com", PASSWORD).await;
    let signed_in = signed_in.unwrap();
    for _ in 0..5 {
        app.give_code(signed_in.secret.hash(), "000000")
            .await
            .unwrap_err();
    }
    let ended: Vec<(uuid::Uuid, serde_json::Value)> =
        sqlx::query_as("select target_id, details from audit_log where action = 'session.end'")
            .fetch_all(&app.pool)
            .await
            .unwrap();
    let details = serde_json::json!({ "wrong_codes": 5, "address": "192.0.2.1" });
    assert_eq!(ended, [(signed_in.session.as_uuid(), details)]);
}

#[sqlx::test(migrations = false)]
async fn case_76_codes_are_not_guessed_from_many_addresses(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let owner = app.person("owner@example.com", Role::Owner).await;
    let mut tried = 0;
    for n in 0..40 {
        let from = AnonymousCaller::new([203, 0, 113, n].into(), "", "req_1".to_owned());
        let signed_in = app
            .sign_in([203, 0, 113, n], "owner@example.com", PASSWORD)
            .await
            .unwrap();
        for _ in 0..3 {
            let session = signed_in.secret.hash();
            match give_code(&app.management, &from, session, "000000").await {
                Err(Refused::WrongCode) => tried += 1,
                Err(Refused::TooManyTries { .. }) => {}
                other => panic!("{other:?}"),
            }
        }
    }
    assert!(tried <= 60, "{tried} codes of 120 were tried");
    // It is a wait and no lock: the owner, who knows the code, is in after it.
    app.run("update sign_in_failures set last_at = now() - interval '1 minute'")
        .await;
    let signed_in = app.sign_in(HERE, "owner@example.com", PASSWORD).await;
    app.give_code(signed_in.unwrap().secret.hash(), &owner.code(0))
        .await
        .unwrap();
}

#[sqlx::test(migrations = false)]
async fn nothing_secret_is_printed(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let viewer = app.person("viewer@example.com", Role::Viewer).await;
    let begun = second_factor::set_up(&app.management, viewer.session)
        .await
        .unwrap();
    let printed = format!("{begun:?}");
    assert!(!printed.contains(&begun.secret.base32()), "{printed}");
    let email = "viewer@example.com".parse().unwrap();
    let mut conn = app.pool.acquire().await.unwrap();
    let account = store::person::account(&mut conn, &email).await.unwrap();
    let printed = format!("{account:?}");
    assert!(!printed.contains("argon2id"), "{printed}");
}

#[sqlx::test(migrations = false)]
async fn a_greedy_address_does_not_keep_others_from_signing_in(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let ada = app.person("ada@example.com", Role::Viewer).await;
    let guessing = {
        let management = app.management.clone();
        tokio::spawn(async move {
            let guesses = (0..200).map(|n| {
                let management = management.clone();
                async move {
                    let email = format!("{n}@example.com");
                    let from = anonymous_caller(ELSEWHERE);
                    sign_in::sign_in(&management, &from, &email, PASSWORD)
                        .await
                        .is_ok()
                }
            });
            futures::future::join_all(guesses).await
        })
    };
    while app.count("select count(*) from sign_in_failures").await < 10 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let began = std::time::Instant::now();
    give_password(
        &app.management,
        &anonymous_caller(HERE),
        ada.session,
        PASSWORD,
    )
    .await
    .unwrap();
    let took = began.elapsed();
    assert!(!guessing.is_finished(), "{took:?}");
    guessing.abort();
}
