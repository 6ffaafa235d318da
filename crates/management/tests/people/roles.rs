//! Roles: who may do what, and who may give which.

use domain::{
    id::{MemberId, SiteId},
    role::Role,
    scope::Scope,
};
use management::{
    Caller, Conflict, Forbidden, Refused,
    people::{self, Standing, invitations},
};
use sqlx::PgPool;

use crate::fixture::{Fixture, Somebody, forbidden};

async fn set_role(by: &Caller, member: MemberId, role: Role) -> Result<Role, Refused> {
    let updated = people::update(by, member, |standing| Standing {
        role,
        sites: standing.sites.filter(|_| role.has_sites()),
    });
    Ok(updated.await?.role)
}

#[sqlx::test(migrations = false)]
async fn a_role_may_use_its_scopes_and_no_other(pool: PgPool) {
    let app = Fixture::new(pool).await;
    for role in Role::ALL {
        let somebody = app.person(&format!("{role}@example.com"), *role).await;
        for scope in Scope::ALL {
            let session = somebody.caller().change(*scope).await;
            let may = match session {
                Ok(_) => true,
                Err(Refused::Forbidden(Forbidden::MissingScope, _)) => false,
                Err(other) => panic!("{role} {scope}: {other:?}"),
            };
            assert_eq!(may, role.scopes().contains(scope), "{role} {scope}");
        }
    }
}

#[sqlx::test(migrations = false)]
async fn nobody_gives_or_takes_more_than_it_has(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let owner = app.person("owner@example.com", Role::Owner).await;
    let admin = app.person("admin@example.com", Role::Admin).await;
    let lead = app.person("lead@example.com", Role::Lead).await;
    let viewer = app.person("viewer@example.com", Role::Viewer).await;
    let missing = |result: Result<Role, Refused>| {
        assert_eq!(forbidden(result), Forbidden::MissingScope);
    };
    let invite = async |by: &Somebody, role: Role| {
        let link = app
            .invite(&by.caller(), None, "new@example.com", role)
            .await;
        link.map(|_| role)
    };
    missing(invite(&lead, Role::Viewer).await);
    missing(invite(&admin, Role::Owner).await);
    for role in [Role::Viewer, Role::Moderator, Role::Lead, Role::Admin] {
        invite(&admin, role).await.unwrap();
    }
    invite(&owner, Role::Owner).await.unwrap();

    let by = admin.caller();
    missing(set_role(&by, viewer.id, Role::Owner).await);
    missing(set_role(&by, admin.id, Role::Owner).await);
    missing(set_role(&by, owner.id, Role::Viewer).await);
    let refused = people::disable(&admin.caller(), owner.id).await;
    assert_eq!(forbidden(refused), Forbidden::MissingScope);
    set_role(&admin.caller(), viewer.id, Role::Admin)
        .await
        .unwrap();
    // The new role holds at once, in sessions that are open, too: an admin needs a second factor.
    let listed = app.people(&viewer).await;
    assert_eq!(forbidden(listed), Forbidden::FactorSetUpRequired);
    set_role(&owner.caller(), viewer.id, Role::Owner)
        .await
        .unwrap();
    // Operators are made by operators, and belong to no team.
    let refused = set_role(&owner.caller(), viewer.id, Role::Operator).await;
    assert!(
        matches!(
            refused,
            Err(Refused::Forbidden(Forbidden::OperatorsOnly, _) | Refused::Fields(_))
        ),
        "{refused:?}"
    );
    let refused = app
        .invite(
            &Caller::command_line(&app.management),
            Some(app.team),
            "op@example.com",
            Role::Operator,
        )
        .await;
    assert!(matches!(refused, Err(Refused::Fields(_))), "{refused:?}");
    let refused = app
        .invite(
            &Caller::command_line(&app.management),
            None,
            "op@example.com",
            Role::Admin,
        )
        .await;
    assert!(matches!(refused, Err(Refused::Fields(_))), "{refused:?}");
}

#[sqlx::test(migrations = false)]
async fn a_team_keeps_an_owner_also_when_two_leave_at_once(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let one = app.person("one@example.com", Role::Owner).await;
    let last = |result: Result<(), Refused>| {
        assert!(
            matches!(result, Err(Refused::Conflict(Conflict::LastOwner, _))),
            "{result:?}"
        );
    };
    let by = Caller::command_line(&app.management);
    last(people::leave(&one.caller()).await);
    last(people::disable(&by, one.id).await);
    last(set_role(&one.caller(), one.id, Role::Admin).await.map(drop));

    let other = app.person("other@example.com", Role::Owner).await;
    for round in 0..5 {
        let callers = [one.caller(), other.caller()];
        let (first, second) = tokio::join!(people::leave(&callers[0]), people::leave(&callers[1]),);
        assert_eq!(
            [&first, &second].iter().filter(|left| left.is_ok()).count(),
            1,
            "{round}: {first:?} {second:?}"
        );
        let owners =
            "select count(*) from memberships where role = 'owner' and disabled_at is null";
        assert_eq!(app.count(owners).await, 1);
        app.run("update memberships set disabled_at = null").await;
        // Leaving the only team ends the sessions.
        let gone = if first.is_ok() { &one } else { &other };
        restore_session(&app, gone).await;
    }
}

