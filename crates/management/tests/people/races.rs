//! Two things that happen to a person at the same moment.

use std::time::Duration;

use domain::{role::Role, scope::Scope};
use management::{
    Caller, Forbidden, Noun, Refused,
    account::sessions,
    people::{self, password_resets},
};
use sqlx::PgPool;

use crate::fixture::{Fixture, HERE, PASSWORD, Somebody, forbidden};

/// Waits until this many statements of this database wait for locks.
async fn until_statements_wait(app: &Fixture, statements: i64) {
    let waiting = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    while app.count(waiting).await < statements {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[sqlx::test(migrations = false)]
async fn a_try_beside_a_success_is_counted_and_not_an_error(pool: PgPool) {
    let app = Fixture::new(pool).await;
    app.person("ada@example.com", Role::Viewer).await;
    app.sign_in(HERE, "ada@example.com", "guess number 1")
        .await
        .unwrap_err();
    // What a sign-in that succeeds does, at the end of its transaction.
    let mut success = app.pool.begin().await.unwrap();
    sqlx::query("delete from sign_in_failures")
        .execute(&mut *success)
        .await
        .unwrap();
    let (tried, ()) = tokio::join!(
        app.sign_in(HERE, "ada@example.com", "guess number 2"),
        async {
            until_statements_wait(&app, 1).await;
            success.commit().await.unwrap();
        }
    );
    assert!(matches!(tried, Err(Refused::SignInFailed)), "{tried:?}");
    assert_eq!(app.count("select count(*) from sign_in_failures").await, 1);
}

#[sqlx::test(migrations = false)]
async fn case_74_nobody_gets_a_link_for_a_person_who_is_disabled_at_that_moment(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let admin = app.person("admin@example.com", Role::Admin).await;
    let viewer = app.person("viewer@example.com", Role::Viewer).await;
    let mut disabling = app.pool.begin().await.unwrap();
    for statement in [
        "select id from users where email = 'viewer@example.com' for no key update",
        "update memberships set disabled_at = now() where role = 'viewer'",
    ] {
        sqlx::query(statement)
            .execute(&mut *disabling)
            .await
            .unwrap();
    }
    let by = admin.caller();
    let (link, ()) = tokio::join!(password_resets::create(&by, viewer.id), async {
        until_statements_wait(&app, 1).await;
        disabling.commit().await.unwrap();
    });
    assert!(
        matches!(link, Err(Refused::NotFound(Noun::Person))),
        "{link:?}"
    );
    assert_eq!(
        app.count("select count(*) from links where kind = 'reset'")
            .await,
        0
    );
}

#[sqlx::test(migrations = false)]
async fn case_74_no_session_outlives_a_disabling_at_the_same_moment(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let viewer = app.person("viewer@example.com", Role::Viewer).await;
    for round in 0..10 {
        let by = Caller::command_line(&app.management);
        let (signed_in, disabled) = tokio::join!(
            app.sign_in(HERE, "viewer@example.com", PASSWORD),
            people::disable(&by, viewer.id),
        );
        disabled.unwrap();
        assert!(
            matches!(signed_in, Ok(_) | Err(Refused::SignInFailed)),
            "{signed_in:?}"
        );
        let sessions = app.count("select count(*) from sessions").await;
        assert_eq!(sessions, 0, "round {round}");
        app.run("update memberships set disabled_at = null").await;
        app.run("delete from sign_in_failures").await;
    }
}

#[sqlx::test(migrations = false)]
async fn of_two_who_disable_each_other_at_once_one_does(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let one = app.person("one@example.com", Role::Owner).await;
    let other = app.person("other@example.com", Role::Owner).await;
    for round in 0..3 {
        let callers = [one.caller(), other.caller()];
        let (first, second) = tokio::join!(
            people::disable(&callers[0], other.id),
            people::disable(&callers[1], one.id),
        );
        let both = [&first, &second];
        assert_eq!(
            both.iter().filter(|done| done.is_ok()).count(),
            1,
            "{round}: {first:?} {second:?}"
        );
        // Each waits for what the other one has begun. Postgres ends one of them, which may try
        // again.
        assert!(
            both.iter().all(|done| match done {
                Ok(()) | Err(Refused::Unauthenticated) => true,
                Err(Refused::Store(error)) => error.is_outage(),
                Err(_) => false,
            }),
            "{round}: {first:?} {second:?}"
        );
        app.run("update memberships set disabled_at = null").await;
        for gone in [&one, &other] {
            restore_session(&app, gone).await;
        }
    }
}

/// Puts the session of somebody back, with its factor given, if it was ended.
async fn restore_session(app: &Fixture, gone: &Somebody) {
    sqlx::query(
        "insert into sessions (id, user_id, hash, address, user_agent, factor_at)
         select gen_random_uuid(), user_id, $2, '', '', now() from memberships where id = $1
         on conflict do nothing",
    )
    .bind(gone.id.as_uuid())
    .bind(&gone.session.as_bytes()[..])
    .execute(&app.pool)
    .await
    .unwrap();
}

#[sqlx::test(migrations = false)]
async fn case_75_what_waited_for_a_factor_to_be_set_up_asks_for_it(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let viewer = app.person("viewer@example.com", Role::Viewer).await;
    let moderator = app.person("moderator@example.com", Role::Moderator).await;
    // Another session of each has the first code accepted at this moment.
    let mut confirming = app.pool.begin().await.unwrap();
    for statement in [
        "select id from users for no key update",
        "insert into factors (user_id, secret, confirmed_at) select id, '', now() from users",
        "update sessions set factor_at = null",
    ] {
        sqlx::query(statement)
            .execute(&mut *confirming)
            .await
            .unwrap();
    }
    let by = moderator.caller();
    let (changed, own, ()) = tokio::join!(
        by.change(Scope::MediaDecide),
        sessions::list(&app.management, viewer.session),
        async {
            until_statements_wait(&app, 2).await;
            confirming.commit().await.unwrap();
        }
    );
    assert_eq!(forbidden(changed.map(drop)), Forbidden::FactorRequired);
    assert_eq!(forbidden(own), Forbidden::FactorRequired);
}
