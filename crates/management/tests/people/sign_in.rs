//! Signing in: accounts, throttling, passwords.

use std::time::Instant;

use domain::role::Role;
use futures::future::join_all;
use management::{
    Caller, Forbidden, Refused,
    account::{
        Next,
        current_caller::{self, Who},
        sign_in::{change_password, give_password, sign_out},
    },
    people,
};
use sqlx::PgPool;

use crate::fixture::{
    ELSEWHERE, Fixture, HERE, MANY_FAILURES, PASSWORD, anonymous_caller, forbidden,
};

#[sqlx::test(migrations = false)]
async fn a_person_signs_in_acts_in_the_team_and_signs_out(pool: PgPool) {
    let app = Fixture::new(pool).await;
    app.person("ada@example.com", Role::Viewer).await;
    let signed_in = app
        .sign_in(HERE, " Ada@Example.com", PASSWORD)
        .await
        .unwrap();
    assert_eq!(signed_in.next, Next::Enter);
    let session = signed_in.secret.hash();
    let caller = || Caller::session(&app.management, session, Some(app.team), "req_3".to_owned());
    let me = current_caller::get(&caller()).await.unwrap();
    let Who::Person(person, memberships) = me.who else {
        panic!("{:?}", me.who);
    };
    assert_eq!(
        (person.email.as_str(), person.role),
        ("ada@example.com", Role::Viewer)
    );
    assert_eq!(memberships.len(), 1);
    assert_eq!(me.scopes, Role::Viewer.scopes());

    // In a team that the person is not in, and as an operator, the session is worth nothing.
    for team in [Some(app.another_team().await), None] {
        let stranger = Caller::session(&app.management, session, team, "req_4".to_owned());
        let refused = current_caller::get(&stranger).await;
        assert!(
            matches!(refused, Err(Refused::Unauthenticated)),
            "{refused:?}"
        );
    }
    sign_out(&app.management, &anonymous_caller(HERE), session)
        .await
        .unwrap();
    let refused = current_caller::get(&caller()).await;
    assert!(
        matches!(refused, Err(Refused::Unauthenticated)),
        "{refused:?}"
    );
    sign_out(&app.management, &anonymous_caller(HERE), session)
        .await
        .unwrap();
    assert_eq!(
        app.audited().await,
        [
            "command_line invitation.create",
            "member invitation.accept",
            "member session.create",
            "member session.create",
            "member session.end",
        ]
    );
}

#[sqlx::test(migrations = false)]
async fn an_unknown_account_is_answered_as_a_wrong_password_and_costs_a_hash(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let gone = app.person("gone@example.com", Role::Viewer).await;
    app.person("ada@example.com", Role::Viewer).await;
    people::disable(&Caller::command_line(&app.management), gone.id)
        .await
        .unwrap();
    let mut told = Vec::new();
    for (email, password) in [
        ("ada@example.com", "kelp otter viola"),
        ("nobody@example.com", PASSWORD),
        ("gone@example.com", PASSWORD),
        ("no address", PASSWORD),
        ("ada@example.com", &"long ".repeat(100)),
    ] {
        let refused = app.sign_in(HERE, email, password).await.unwrap_err();
        assert!(
            matches!(refused, Refused::SignInFailed),
            "{email}: {refused:?}"
        );
        told.push(refused.to_string());
    }
    told.dedup();
    assert_eq!(told.len(), 1);
    // Tries are counted for accounts that do not exist, too.
    assert_eq!(app.count("select count(*) from sign_in_failures").await, 3);
    assert_eq!(app.count("select count(*) from sessions").await, 1);
}

#[sqlx::test(migrations = false)]
async fn guessing_is_slowed_down_while_the_owner_signs_in_elsewhere(pool: PgPool) {
    let app = Fixture::new(pool).await;
    app.person("ada@example.com", Role::Viewer).await;
    for email in ["ada@example.com", "nobody@example.com"] {
        // All at once: none slips through because the others are not counted yet.
        let began = Instant::now();
        let guesses = (0..12).map(|n| {
            let password = format!("guess number {n}");
            let app = &app;
            async move { app.sign_in(HERE, email, &password).await.unwrap_err() }
        });
        let refused = join_all(guesses).await;
        let compared = refused
            .iter()
            .filter(|refused| matches!(refused, Refused::SignInFailed))
            .count();
        let throttled = refused
            .iter()
            .filter(|refused| matches!(refused, Refused::TooManyTries { .. }))
            .count();
        assert_eq!(compared + throttled, 12, "{refused:?}");
        // After five, one more for each wait that has passed, of which the first has two seconds.
        let waits = usize::try_from(began.elapsed().as_secs() / 2).unwrap();
        assert!((5..=5 + waits).contains(&compared), "{refused:?}");
    }
    // Not even the right password helps here, and it does elsewhere.
    app.run(MANY_FAILURES).await;
    let here = app.sign_in(HERE, "ada@example.com", PASSWORD).await;
    let Err(Refused::TooManyTries { seconds }) = here else {
        panic!("{here:?}");
    };
    assert!((1..=900).contains(&seconds), "{seconds}");
    app.sign_in(ELSEWHERE, "ada@example.com", PASSWORD)
        .await
        .unwrap();

    // After the wait there is one try.
    app.run("update sign_in_failures set last_at = now() - interval '901 seconds'")
        .await;
    let refused = app
        .sign_in(HERE, "ada@example.com", "guess number 13")
        .await;
    assert!(matches!(refused, Err(Refused::SignInFailed)), "{refused:?}");
    let refused = app
        .sign_in(HERE, "ada@example.com", "guess number 14")
        .await;
    assert!(
        matches!(refused, Err(Refused::TooManyTries { .. })),
        "{refused:?}"
    );

    // Who gets it right begins anew.
    app.run("update sign_in_failures set last_at = last_at - interval '1 hour'")
        .await;
    app.sign_in(HERE, "ada@example.com", PASSWORD)
        .await
        .unwrap();
    for n in 0..5 {
        let refused = app
            .sign_in(HERE, "ada@example.com", &format!("guess number {n}"))
            .await;
        assert!(matches!(refused, Err(Refused::SignInFailed)), "{refused:?}");
    }
}

