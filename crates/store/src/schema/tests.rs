//! Databases that are newer, belong to others, or have no room.

use std::collections::BTreeSet;

use sqlx::{
    AssertSqlSafe, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use uuid::Uuid;

use super::*;

async fn run(pool: &PgPool, sql: impl Into<String>) {
    sqlx::raw_sql(AssertSqlSafe(sql.into()))
        .execute(pool)
        .await
        .unwrap();
}

/// Everything that is gone after this may have come with the database: new ones can be copies of one that has the schema.
async fn empty(pool: &PgPool) {
    run(
        pool,
        "drop schema if exists ops, queue cascade; drop schema public cascade; create schema public;
         grant usage on schema public to public",
    )
    .await;
}

/// The relations, functions and schemas that somebody has created.
async fn content(pool: &PgPool) -> Vec<String> {
    sqlx::query_scalar(
        "select c.oid::regclass::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
         union all
         select p.oid::regprocedure::text from pg_proc p join pg_namespace n on n.oid = p.pronamespace
         where n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
         union all
         select nspname::text from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'
         order by 1",
    )
    .fetch_all(pool)
    .await
    .unwrap()
}

fn newest() -> i64 {
    MIGRATOR
        .iter()
        .map(|migration| migration.version)
        .max()
        .unwrap()
}

/// What a later version's `migrate` leaves in the list.
async fn apply(pool: &PgPool, list: &str, version: i64, name: &str) {
    run(
        pool,
        format!(
            "insert into {list} (version, description, success, checksum, execution_time)
             values ({version}, '{name}', true, 'x', 1)"
        ),
    )
    .await;
}

#[sqlx::test(migrations = false)]
async fn a_newer_schema_that_only_adds_is_served_and_left_alone(pool: PgPool) {
    assert_eq!(migrate(&pool).await.unwrap(), Compatibility::Current);
    assert_eq!(compatibility(&pool).await.unwrap(), Compatibility::Current);
    apply(&pool, "queue._migrations", 990, "more").await;
    apply(&pool, "_sqlx_migrations", 999, "more of it").await;
    // A binary from before `newest` would not do.
    let enough = format!("drop old columns needs {}", newest());
    apply(&pool, "_sqlx_migrations", 998, &enough).await;
    // The later version may have replaced it.
    run(&pool, "drop index media_stored_by_idx").await;
    let before = content(&pool).await;
    for newer in [
        compatibility(&pool).await.unwrap(),
        migrate(&pool).await.unwrap(),
    ] {
        assert_ne!(newer, Compatibility::Current);
        let told = newer.to_string();
        for said in ["999 (queue: 990)", &*format!("schemas from {}", newest())] {
            assert!(told.contains(said), "{told}");
        }
    }
    assert_eq!(content(&pool).await, before);
}

#[sqlx::test(migrations = false)]
async fn a_newer_schema_that_removed_what_this_version_uses_is_refused(pool: PgPool) {
    migrate(&pool).await.unwrap();
    apply(&pool, "_sqlx_migrations", 998, "add more").await;
    apply(&pool, "_sqlx_migrations", 999, "drop old columns needs 998").await;
    for unready in [
        compatibility(&pool).await.unwrap_err(),
        migrate(&pool).await.unwrap_err(),
    ] {
        assert!(unready.is_final(), "{unready:?}");
        let told = unready.to_string();
        for said in ["migration 999 has removed", "that knows migration 998"] {
            assert!(told.contains(said), "{told}");
        }
    }
}

#[sqlx::test(migrations = false)]
async fn a_schema_of_another_build_is_refused(pool: PgPool) {
    migrate(&pool).await.unwrap();
    apply(&pool, "_sqlx_migrations", 999, "more").await;
    run(
        &pool,
        format!("delete from _sqlx_migrations where version = {}", newest()),
    )
    .await;
    for unready in [
        compatibility(&pool).await.unwrap_err(),
        migrate(&pool).await.unwrap_err(),
    ] {
        let is_told = matches!(
            unready,
            Unready::Diverged { unknown: 999, missing } if missing == newest()
        );
        assert!(is_told, "{unready}");
    }
}

#[sqlx::test(migrations = false)]
async fn a_schema_that_lacks_something_is_upgraded(pool: PgPool) {
    empty(&pool).await;
    assert!(matches!(compatibility(&pool).await, Err(Unready::Behind)));
    queue::MIGRATOR.run(&pool).await.unwrap();
    assert!(matches!(compatibility(&pool).await, Err(Unready::Behind)));
    assert_eq!(migrate(&pool).await.unwrap(), Compatibility::Current);
    assert_eq!(compatibility(&pool).await.unwrap(), Compatibility::Current);
}

#[sqlx::test(migrations = false)]
async fn the_database_of_another_application_is_left_as_it_is(pool: PgPool) {
    for (theirs, named) in [
        // The first one that failed was in the middle: others had been created before.
        ("create table media (id bigint primary key)", "it has the table media,"),
        // A migration would replace it.
        (
            "create function bump_site_revision() returns trigger language plpgsql as 'begin return null; end'",
            "it has the function bump_site_revision,",
        ),
        // A migration would use it.
        ("create view actors as select 1 as id", "it has the view actors,"),
        ("create schema ops", "it has the schema ops,"),
        ("create schema queue; create table queue.mine (id int)", "it has the schema queue,"),
        (
            "create table _sqlx_migrations (version bigint)",
            "it has the table _sqlx_migrations of its own,",
        ),
        (
            "create table media (); create table sites (); create table plans (); create table teams (); create table usage ();
             create table verdicts (); create table site_keys ()",
            "and 2 more,",
        ),
    ] {
        empty(&pool).await;
        run(&pool, theirs).await;
        let before = content(&pool).await;
        for unready in [
            compatibility(&pool).await.unwrap_err(),
            migrate(&pool).await.unwrap_err(),
        ] {
            let told = unready.to_string();
            let is_told = matches!(unready, Unready::Foreign(_)) && told.contains(named);
            assert!(is_told, "{theirs}: {told}");
        }
        assert_eq!(content(&pool).await, before, "{theirs}");
    }
    // Tables with other names, and an empty schema that an administrator has prepared, are in nobody's way.
    empty(&pool).await;
    run(&pool, "create table theirs (); create schema queue").await;
    assert_eq!(migrate(&pool).await.unwrap(), Compatibility::Current);
}

#[sqlx::test(migrations = false)]
async fn everything_that_migrations_create_is_looked_for(pool: PgPool) {
    empty(&pool).await;
    migrate(&pool).await.unwrap();
    let created: Vec<String> = sqlx::query_scalar(
        "select c.relname::text from pg_class c
         where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'S')
           and c.relname not like '\\_sqlx\\_migrations%'
           and not exists (select from pg_depend d where d.objid = c.oid and d.deptype in ('a', 'i', 'e'))
         union all
         select p.proname::text from pg_proc p
         where p.pronamespace = 'public'::regnamespace
           and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    let looked_for = preconditions::names(&["table", "view", "sequence", "function"]);
    let looked_for: BTreeSet<&str> = looked_for.iter().map(String::as_str).collect();
    let missed: Vec<_> = created
        .iter()
        .filter(|name| !looked_for.contains(name.as_str()))
        .collect();
    assert!(missed.is_empty() && created.len() > 50, "{missed:?}");
}

#[sqlx::test(migrations = false)]
async fn a_role_that_may_not_create_tables_is_told_the_statements_that_allow_it(
    _: PgPoolOptions,
    database: PgConnectOptions,
) {
    let admin = PgPool::connect_with(database.clone()).await.unwrap();
    empty(&admin).await;
    let role = format!("plain_{}", Uuid::now_v7().simple());
    run(&admin, format!("create role {role}")).await;
    let before = content(&admin).await;
    let limited = database.options([("role", role.as_str())]);
    let limited = PgPool::connect_with(limited).await.unwrap();
    let mut refused = Vec::new();
    for _ in 0..2 {
        if let Err(Unready::Forbidden { remedy, .. }) = migrate(&limited).await {
            refused.push((content(&admin).await, remedy.clone()));
            run(&admin, remedy).await;
        }
    }
    let compatibility = compatibility(&limited).await;
    limited.close().await;
    run(
        &admin,
        format!("drop owned by {role} cascade; drop role {role}"),
    )
    .await;
    let [(after, remedy)] = &refused[..] else {
        panic!("refused {} times", refused.len());
    };
    assert_eq!(*after, before);
    assert!(
        remedy.contains(&format!("grant create on schema public to {role};"))
            && remedy.contains("grant create on database "),
        "{remedy}"
    );
    assert_eq!(compatibility.unwrap(), Compatibility::Current);
}

#[sqlx::test(migrations = false)]
async fn a_role_that_may_not_use_the_schema_of_another_is_told_what_to_do(
    _: PgPoolOptions,
    database: PgConnectOptions,
) {
    let admin = PgPool::connect_with(database.clone()).await.unwrap();
    empty(&admin).await;
    let [owner, role] =
        ["owner", "stranger"].map(|name| format!("{name}_{}", Uuid::now_v7().simple()));
    run(
        &admin,
        format!(
            "create role {owner}; create role {role};
             do $$ begin execute format('grant create on database %I to {owner}', current_database()); end $$;
             grant usage, create on schema public to {owner}"
        ),
    )
    .await;
    let connect = |role: &String| PgPool::connect_with(database.clone().options([("role", role)]));
    let (owning, strange) = (
        connect(&owner).await.unwrap(),
        connect(&role).await.unwrap(),
    );
    migrate(&owning).await.unwrap();
    let refused = compatibility(&strange).await;
    if let Err(Unready::Closed { remedy, .. }) = &refused {
        let (_, statement) = remedy.rsplit_once(": ").unwrap();
        run(&admin, statement.to_owned()).await;
    }
    let member = compatibility(&strange).await;
    // Where the owner is a superuser, its members can become one.
    run(
        &admin,
        format!("revoke {owner} from {role}; alter role {owner} superuser"),
    )
    .await;
    let superuser = compatibility(&strange).await;
    strange.close().await;
    owning.close().await;
    run(
        &admin,
        format!("drop owned by {owner}, {role} cascade; drop role {owner}; drop role {role}"),
    )
    .await;
    let refused = refused.unwrap_err().to_string();
    let start = format!(
        "the database's schema belongs to the role {owner}, and the role {role} may not use it. Use the role {owner}"
    );
    assert_eq!(
        refused,
        format!("{start}, or run as an administrator: grant {owner} to {role};")
    );
    assert_eq!(member.unwrap(), Compatibility::Current);
    assert_eq!(superuser.unwrap_err().to_string(), start);
}
