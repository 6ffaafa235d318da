//! Actors: who did something. Every token is an actor, whichever version of the binary created it.
//! A member can be an actor too.

use sqlx::PgPool;
use store::token::{self, Grant, NewToken};
use uuid::Uuid;

use crate::tenant::Tenant;

#[sqlx::test(migrations = false)]
async fn every_token_is_an_actor_of_its_team(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let mut conn = fixture.pool.acquire().await.unwrap();
    let new = NewToken {
        name: &"an operator".parse().unwrap(),
        team: None,
        scopes: &[],
        expires_at: None,
    };
    token::create(&mut conn, &Grant::command_line(), new)
        .await
        .unwrap();
    let differ = "
        select count(*)
        from management_tokens t
        full join actors a on a.id = t.id
        where
            a.id is null or t.id is null or a.kind <> 'token' or a.team_id is distinct from t.team_id
            or a.created_at <> t.created_at";
    assert_eq!(fixture.count(differ).await, 0);
    assert_eq!(fixture.count("select count(*) from actors").await, 2);
}

/// Everything that can be recorded for a token can be recorded for a member.
#[sqlx::test(migrations = false)]
async fn a_member_is_recorded_wherever_a_token_is_and_a_stranger_nowhere(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let member = Uuid::now_v7();
    sqlx::query("insert into actors (id, kind, team_id) values ($1, 'member', $2)")
        .bind(member)
        .bind(fixture.team.as_uuid())
        .execute(&fixture.pool)
        .await
        .unwrap();
    let team = fixture.team;
    let writes = [
        "update rule_group_versions set created_by = $1".to_owned(),
        "update rule_group_publications set published_by = $1".to_owned(),
        format!(
            "insert into hash_lists (id, team_id, name, description, kind, max_distance, created_by)
             values (gen_random_uuid(), '{team}', 'a', '', 'deny', 0, $1)"
        ),
        "update management_tokens set creator = 'member', created_by = $1".to_owned(),
    ];
    for write in &writes {
        let by = async |actor: Uuid| {
            let write = sqlx::query(sqlx::AssertSqlSafe(write.clone())).bind(actor);
            write.execute(&fixture.pool).await
        };
        assert!(by(Uuid::now_v7()).await.is_err(), "{write}");
        let done = by(member).await;
        assert!(done.is_ok_and(|done| done.rows_affected() > 0), "{write}");
    }
    let keys = "
        select count(*) from pg_constraint
        where contype = 'f' and confrelid = 'actors'::regclass and convalidated";
    assert_eq!(fixture.count(keys).await, 9);
    let old = "
        select count(*) from pg_constraint
        where contype = 'f' and confrelid = 'management_tokens'::regclass";
    assert_eq!(fixture.count(old).await, 0);
}

#[sqlx::test(migrations = false)]
async fn the_audit_log_takes_members_with_their_ids_and_nobody_else(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let record = async |actor: &str, id: Option<Uuid>| {
        sqlx::query(
            "insert into audit_log (id, actor, actor_id, action, details)
             values (gen_random_uuid(), $1, $2, 'team.update', '{}')",
        )
        .bind(actor)
        .bind(id)
        .execute(&fixture.pool)
        .await
        .is_ok()
    };
    let somebody = Some(Uuid::now_v7());
    for (actor, id, taken) in [
        ("token", somebody, true),
        ("member", somebody, true),
        ("command_line", None, true),
        ("token", None, false),
        ("member", None, false),
        ("command_line", somebody, false),
        ("stranger", somebody, false),
    ] {
        assert_eq!(record(actor, id).await, taken, "{actor} {id:?}");
    }
}
