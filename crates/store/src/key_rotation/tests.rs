//! Everything sealed is known, and an older key is retired only when nothing needs it.

use sqlx::PgPool;

use super::*;
use crate::{
    encryption::check_master_key,
    plan,
    rule_group::{self, NewVersion},
    schema, site, team,
};

/// If you add a column with secrets, add it to the statements beside these tests and to [`super::left`] too.
#[sqlx::test(migrations = false)]
async fn every_column_that_could_hold_a_sealed_secret_is_known(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let columns: Vec<String> = sqlx::query_scalar(
        "select format('%s.%s', table_name, column_name) from information_schema.columns
         where table_schema = 'public' and data_type = 'bytea' and table_name <> '_sqlx_migrations'
         order by 1",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    let sealed = [
        "factors.secret",
        "master_key_check.sealed",
        "signing_keys.sealed",
        "sites.next_webhook_secret",
        "sites.webhook_secret",
        "webhook_endpoints.headers",
    ];
    let others = [
        "audit_chains.head_hash",
        "audit_chains.start_hash",
        "audit_log.chain_hash",
        "audit_log.trace_id",
        "cached_answers.key",
        "delivery_attempts.response_body",
        "erasures.items_digest",
        "erasures.salt",
        "erasures.subject_sha256",
        "hash_entries.pdq",
        "hash_entries.sha256",
        "hash_import_chunks.bytes",
        "idempotency_keys.fingerprint",
        "links.hash",
        "management_tokens.hash",
        "media.traceparent",
        "media_images.bytes",
        "media_images.pdq",
        "media_images.sha256",
        "recovery_codes.hash",
        "sessions.hash",
        "sign_in_failures.key",
        "sign_on_attempts.key",
        "signing_keys.public_key",
        "site_keys.hash",
    ];
    let mut known = [&sealed[..], &others].concat();
    known.sort_unstable();
    assert_eq!(columns, known);
}

#[sqlx::test(migrations = false)]
async fn an_older_key_is_retired_once_nothing_is_sealed_with_it_and_not_before(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let mut conn = pool.acquire().await.unwrap();
    let old = MasterKey::new([1; 32]);
    let both = MasterKey::new([2; 32]).replacing([1; 32]);
    check_master_key(&mut conn, &old).await.unwrap();
    // As if a process still sealed with the old key after everything else was sealed again.
    let mut tx = pool.begin().await.unwrap();
    let team = team::create(&mut tx, &"a".parse().unwrap(), plan::UNLIMITED)
        .await
        .unwrap();
    let version = NewVersion {
        rules: &[],
        categories: &[],
    };
    let group = rule_group::create(&mut tx, team.id, "a", version)
        .await
        .unwrap();
    site::create(&mut tx, &old, team.id, "a", group)
        .await
        .unwrap();
    tx.commit().await.unwrap();

    assert!(!retire_older(&mut conn, &both).await.unwrap());
    check_master_key(&mut conn, &old).await.unwrap();
    assert_eq!(reseal(&mut conn, &both, 10).await.unwrap(), 1);
    assert!(retire_older(&mut conn, &both).await.unwrap());
    check_master_key(&mut conn, &old).await.unwrap_err();
}
