//! The files in `functions/`, which are for reading, have the functions that the migrations make.

use std::{fs, path::PathBuf};

use sqlx::{AssertSqlSafe, PgPool};

/// Every function of the schema by its name and the types of its arguments, as Postgres shows it.
async fn definitions(pool: &PgPool) -> Vec<(String, String)> {
    sqlx::query_as(
        "select oid::regprocedure::text, pg_get_functiondef(oid)
           from pg_proc
          where pronamespace = 'queue'::regnamespace
          order by 1",
    )
    .fetch_all(pool)
    .await
    .unwrap()
}

async fn run(pool: &PgPool, statements: &str) {
    sqlx::raw_sql(AssertSqlSafe(statements))
        .execute(pool)
        .await
        .unwrap();
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn the_files_for_reading_make_the_functions_of_the_migrations(pool: PgPool) {
    let migrated = definitions(&pool).await;
    assert!(!migrated.is_empty());

    // The one thing that depends on a function.
    run(
        &pool,
        "alter table queue.jobs alter column gen drop default",
    )
    .await;
    for (function, _) in &migrated {
        run(&pool, &format!("drop function {function}")).await;
    }
    assert!(definitions(&pool).await.is_empty());

    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/functions");
    let files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    for file in files {
        run(&pool, &fs::read_to_string(file).unwrap()).await;
    }
    let read = definitions(&pool).await;
    assert_eq!(
        read.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        migrated.iter().map(|(name, _)| name).collect::<Vec<_>>()
    );
    for (read, migrated) in read.iter().zip(&migrated) {
        assert_eq!(read.1, migrated.1, "{}", migrated.0);
    }
}
