//! The role `gatehouse_ops`: what it may read, and migrations that may not create it, or create it
//! at the same time.

use sqlx::{
    AssertSqlSafe, Connection as _, PgConnection, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use uuid::Uuid;

use super::read_as_role;

const MIGRATION: &str = include_str!("../../../../../migrations/0032_ops.sql");

#[sqlx::test(migrations = false)]
async fn the_role_reads_the_views_and_nothing_else(pool: PgPool) {
    store::schema::migrate(&pool).await.unwrap();
    let reachable: Vec<String> = sqlx::query_scalar(
        "select c.oid::regclass::text
         from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast') and c.relkind in ('r', 'v', 'm', 'p', 'f', 'S')
           and case when c.relkind = 'S' then has_sequence_privilege('gatehouse_ops', c.oid, 'usage, select, update')
               else has_table_privilege('gatehouse_ops', c.oid, 'select, insert, update, delete, truncate, references, trigger')
                    or has_any_column_privilege('gatehouse_ops', c.oid, 'select, insert, update, references') end
           and c.relname not like 'pg_stat_statements%'
         order by 1",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    let views = [
        "ops.dead_jobs",
        "ops.due_jobs",
        "ops.endpoint_troubles",
        "ops.quotas",
        "ops.reviews",
        "ops.submissions",
    ];
    assert_eq!(reachable, views);

    let mut conn = pool.acquire().await.unwrap();
    for refused in [
        "select body from public.media",
        "select hash from public.site_keys",
        "select payload from queue.dead_jobs",
        "select error from queue.jobs",
    ] {
        let error = read_as_role(&mut conn, refused).await.unwrap_err();
        let code = error
            .as_database_error()
            .and_then(|error| error.code().map(String::from));
        assert_eq!(code.as_deref(), Some("42501"), "{refused}: {error}");
        sqlx::raw_sql("rollback").execute(&mut *conn).await.unwrap();
    }
}

#[sqlx::test(migrations = false)]
async fn the_role_cannot_write_wait_or_sign_in(pool: PgPool) {
    store::schema::migrate(&pool).await.unwrap();
    let role: (bool, bool, Vec<String>) = sqlx::query_as(
        "select rolcanlogin, rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls, rolconfig
         from pg_roles where rolname = 'gatehouse_ops'",
    )
    .fetch_one(&pool)
    .await
    .unwrap();
    let settings = [
        "default_transaction_read_only=on",
        "statement_timeout=5s",
        "idle_in_transaction_session_timeout=10s",
    ];
    assert_eq!(role, (false, false, settings.map(String::from).to_vec()));
    let creates: bool = sqlx::query_scalar(
        "select bool_or(has_schema_privilege('gatehouse_ops', oid, 'create')) from pg_namespace",
    )
    .fetch_one(&pool)
    .await
    .unwrap();
    assert!(!creates);
}

/// The migration, for a role that no other test or database has.
fn for_another_role() -> (String, String) {
    let role = format!("ops_{}", Uuid::now_v7().simple());
    (MIGRATION.replace("gatehouse_ops", &role), role)
}

async fn exists(pool: &PgPool, role: &str) -> bool {
    sqlx::query_scalar("select exists (select from pg_roles where rolname = $1)")
        .bind(role)
        .fetch_one(pool)
        .await
        .unwrap()
}

async fn run(conn: &mut PgConnection, sql: String) -> Result<(), sqlx::Error> {
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(conn).await?;
    Ok(())
}

#[sqlx::test(migrations = false)]
async fn a_migration_that_may_create_no_role_makes_the_views(
    _: PgPoolOptions,
    database: PgConnectOptions,
) {
    let pool = PgPool::connect_with(database.clone()).await.unwrap();
    store::schema::migrate(&pool).await.unwrap();
    let (migration, role) = for_another_role();
    let plain = format!("plain_{}", Uuid::now_v7().simple());
    let mut conn = pool.acquire().await.unwrap();
    run(
        &mut conn,
        format!(
            "drop schema ops cascade; create role {plain};
             do $$ begin execute format('grant create on database %I to {plain}', current_database()); end $$;
             grant usage on schema public, queue to {plain};
             grant select on all tables in schema public, queue to {plain};"
        ),
    )
    .await
    .unwrap();

    let mut limited = PgConnection::connect_with(&database.options([("role", plain.as_str())]))
        .await
        .unwrap();
    let done = run(&mut limited, migration).await;
    let answered = run(&mut limited, "select * from ops.dead_jobs".to_owned()).await;
    limited.close().await.unwrap();

    let created = exists(&pool, &role).await;
    run(
        &mut conn,
        format!("drop owned by {plain}; drop role {plain}"),
    )
    .await
    .unwrap();
    done.unwrap();
    answered.unwrap();
    assert!(!created);
}

#[sqlx::test(migrations = false)]
async fn databases_that_migrate_at_once_share_the_role(pool: PgPool) {
    let (migration, role) = for_another_role();
    let (_, creation) = migration.split_once("do $$").unwrap();
    let (creation, _) = creation.split_once("$$;").unwrap();
    let creation = format!("do $${creation}$$");
    let all: Vec<_> = (0..8)
        .map(|_| {
            let (pool, creation) = (pool.clone(), creation.clone());
            tokio::spawn(async move {
                let mut conn = pool.acquire().await.unwrap();
                run(&mut conn, creation).await
            })
        })
        .collect();
    for one in all {
        one.await.unwrap().unwrap();
    }
    assert!(exists(&pool, &role).await);
    let mut conn = pool.acquire().await.unwrap();
    run(&mut conn, format!("drop role {role}")).await.unwrap();
}
