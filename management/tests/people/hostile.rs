//! What hostile members, hostile teams and strangers try.

use std::time::Duration;

use domain::{
    id::{MediaId, SiteId, TeamId, TokenId},
    key::SecretHash,
    media::{Ruling, Status},
    role::Role,
    scope::Scope,
};
use management::{
    Caller, Conflict, Forbidden, Noun, Refused, Visitor,
    account::{
        Next, factor, links, sessions,
        sign_in::{give_code, give_password},
    },
    media::{self, NewDecision},
    people::{self, Standing, invitations, resets},
    tokens,
};
use sqlx::PgPool;
use store::token::Extent;

use crate::fixture::{ALL, ELSEWHERE, Fixture, HERE, PASSWORD, Somebody, forbidden, visitor};

/// A token with all scopes that an owner has, as its id and as a caller.
async fn token(app: &Fixture, scopes: &[Scope]) -> (TokenId, SecretHash) {
    let new = tokens::NewToken {
        name: "token".parse().unwrap(),
        team: Some(app.team),
        scopes: scopes.to_vec(),
        expires_at: None,
    };
    let issued = tokens::create(&app.management, &Caller::command_line(), &new)
        .await
        .unwrap();
    (issued.token.id, issued.secret.hash())
}

/// Waits until this many statements of this database wait for locks.
async fn until_statements_wait(app: &Fixture, statements: i64) {
    let waiting = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    while app.count(waiting).await < statements {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[sqlx::test(migrations = false)]
async fn case_79_what_a_disabled_token_has_made_is_worth_nothing(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let viewer = app.person("viewer@example.com", Role::Viewer).await;
    let (id, secret) = token(&app, Role::Owner.scopes()).await;
    let by = || Caller::token(secret, "req_1".to_owned());
    let invitation = app
        .invite(&by(), None, "thief@example.com", Role::Owner)
        .await
        .unwrap();
    let reset = resets::create(&app.management, &by(), viewer.id).await;
    let reset = reset.unwrap().secret.hash();
    tokens::disable(
        &app.management,
        &Caller::command_line(),
        id,
        Extent::Descendants,
    )
    .await
    .unwrap();
    for link in [invitation, reset] {
        let leads = links::look(&app.management, link).await;
        assert!(matches!(leads, Err(Refused::NotFound(_))), "{leads:?}");
    }
}

#[sqlx::test(migrations = false)]
async fn case_78_links_that_are_worth_nothing_are_not_kept(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let owner = app.person("owner@example.com", Role::Owner).await;
    let viewer = app.person("viewer@example.com", Role::Viewer).await;
    for n in 0..5 {
        // Over and over for one address, and withdrawn for others.
        let by = owner.caller();
        app.invite(&by, None, "a@example.com", Role::Viewer)
            .await
            .unwrap();
        let email = format!("{n}@example.com");
        app.invite(&by, None, &email, Role::Viewer).await.unwrap();
        let open = invitations::list(&app.management, &owner.caller(), ALL)
            .await
            .unwrap();
        let other = open.iter().find(|one| one.email == email).unwrap();
        invitations::cancel(&app.management, &owner.caller(), other.id)
            .await
            .unwrap();
        // Made and used.
        let reset = resets::create(&app.management, &owner.caller(), viewer.id)
            .await
            .unwrap();
        let new = format!("quite a new one {n}");
        links::reset_password(&app.management, &visitor(HERE), reset.secret.hash(), &new)
            .await
            .unwrap();
    }
    // The one that is open.
    assert_eq!(app.count("select count(*) from links").await, 1);
    // One that nobody has used in time goes with the next one.
    app.run("update links set expires_at = now()").await;
    app.invite(&owner.caller(), None, "b@example.com", Role::Viewer)
        .await
        .unwrap();
    assert_eq!(app.count("select count(*) from links").await, 1);
}

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
    let (link, ()) = tokio::join!(resets::create(&app.management, &by, viewer.id), async {
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
        let by = Caller::command_line();
        let (signed_in, disabled) = tokio::join!(
            app.sign_in(HERE, "viewer@example.com", PASSWORD),
            people::disable(&app.management, &by, viewer.id),
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
        let (callers, management) = ([one.caller(), other.caller()], &app.management);
        let (first, second) = tokio::join!(
            people::disable(management, &callers[0], other.id),
            people::disable(management, &callers[1], one.id),
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
        app.management.change(&by, Scope::MediaDecide),
        sessions::list(&app.management, viewer.session),
        async {
            until_statements_wait(&app, 2).await;
            confirming.commit().await.unwrap();
        }
    );
    assert_eq!(forbidden(changed.map(drop)), Forbidden::FactorRequired);
    assert_eq!(forbidden(own), Forbidden::FactorRequired);
}

#[sqlx::test(migrations = false)]
async fn an_admin_does_not_withdraw_what_an_owner_gave(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let owner = app.person("owner@example.com", Role::Owner).await;
    let admin = app.person("admin@example.com", Role::Admin).await;
    let link = app
        .invite(&owner.caller(), None, "next@example.com", Role::Owner)
        .await
        .unwrap();
    let open = invitations::list(&app.management, &admin.caller(), ALL)
        .await
        .unwrap();
    let cancelled = invitations::cancel(&app.management, &admin.caller(), open[0].id).await;
    assert_eq!(forbidden(cancelled), Forbidden::MissingScope);
    // Nor by inviting the same person as less.
    let replaced = app
        .invite(&admin.caller(), None, "next@example.com", Role::Viewer)
        .await;
    assert_eq!(forbidden(replaced), Forbidden::MissingScope);
    links::look(&app.management, link).await.unwrap();
    // The owner replaces it, and the operator withdraws a first owner's.
    app.invite(&owner.caller(), None, "next@example.com", Role::Viewer)
        .await
        .unwrap();
    let operator = app.person("operator@example.com", Role::Operator).await;
    let another = app.another_team().await;
    let first = app
        .invite(
            &operator.caller(),
            Some(another),
            "first@example.com",
            Role::Owner,
        )
        .await
        .unwrap();
    let open = invitations::list(&app.management, &operator.caller(), ALL)
        .await
        .unwrap();
    let of_another = open.iter().find(|one| one.team == Some(another)).unwrap();
    invitations::cancel(&app.management, &operator.caller(), of_another.id)
        .await
        .unwrap();
    let leads = links::look(&app.management, first).await;
    assert!(matches!(leads, Err(Refused::NotFound(_))), "{leads:?}");
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
        let from = Visitor::new([203, 0, 113, n].into(), "", "req_1".to_owned());
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
    let begun = factor::set_up(&app.management, viewer.session)
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
async fn a_disabled_owner_is_not_the_only_one(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let owner = app.person("owner@example.com", Role::Owner).await;
    let former = app.person("former@example.com", Role::Owner).await;
    let by = owner.caller();
    people::disable(&app.management, &by, former.id)
        .await
        .unwrap();
    let by = owner.caller();
    let changed = people::update(&app.management, &by, former.id, |_| Standing {
        role: Role::Viewer,
        sites: None,
    });
    assert_eq!(changed.await.unwrap().role, Role::Viewer);
    let by = owner.caller();
    let changed = people::update(&app.management, &by, owner.id, |_| Standing {
        role: Role::Viewer,
        sites: None,
    });
    let refused = changed.await;
    assert!(
        matches!(refused, Err(Refused::Conflict(Conflict::LastOwner, _))),
        "{refused:?}"
    );
}

#[sqlx::test(migrations = false)]
async fn a_member_does_not_disable_what_is_stronger(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let owner = app.person("owner@example.com", Role::Owner).await;
    let admin = app.person("admin@example.com", Role::Admin).await;
    let equal = token(&app, Role::Owner.scopes()).await.0;
    let mut scopes = Role::Owner.scopes().to_vec();
    scopes.push(Scope::PlansWrite);
    let stronger = token(&app, &scopes).await.0;
    for extent in [Extent::One, Extent::Descendants] {
        let refused = tokens::disable(&app.management, &owner.caller(), stronger, extent).await;
        assert_eq!(forbidden(refused), Forbidden::MissingScope);
        let refused = tokens::disable(&app.management, &admin.caller(), equal, extent).await;
        assert_eq!(forbidden(refused), Forbidden::MissingScope);
    }
    let refused = people::disable(&app.management, &admin.caller(), owner.id).await;
    assert_eq!(forbidden(refused), Forbidden::MissingScope);
    let disabled = "select count(*) from management_tokens where disabled_at is not null";
    assert_eq!(app.count(disabled).await, 0);
    app.people(&owner).await.unwrap();

    tokens::disable(&app.management, &owner.caller(), equal, Extent::One)
        .await
        .unwrap();
    assert_eq!(app.count(disabled).await, 1);
}

#[sqlx::test(migrations = false)]
async fn a_moderator_of_some_sites_decides_there_and_foreign_items_are_as_missing(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let another = app.another_team().await;
    let (ours, others) = (
        app.create_site(app.team, "ours").await,
        app.create_site(app.team, "others").await,
    );
    let foreign = app.create_site(another, "foreign").await;
    let moderator = app.person("moderator@example.com", Role::Moderator).await;
    let standing = Standing {
        role: Role::Moderator,
        sites: Some(vec![ours]),
    };
    people::update(
        &app.management,
        &Caller::command_line(),
        moderator.id,
        |_| standing,
    )
    .await
    .unwrap();
    let item = async |team: TeamId, site: SiteId| {
        let id = uuid::Uuid::now_v7();
        sqlx::query(
            "insert into media (id, team_id, site_id, content_type, body, group_versions, status)
             values ($1, $2, $3, 'text', 'a text', '{}', 'pending_review')",
        )
        .bind(id)
        .bind(team.as_uuid())
        .bind(site.as_uuid())
        .execute(&app.pool)
        .await
        .unwrap();
        MediaId::from(id)
    };
    let decide = async |media: MediaId, expected: Option<Status>| {
        let decision = NewDecision {
            ruling: Ruling::Approve,
            reason: serde_json::from_str(r#""fine""#).unwrap(),
            expected,
        };
        media::decide(&app.management, &moderator.caller(), media, decision).await
    };
    let on_ours = item(app.team, ours).await;
    let on_others = item(app.team, others).await;
    let on_foreign = item(another, foreign).await;

    assert_eq!(
        forbidden(decide(on_others, None).await),
        Forbidden::MissingScope
    );
    // A decision that could not be made there anyway is refused for the same reason.
    assert_eq!(
        forbidden(decide(on_others, Some(Status::Approved)).await),
        Forbidden::MissingScope
    );
    let missing = decide(MediaId::from(uuid::Uuid::now_v7()), None).await;
    let foreign = decide(on_foreign, None).await;
    assert_eq!(format!("{foreign:?}"), format!("{missing:?}"));
    assert!(
        matches!(foreign, Err(Refused::NotFound(Noun::Media))),
        "{foreign:?}"
    );
    let decided = "select count(*) from media where status = 'approved'";
    assert_eq!(app.count(decided).await, 0);
    decide(on_ours, None).await.unwrap();
    assert_eq!(app.count(decided).await, 1);
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
                    let from = visitor(ELSEWHERE);
                    management::account::sign_in::sign_in(&management, &from, &email, PASSWORD)
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
    give_password(&app.management, &visitor(HERE), ada.session, PASSWORD)
        .await
        .unwrap();
    let took = began.elapsed();
    assert!(!guessing.is_finished(), "{took:?}");
    guessing.abort();
}
