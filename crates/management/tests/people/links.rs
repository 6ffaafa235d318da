//! Invitations and links to a new password.

use domain::{key::SecretHash, role::Role};
use management::{
    Caller, Conflict, Refused,
    account::{
        Next,
        one_time_links::{self, Accepted, Entry, Leads},
    },
    people::{self, invitations, password_resets},
};
use sqlx::PgPool;

use crate::fixture::{ALL, ELSEWHERE, Fixture, HERE, PASSWORD, Somebody, anonymous_caller};

fn conflict<T: std::fmt::Debug>(result: Result<T, Refused>) -> Conflict {
    match result {
        Err(Refused::Conflict(conflict, _)) => conflict,
        other => panic!("{other:?}"),
    }
}

async fn assert_unusable(app: &Fixture, link: SecretHash) {
    let accepted = app.accept(link).await;
    assert!(
        matches!(accepted, Err(Refused::NotFound(_))),
        "{accepted:?}"
    );
    let here = anonymous_caller(HERE);
    let reset =
        one_time_links::reset_password(&app.management, &here, link, "a quite new one").await;
    assert!(matches!(reset, Err(Refused::NotFound(_))), "{reset:?}");
    let leads = one_time_links::look(&app.management, link, None).await;
    assert!(matches!(leads, Err(Refused::NotFound(_))), "{leads:?}");
}

#[sqlx::test(migrations = false)]
async fn an_invitation_is_used_once_also_by_two_at_once(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let by = Caller::command_line(&app.management);
    let link = app
        .invite(&by, Some(app.team), "ada@example.com", Role::Lead)
        .await
        .unwrap();
    let leads = one_time_links::look(&app.management, link, None)
        .await
        .unwrap();
    assert_eq!(
        leads,
        Leads::Invitation {
            team: Some((app.team, "team".to_owned())),
            email: "ada@example.com".to_owned(),
            role: Role::Lead,
            entry: Entry::NewAccount,
        }
    );
    let (one, other) = tokio::join!(app.accept(link), app.accept(link));
    let used = [&one, &other]
        .iter()
        .filter(|accepted| accepted.is_ok())
        .count();
    assert_eq!(used, 1, "{one:?} {other:?}");
    assert_unusable(&app, link).await;
    assert_eq!(app.count("select count(*) from memberships").await, 1);
    let actors = "select count(*) from actors a join memberships m on m.id = a.id
         where a.kind = 'member' and a.team_id = m.team_id";
    assert_eq!(app.count(actors).await, 1);
}

#[sqlx::test(migrations = false)]
async fn links_expire_and_are_withdrawn(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let by = Caller::command_line(&app.management);
    let invite = async || {
        app.invite(&by, Some(app.team), "a@example.com", Role::Viewer)
            .await
    };
    let first = invite().await.unwrap();
    let second = invite().await.unwrap();
    assert_unusable(&app, first).await;
    let open = invitations::list(&by, ALL).await.unwrap();
    assert_eq!(open.len(), 1);
    invitations::cancel(&by, open[0].id).await.unwrap();
    assert_unusable(&app, second).await;
    let again = invitations::cancel(&by, open[0].id).await;
    assert!(matches!(again, Err(Refused::NotFound(_))), "{again:?}");
    let third = invite().await.unwrap();
    app.run("update links set expires_at = now()").await;
    assert_unusable(&app, third).await;
    assert_unusable(&app, [7; 32].into()).await;
}

#[sqlx::test(migrations = false)]
async fn who_has_an_account_joins_with_its_password(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let owner = app.person("ada@example.com", Role::Owner).await;
    let another = app.another_team().await;
    let by = Caller::command_line(&app.management);
    let link = app
        .invite(&by, Some(another), "ada@example.com", Role::Viewer)
        .await
        .unwrap();
    // Having only the link gives access neither to the team nor to the account's password.
    let name = "Mallory".parse().unwrap();
    let elsewhere = anonymous_caller(ELSEWHERE);
    let accepted = one_time_links::accept(
        &app.management,
        &elsewhere,
        link,
        Some(&name),
        "mallory chose this",
    );
    let refused = accepted.await;
    assert!(matches!(refused, Err(Refused::SignInFailed)), "{refused:?}");
    let here = anonymous_caller(HERE);
    let accepted = one_time_links::accept(&app.management, &here, link, None, PASSWORD).await;
    let Ok(Accepted::SignedIn(signed_in)) = accepted else {
        panic!("the second factor comes first: {accepted:?}");
    };
    assert_eq!(signed_in.next, Next::GiveFactor);
    let half = signed_in.secret.hash();
    let joined = one_time_links::accept_signed_in(&app.management, &here, link, half).await;
    assert!(matches!(joined, Err(Refused::SignInFailed)), "{joined:?}");
    let leads = one_time_links::look(&app.management, link, Some(half)).await;
    assert!(
        matches!(
            &leads,
            Ok(Leads::Invitation {
                entry: Entry::Password,
                ..
            })
        ),
        "{leads:?}"
    );
    let session = app.give_code(half, &owner.code(0)).await.unwrap().hash();
    let leads = one_time_links::look(&app.management, link, Some(session)).await;
    let Ok(Leads::Invitation {
        entry: Entry::Confirm(others),
        ..
    }) = leads
    else {
        panic!("{leads:?}");
    };
    assert_eq!((others.sessions, others.recovery_codes), (1, 10));
    let joined = one_time_links::accept_signed_in(&app.management, &here, link, session).await;
    assert_eq!(joined.unwrap(), Next::Enter);
    assert_eq!(app.count("select count(*) from users").await, 1);
    assert_eq!(
        app.count("select count(*) from users where name = 'Ada'")
            .await,
        1
    );
    let over = app.people(&owner).await;
    assert!(matches!(over, Err(Refused::Unauthenticated)), "{over:?}");
    let owner = Somebody { session, ..owner };
    app.people(&owner).await.unwrap();
}

