//! Sessions: how long they last, and how they end.

use std::time::Duration;

use domain::{id::MemberId, role::Role, scope::Scope};
use management::{Caller, Refused, account::sessions, people};
use sqlx::PgPool;

use crate::fixture::{ALL, ELSEWHERE, Fixture, HERE, PASSWORD, anonymous_caller};

#[sqlx::test(migrations = false)]
async fn a_session_ends_when_it_is_not_used_and_after_half_a_day(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let ada = app.person("ada@example.com", Role::Viewer).await;
    // Use prolongs it.
    for _ in 0..3 {
        app.run("update sessions set used_at = now() - interval '29 minutes'")
            .await;
        app.people(&ada).await.unwrap();
    }
    app.run("update sessions set created_at = now() - interval '12 hours 1 second'")
        .await;
    let over = app.people(&ada).await;
    assert!(matches!(over, Err(Refused::Unauthenticated)), "{over:?}");
    app.run("update sessions set created_at = now() - interval '11 hours'")
        .await;
    app.people(&ada).await.unwrap();
    app.run("update sessions set used_at = now() - interval '30 minutes 1 second'")
        .await;
    for _ in 0..2 {
        let over = app.people(&ada).await;
        assert!(matches!(over, Err(Refused::Unauthenticated)), "{over:?}");
        let over = sessions::list(&app.management, ada.session).await;
        assert!(matches!(over, Err(Refused::Unauthenticated)), "{over:?}");
    }
}

