//! Triggers refuse what nobody does by accident or with the rights of the service alone.

use sqlx::PgPool;

use super::{NO_TEAM, count, finding, record, run, sealed};

#[sqlx::test(migrations = false)]
async fn the_log_is_only_added_to(pool: PgPool) {
    sealed(&pool, NO_TEAM, 3).await;
    record(&pool, NO_TEAM).await;
    for refused in [
        "update audit_log set action = 'team.create' where chain_number = 2",
        "update audit_log set chain_number = 7 where chain_number = 2",
        "update audit_log set chain_number = null, chain_hash = null where chain_number = 2",
        "update audit_log set action = 'team.create' where chain_number is null",
        "delete from audit_log where chain_number = 1",
        "delete from audit_log where chain_number is null",
        "truncate audit_log",
        "insert into audit_log (id, actor, action, details, chain_number, chain_hash)
         values (gen_random_uuid(), 'command_line', 'team.update', '{}', 4, decode(repeat('00', 32), 'hex'))",
        "update audit_chains set head_number = 2",
        "update audit_chains set chain = gen_random_uuid()",
        "delete from audit_chains",
        "truncate audit_chains",
    ] {
        let error = run(&pool, refused).await.unwrap_err();
        let error = error.as_database_error().unwrap();
        assert_eq!(error.code().as_deref(), Some("23001"), "{refused}: {error}");
        assert!(error.message().contains("audit log"), "{error}");
    }
    assert_eq!(count(&pool, "select count(*) from audit_log").await, 4);
    assert_eq!(finding(&pool, NO_TEAM).await, None);
}

/// If you add a column to the audit log, add it to the encoding of rows as well.
#[sqlx::test(migrations = false)]
async fn case_85_every_column_of_the_audit_log_is_hashed(pool: PgPool) {
    store::schema::migrate(&pool).await.unwrap();
    let columns: Vec<String> = sqlx::query_scalar(
        "select column_name::text from information_schema.columns
         where table_schema = 'public' and table_name = 'audit_log' and column_name not in ('chain_number', 'chain_hash')
         order by 1",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    let mut hashed = domain::audit::chain::Row::COLUMNS;
    hashed.sort_unstable();
    assert_eq!(columns, hashed);
}