#[sqlx::test(migrations = false)]
async fn who_is_in_the_team_is_not_invited_and_a_disabled_person_returns_by_an_invitation(
    pool: PgPool,
) {
    let app = Fixture::new(pool).await;
    let by = Caller::command_line(&app.management);
    let viewer = app.person("ada@example.com", Role::Viewer).await;
    let invite = async || {
        app.invite(&by, Some(app.team), "ada@example.com", Role::Lead)
            .await
    };
    assert_eq!(conflict(invite().await), Conflict::AlreadyMember);
    people::disable(&by, viewer.id).await.unwrap();
    let link = invite().await.unwrap();
    app.accept(link).await.unwrap();
    let people = people::list(&by, ALL).await.unwrap();
    let now: Vec<_> = people
        .iter()
        .map(|one| (one.id, one.role, one.disabled_at))
        .collect();
    assert_eq!(now, [(viewer.id, Role::Lead, None)]);
}

#[sqlx::test(migrations = false)]
async fn a_link_to_a_new_password_is_used_once_and_dies_with_what_it_was_for(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let admin = app.person("admin@example.com", Role::Admin).await;
    let viewer = app.person("viewer@example.com", Role::Viewer).await;
    let reset = async || {
        let link = password_resets::create(&admin.caller(), viewer.id).await;
        link.unwrap().secret.hash()
    };
    let first = reset().await;
    let second = reset().await;
    assert_unusable(&app, first).await;
    let set = |link, new: &'static str| {
        let app = &app;
        async move {
            one_time_links::reset_password(&app.management, &anonymous_caller(HERE), link, new)
                .await
        }
    };
    let weak = set(second, "password1234").await;
    assert!(matches!(weak, Err(Refused::Fields(_))), "{weak:?}");
    let (one, other) = tokio::join!(
        set(second, "a quite new one"),
        set(second, "another new one")
    );
    assert_ne!(one.is_ok(), other.is_ok(), "{one:?} {other:?}");
    assert_unusable(&app, second).await;
    let over = app.people(&viewer).await;
    assert!(matches!(over, Err(Refused::Unauthenticated)), "{over:?}");

    // The viewer becomes an owner: a link that the admin has made before would make the admin one,
    // too.
    let third = reset().await;
    let by = Caller::command_line(&app.management);
    let promote = people::update(&by, viewer.id, |mut standing| {
        standing.role = Role::Owner;
        standing
    });
    promote.await.unwrap();
    assert_unusable(&app, third).await;
    let refused = password_resets::create(&admin.caller(), viewer.id).await;
    assert!(
        matches!(refused, Err(Refused::Forbidden(..))),
        "{refused:?}"
    );
}

#[sqlx::test(migrations = false)]
async fn a_team_makes_no_link_to_the_password_of_somebody_in_another_team(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let admin = app.person("admin@example.com", Role::Admin).await;
    let both = app.person("both@example.com", Role::Viewer).await;
    let early = password_resets::create(&admin.caller(), both.id)
        .await
        .unwrap();
    let another = app.another_team().await;
    let by = Caller::command_line(&app.management);
    let link = app
        .invite(&by, Some(another), "both@example.com", Role::Viewer)
        .await;
    app.accept(link.unwrap()).await.unwrap();
    assert_unusable(&app, early.secret.hash()).await;
    let refused = password_resets::create(&admin.caller(), both.id).await;
    assert_eq!(conflict(refused), Conflict::InOtherTeams);
    let email = "both@example.com".parse().unwrap();
    password_resets::create_of(&by, &email).await.unwrap();
}

#[sqlx::test(migrations = false)]
async fn what_a_disabled_person_has_made_is_worth_nothing(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let admin = app.person("admin@example.com", Role::Admin).await;
    let viewer = app.person("viewer@example.com", Role::Viewer).await;
    let by = admin.caller();
    let invitation = app
        .invite(&by, None, "friend@example.com", Role::Lead)
        .await
        .unwrap();
    let reset = password_resets::create(&admin.caller(), viewer.id)
        .await
        .unwrap();
    people::disable(&Caller::command_line(&app.management), admin.id)
        .await
        .unwrap();
    assert_unusable(&app, invitation).await;
    assert_unusable(&app, reset.secret.hash()).await;
}