#[sqlx::test(migrations = false)]
async fn delicate_changes_ask_for_the_password_again(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let owner = app.person("owner@example.com", Role::Owner).await;
    let invite = || async {
        let by = owner.caller();
        let link = app.invite(&by, Some(app.team), "a@example.com", Role::Viewer);
        link.await
    };
    invite().await.unwrap();
    app.run("update sessions set password_at = now() - interval '11 minutes'")
        .await;
    assert_eq!(
        forbidden(invite().await),
        Forbidden::ReauthenticationRequired
    );
    app.people(&owner).await.unwrap();

    let here = anonymous_caller(HERE);
    let confirm =
        |password: &'static str| give_password(&app.management, &here, owner.session, password);
    let refused = confirm("kelp otter viola").await;
    assert!(matches!(refused, Err(Refused::SignInFailed)), "{refused:?}");
    assert_eq!(
        forbidden(invite().await),
        Forbidden::ReauthenticationRequired
    );
    confirm(PASSWORD).await.unwrap();
    invite().await.unwrap();
    // Guessing in a stolen session is slowed down as well.
    confirm("kelp otter viola").await.unwrap_err();
    app.run(MANY_FAILURES).await;
    let refused = confirm(PASSWORD).await;
    assert!(
        matches!(refused, Err(Refused::TooManyTries { .. })),
        "{refused:?}"
    );
}

#[sqlx::test(migrations = false)]
async fn a_new_password_ends_the_other_sessions_and_the_old_one_is_worth_nothing(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let ada = app.person("ada@example.com", Role::Viewer).await;
    app.sign_in(HERE, "ada@example.com", PASSWORD)
        .await
        .unwrap();
    let change = |current: &'static str, new: &'static str| {
        let (app, session) = (&app, ada.session);
        async move {
            change_password(
                &app.management,
                &anonymous_caller(HERE),
                session,
                current,
                new,
            )
            .await
        }
    };
    let refused = change("kelp otter viola", "another long one").await;
    assert!(matches!(refused, Err(Refused::SignInFailed)), "{refused:?}");
    for weak in ["short", "password1234", "ada@example.com1"] {
        let refused = change(PASSWORD, weak).await;
        let Err(Refused::Fields(fields)) = refused else {
            panic!("{weak}: {refused:?}");
        };
        assert_eq!(fields.problems[0].field, "password");
    }
    assert_eq!(app.count("select count(*) from sessions").await, 2);
    change(PASSWORD, "another long one").await.unwrap();
    assert_eq!(app.count("select count(*) from sessions").await, 1);
    app.people(&ada).await.unwrap();
    app.sign_in(HERE, "ada@example.com", PASSWORD)
        .await
        .unwrap_err();
    app.sign_in(HERE, "ada@example.com", "another long one")
        .await
        .unwrap();
}

#[sqlx::test(migrations = false)]
async fn nothing_secret_is_stored_readably(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let owner = app.person("owner@example.com", Role::Owner).await;
    let by = owner.caller();
    let link = app.invite(&by, Some(app.team), "a@example.com", Role::Viewer);
    link.await.unwrap();
    app.sign_in(HERE, "owner@example.com", "guess number 1")
        .await
        .unwrap_err();
    let secret = owner.factor.as_ref().unwrap();
    let hex: String = secret
        .expose()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect::<Vec<_>>()
        .concat();
    let needles = [
        PASSWORD,
        "guess number 1",
        "link_",
        "session_",
        &hex,
        &secret.base32(),
    ];
    let tables: Vec<String> =
        sqlx::query_scalar("select tablename::text from pg_tables where schemaname = 'public'")
            .fetch_all(&app.pool)
            .await
            .unwrap();
    for table in tables {
        let rows: Vec<String> = sqlx::query_scalar(sqlx::AssertSqlSafe(format!(
            "select t::text from {table} t"
        )))
        .fetch_all(&app.pool)
        .await
        .unwrap();
        for (row, needle) in rows
            .iter()
            .flat_map(|row| needles.map(|needle| (row, needle)))
        {
            assert!(!row.contains(needle), "{table} has {needle}: {row}");
        }
    }
    let failures = "select count(*) from sign_in_failures f where f::text like '%owner%'";
    assert_eq!(app.count(failures).await, 0);
}
