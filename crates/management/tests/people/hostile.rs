//! What hostile members and hostile teams try.

use domain::{
    id::{MediaId, SiteId, TeamId, TokenId},
    key::SecretHash,
    media::{Ruling, Seen, Status},
    role::Role,
    scope::Scope,
};
use management::{
    Caller, Conflict, Forbidden, Noun, Refused,
    account::one_time_links,
    media::{self, NewDecision},
    people::{self, Standing, invitations, password_resets},
    tokens,
};
use sqlx::PgPool;
use store::token::Extent;

use crate::fixture::{ALL, Fixture, HERE, anonymous_caller, forbidden};

/// A token of the team: its id and the hash of its secret.
async fn token(app: &Fixture, scopes: &[Scope]) -> (TokenId, SecretHash) {
    let new = tokens::NewToken {
        name: "token".parse().unwrap(),
        team: Some(app.team),
        scopes: scopes.to_vec(),
        expires_at: None,
    };
    let issued = tokens::create(&Caller::command_line(&app.management), &new)
        .await
        .unwrap();
    (issued.token.id, issued.secret.hash())
}

#[sqlx::test(migrations = false)]
async fn case_79_what_a_disabled_token_has_made_is_worth_nothing(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let viewer = app.person("viewer@example.com", Role::Viewer).await;
    let (id, secret) = token(&app, Role::Owner.scopes()).await;
    let by = || Caller::token(&app.management, secret, "req_1".to_owned());
    let invitation = app
        .invite(&by(), None, "thief@example.com", Role::Owner)
        .await
        .unwrap();
    let reset = password_resets::create(&by(), viewer.id).await;
    let reset = reset.unwrap().secret.hash();
    tokens::disable(
        &Caller::command_line(&app.management),
        id,
        Extent::Descendants,
    )
    .await
    .unwrap();
    for link in [invitation, reset] {
        let leads = one_time_links::look(&app.management, link, None).await;
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
        let open = invitations::list(&owner.caller(), ALL).await.unwrap();
        let other = open.iter().find(|one| one.email == email).unwrap();
        invitations::cancel(&owner.caller(), other.id)
            .await
            .unwrap();
        // Made and used.
        let reset = password_resets::create(&owner.caller(), viewer.id)
            .await
            .unwrap();
        let new = format!("quite a new one {n}");
        one_time_links::reset_password(
            &app.management,
            &anonymous_caller(HERE),
            reset.secret.hash(),
            &new,
        )
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
async fn an_admin_does_not_withdraw_what_an_owner_gave(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let owner = app.person("owner@example.com", Role::Owner).await;
    let admin = app.person("admin@example.com", Role::Admin).await;
    let link = app
        .invite(&owner.caller(), None, "next@example.com", Role::Owner)
        .await
        .unwrap();
    let open = invitations::list(&admin.caller(), ALL).await.unwrap();
    let cancelled = invitations::cancel(&admin.caller(), open[0].id).await;
    assert_eq!(forbidden(cancelled), Forbidden::MissingScope);
    // Nor by inviting the same person as less.
    let replaced = app
        .invite(&admin.caller(), None, "next@example.com", Role::Viewer)
        .await;
    assert_eq!(forbidden(replaced), Forbidden::MissingScope);
    one_time_links::look(&app.management, link, None)
        .await
        .unwrap();
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
    let open = invitations::list(&operator.caller(), ALL).await.unwrap();
    let of_another = open.iter().find(|one| one.team == Some(another)).unwrap();
    invitations::cancel(&operator.caller(), of_another.id)
        .await
        .unwrap();
    let leads = one_time_links::look(&app.management, first, None).await;
    assert!(matches!(leads, Err(Refused::NotFound(_))), "{leads:?}");
}

#[sqlx::test(migrations = false)]
async fn a_disabled_owner_is_not_the_only_one(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let owner = app.person("owner@example.com", Role::Owner).await;
    let former = app.person("former@example.com", Role::Owner).await;
    let by = owner.caller();
    people::disable(&by, former.id).await.unwrap();
    let by = owner.caller();
    let changed = people::update(&by, former.id, |_| Standing {
        role: Role::Viewer,
        sites: None,
    });
    assert_eq!(changed.await.unwrap().role, Role::Viewer);
    let by = owner.caller();
    let changed = people::update(&by, owner.id, |_| Standing {
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
        let refused = tokens::disable(&owner.caller(), stronger, extent).await;
        assert_eq!(forbidden(refused), Forbidden::MissingScope);
        let refused = tokens::disable(&admin.caller(), equal, extent).await;
        assert_eq!(forbidden(refused), Forbidden::MissingScope);
    }
    let refused = people::disable(&admin.caller(), owner.id).await;
    assert_eq!(forbidden(refused), Forbidden::MissingScope);
    let disabled = "select count(*) from management_tokens where disabled_at is not null";
    assert_eq!(app.count(disabled).await, 0);
    app.people(&owner).await.unwrap();

    tokens::disable(&owner.caller(), equal, Extent::One)
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
    people::update(&Caller::command_line(&app.management), moderator.id, |_| {
        standing
    })
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
            seen: Seen {
                status: expected,
                verdict: None,
            },
        };
        media::decide(&moderator.caller(), media, decision).await
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