#[sqlx::test(migrations = false)]
async fn every_sign_in_is_a_session_of_its_own_and_each_can_be_ended(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let ada = app.person("ada@example.com", Role::Viewer).await;
    let other = app.person("other@example.com", Role::Viewer).await;
    let second = app
        .sign_in(ELSEWHERE, "ada@example.com", PASSWORD)
        .await
        .unwrap();
    assert_ne!(second.secret.hash(), ada.session);
    let (this, listed) = sessions::list(&app.management, ada.session).await.unwrap();
    let shown: Vec<_> = listed
        .iter()
        .map(|one| {
            (
                one.id == this,
                one.address.as_str(),
                one.user_agent.as_str(),
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            (false, "198.51.100.7", "Firefox"),
            (true, "192.0.2.1", "Firefox")
        ]
    );
    // Somebody else's is as unknown as nobody's.
    let foreign = sessions::end(
        &app.management,
        &anonymous_caller(HERE),
        other.session,
        this,
    )
    .await;
    assert!(matches!(foreign, Err(Refused::NotFound(_))), "{foreign:?}");

    sessions::end(
        &app.management,
        &anonymous_caller(HERE),
        ada.session,
        second.session,
    )
    .await
    .unwrap();
    let over = sessions::list(&app.management, second.secret.hash()).await;
    assert!(matches!(over, Err(Refused::Unauthenticated)), "{over:?}");
    app.people(&ada).await.unwrap();
    app.sign_in(HERE, "ada@example.com", PASSWORD)
        .await
        .unwrap();
    let ended = sessions::end_others(&app.management, &anonymous_caller(HERE), ada.session).await;
    assert_eq!(ended.unwrap(), 1);
}

#[sqlx::test(migrations = false)]
async fn somebody_has_so_many_sessions_and_one_more_ends_the_oldest(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let ada = app.person("ada@example.com", Role::Viewer).await;
    app.run("update sessions set used_at = now() - interval '5 minutes'")
        .await;
    app.run(
        "insert into sessions (id, user_id, hash, address, user_agent)
         select gen_random_uuid(), id, sha256(n::text::bytea), '', '' from users, generate_series(1, 19) n",
    )
    .await;
    assert_eq!(
        sessions::list(&app.management, ada.session)
            .await
            .unwrap()
            .1
            .len(),
        20
    );
    app.run("update sessions set used_at = now() - interval '5 minutes' where user_agent <> ''")
        .await;
    let latest = app
        .sign_in(HERE, "ada@example.com", PASSWORD)
        .await
        .unwrap();
    assert_eq!(app.count("select count(*) from sessions").await, 20);
    let over = app.people(&ada).await;
    assert!(matches!(over, Err(Refused::Unauthenticated)), "{over:?}");
    sessions::list(&app.management, latest.secret.hash())
        .await
        .unwrap();
}

#[sqlx::test(migrations = false)]
async fn disabling_a_person_waits_for_what_runs_and_then_ends_everything(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let owner = app.person("owner@example.com", Role::Owner).await;
    let admin = app.person("admin@example.com", Role::Admin).await;
    app.sign_in(ELSEWHERE, "admin@example.com", PASSWORD)
        .await
        .unwrap();
    // What the admin does at this moment is finished first.
    let running = admin.caller().change(Scope::SitesWrite).await.unwrap();
    let disabling = {
        let (caller, id) = (owner.caller(), admin.id);
        tokio::spawn(async move { people::disable(&caller, id).await })
    };
    while app.count("select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'").await == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(!disabling.is_finished());
    drop(running);
    disabling.await.unwrap().unwrap();

    let next = app
        .invite(&admin.caller(), None, "a@example.com", Role::Viewer)
        .await;
    assert!(matches!(next, Err(Refused::Unauthenticated)), "{next:?}");
    assert_eq!(
        app.count("select count(*) from links where used_at is null")
            .await,
        0
    );
    let sessions = "select count(*) from sessions s join users u on u.id = s.user_id where u.email like 'admin%'";
    assert_eq!(app.count(sessions).await, 0);
    let refused = app.sign_in(HERE, "admin@example.com", PASSWORD).await;
    assert!(matches!(refused, Err(Refused::SignInFailed)), "{refused:?}");
    // The row stays: it is the actor of what the person did.
    let people = app.people(&owner).await.unwrap();
    assert_eq!(people.len(), 2);
    assert!(
        people
            .iter()
            .any(|one| one.id == admin.id && one.disabled_at.is_some())
    );
}

#[sqlx::test(migrations = false)]
async fn a_team_ends_sessions_of_its_own_people_and_of_nobody_elses(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let admin = app.person("admin@example.com", Role::Admin).await;
    let owner = app.person("owner@example.com", Role::Owner).await;
    let viewer = app.person("viewer@example.com", Role::Viewer).await;
    // This one is in another team, too.
    let both = app.person("both@example.com", Role::Viewer).await;
    let another = app.another_team().await;
    let by = Caller::command_line(&app.management);
    let link = app
        .invite(&by, Some(another), "both@example.com", Role::Viewer)
        .await;
    let joined = app.accept(link.unwrap()).await.unwrap().secret.hash();

    let listed = people::sessions::list(&admin.caller(), ALL).await.unwrap();
    let whose = |id: MemberId| listed.iter().filter(|one| one.member == Some(id)).count();
    assert_eq!(
        [admin.id, owner.id, viewer.id, both.id].map(whose),
        [1, 1, 1, 0]
    );
    let end = async |id: MemberId| {
        let one = listed.iter().find(|one| one.member == Some(id)).unwrap();
        people::sessions::end(&admin.caller(), one.id).await
    };
    end(viewer.id).await.unwrap();
    let over = app.people(&viewer).await;
    assert!(matches!(over, Err(Refused::Unauthenticated)), "{over:?}");
    // An admin has less than an owner.
    let refused = end(owner.id).await;
    assert!(
        matches!(refused, Err(Refused::Forbidden(..))),
        "{refused:?}"
    );
    let (_, of_both) = sessions::list(&app.management, joined).await.unwrap();
    let refused = people::sessions::end(&admin.caller(), of_both[0].id).await;
    assert!(matches!(refused, Err(Refused::NotFound(_))), "{refused:?}");
}
