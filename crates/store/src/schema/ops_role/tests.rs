//! The statements for an administrator make the role that the migration makes.

use sqlx::{AssertSqlSafe, PgConnection, PgPool};
use uuid::Uuid;

use super::*;
use crate::schema;

const MIGRATION: &str = include_str!("../../../../../migrations/0032_ops.sql");

async fn run(conn: &mut PgConnection, sql: String) {
    sqlx::raw_sql(AssertSqlSafe(sql))
        .execute(conn)
        .await
        .unwrap();
}

/// What a role is and may do.
async fn described(conn: &mut PgConnection, role: &str) -> String {
    sqlx::query_scalar(
        "select concat_ws(' ', r.rolcanlogin, r.rolconnlimit, r.rolconfig,
            (select string_agg(concat_ws('.', n.nspname, c.relname, p.privilege_type), ' ' order by c.relname, p.privilege_type)
             from pg_class c join pg_namespace n on n.oid = c.relnamespace cross join aclexplode(c.relacl) p
             where p.grantee = r.oid),
            (select string_agg(concat_ws('.', n.nspname, p.privilege_type), ' ') from pg_namespace n cross join aclexplode(n.nspacl) p
             where p.grantee = r.oid),
            (select string_agg(concat_ws('.', f.proname, p.privilege_type), ' ') from pg_proc f cross join aclexplode(f.proacl) p
             where p.grantee = r.oid))
         from pg_roles r where r.rolname = $1",
    )
    .bind(role)
    .fetch_one(conn)
    .await
    .unwrap()
}

#[sqlx::test(migrations = false)]
async fn a_missing_role_is_told_with_statements_that_make_the_same_role(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let mut conn = pool.acquire().await.unwrap();
    assert_eq!(missing_role(&mut conn).await.unwrap(), None);

    let [by_migration, by_hand] = [(); 2].map(|()| format!("ops_{}", Uuid::now_v7().simple()));
    let (_, creation) = MIGRATION.split_once("do $$").unwrap();
    let creation = format!("do $${creation}").replace(ROLE, &by_migration);
    run(&mut conn, creation).await;
    let told = missing(&mut conn, &by_hand).await.unwrap().unwrap();
    // A role that was there before gets no second creation.
    run(&mut conn, format!("create role {by_hand}")).await;
    let grants_only = missing(&mut conn, &by_hand).await.unwrap();
    run(&mut conn, format!("drop role {by_hand}")).await;
    run(&mut conn, told.join("\n")).await;
    let left = missing(&mut conn, &by_hand).await.unwrap();
    let made = [
        described(&mut conn, &by_migration).await,
        described(&mut conn, &by_hand).await,
    ];
    for role in [&by_migration, &by_hand] {
        run(&mut conn, format!("drop owned by {role}; drop role {role}")).await;
    }
    assert_eq!(grants_only, Some(told[4..].to_vec()));
    assert_eq!(left, None);
    assert!(made[0].contains("ops.due_jobs.SELECT"), "{}", made[0]);
    assert_eq!(made[0], made[1]);
}