/// Puts the session of somebody back, with its factor given.
async fn restore_session(app: &Fixture, gone: &Somebody) {
    sqlx::query(
        "insert into sessions (id, user_id, hash, address, user_agent, factor_at)
         select gen_random_uuid(), user_id, $2, '', '', now() from memberships where id = $1",
    )
    .bind(gone.id.as_uuid())
    .bind(&gone.session.as_bytes()[..])
    .execute(&app.pool)
    .await
    .unwrap();
}

#[sqlx::test(migrations = false)]
async fn an_operator_invites_the_first_owner_of_a_team_and_no_other(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let operator = app.person("operator@example.com", Role::Operator).await;
    let another = app.another_team().await;
    let invite = async |team, email: &str, role| {
        app.invite(&operator.caller(), Some(team), email, role)
            .await
    };
    assert_eq!(
        forbidden(invite(another, "admin@example.com", Role::Admin).await),
        Forbidden::MissingScope
    );
    let link = invite(another, "owner@example.com", Role::Owner)
        .await
        .unwrap();
    let second = invite(another, "second@example.com", Role::Owner).await;
    assert_eq!(forbidden(second), Forbidden::MissingScope);
    app.accept(link).await.unwrap();
    let second = invite(another, "second@example.com", Role::Owner).await;
    assert_eq!(forbidden(second), Forbidden::MissingScope);
    // Operators make operators.
    app.invite(&operator.caller(), None, "next@example.com", Role::Operator)
        .await
        .unwrap();
}

#[sqlx::test(migrations = false)]
async fn a_moderator_decides_on_the_sites_given_and_on_no_other(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let (ours, others) = (
        app.create_site(app.team, "ours").await,
        app.create_site(app.team, "others").await,
    );
    let foreign = app.create_site(app.another_team().await, "foreign").await;
    let admin = app.person("admin@example.com", Role::Admin).await;
    let moderator = app.person("moderator@example.com", Role::Moderator).await;
    let give = async |role: Role, sites: Option<Vec<SiteId>>| {
        let wanted = Standing { role, sites };
        people::update(&admin.caller(), moderator.id, |_| wanted).await
    };
    let may = async |site: SiteId| {
        let session = moderator.caller().change(Scope::MediaDecide).await;
        session.unwrap().require_own_site(site).is_ok()
    };
    assert!(may(ours).await && may(others).await);
    let updated = give(Role::Moderator, Some(vec![ours, ours])).await.unwrap();
    assert_eq!(updated.sites, Some(vec![ours]));
    assert!(may(ours).await && !may(others).await);
    for (role, sites) in [
        (Role::Moderator, vec![ours, foreign]),
        (Role::Moderator, vec![SiteId::from(uuid::Uuid::now_v7())]),
        (Role::Moderator, vec![]),
        (Role::Lead, vec![ours]),
    ] {
        let refused = give(role, Some(sites)).await;
        assert!(matches!(refused, Err(Refused::Fields(_))), "{refused:?}");
    }
    give(Role::Lead, None).await.unwrap();
    assert!(may(others).await);
}

#[sqlx::test(migrations = false)]
async fn another_teams_people_are_as_unknown_as_nobodys(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let owner = app.person("owner@example.com", Role::Owner).await;
    let another = app.another_team().await;
    let theirs = app
        .person_in(Some(another), "theirs@example.com", Role::Viewer)
        .await;
    let nobody = MemberId::from(uuid::Uuid::now_v7());
    for id in [theirs.id, nobody] {
        let by = owner.caller();
        let told = [
            people::get(&by, id).await.map(drop),
            set_role(&owner.caller(), id, Role::Lead).await.map(drop),
            people::disable(&owner.caller(), id).await,
            people::password_resets::create(&owner.caller(), id)
                .await
                .map(drop),
        ];
        for refused in told {
            assert!(matches!(refused, Err(Refused::NotFound(_))), "{refused:?}");
        }
    }
    assert_eq!(app.people(&owner).await.unwrap().len(), 1);
    let wanted = invitations::Wanted {
        team: Some(another),
        email: "a@example.com".parse().unwrap(),
        standing: Standing {
            role: Role::Viewer,
            sites: None,
        },
    };
    let refused = invitations::create(&owner.caller(), &wanted).await;
    assert!(matches!(refused, Err(Refused::Fields(_))), "{refused:?}");
}
