//! Replacing the master key: everything that an older key has sealed is sealed anew, a batch at a time, while the service
//! runs. Which key sealed a value stands in the value, so whoever goes on after an interruption finds what is left.

use serde_json::json;
use sqlx::{Connection as _, PgConnection};
use uuid::Uuid;

use super::{CHECK_OWNER, KEY_ID, MasterKey};
use crate::{
    Error,
    audit::{self, Actor, Entry},
    tenant::secret_owner,
};
use domain::{audit::Action, id::SiteId};

/// What is sealed with other keys than the current one: secrets of sites.
pub async fn left(conn: &mut PgConnection, key: &MasterKey) -> Result<u64, Error> {
    let left = sqlx::query_scalar!(
        r#"select count(*) as "left!" from sites where substr(webhook_secret, 1, 4) <> $1"#,
        &key.current.id.0[..],
    )
    .fetch_one(conn)
    .await?;
    Ok(left.cast_unsigned())
}

/// Seals up to `limit` secrets anew, in one transaction, and says how many they were; none: nothing is left.
///
/// # Errors
/// [`Error::Unreadable`], naming the site, for a secret that none of the keys opens.
pub async fn reseal(conn: &mut PgConnection, key: &MasterKey, limit: u32) -> Result<u64, Error> {
    let mut tx = conn.begin().await?;
    let rows = sqlx::query!(
        "
        select id, webhook_secret
        from sites
        where substr(webhook_secret, 1, 4) <> $1
        order by id
        limit $2
        for no key update
        ",
        &key.current.id.0[..],
        i64::from(limit),
    )
    .fetch_all(&mut *tx)
    .await?;
    let mut ids = Vec::with_capacity(rows.len());
    let mut sealed = Vec::with_capacity(rows.len());
    for row in rows {
        let site = SiteId::from(row.id);
        let owner = secret_owner(site);
        let secret = key.open(&owner, &row.webhook_secret).map_err(|error| {
            Error::Unreadable(format!("the webhook secret of site {site}: {error}"))
        })?;
        ids.push(row.id);
        sealed.push(key.seal(&owner, &secret));
    }
    store(&mut tx, &ids, &sealed).await?;
    tx.commit().await?;
    Ok(ids.len() as u64)
}

async fn store(conn: &mut PgConnection, ids: &[Uuid], sealed: &[Vec<u8>]) -> Result<(), Error> {
    sqlx::query!(
        "
        update sites s
        set webhook_secret = r.sealed
        from unnest($1::uuid [], $2::bytea []) as r (id, sealed)
        where s.id = r.id
        ",
        ids,
        sealed,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Retires the older keys, if nothing is sealed with them any more: from now on processes that have only those refuse to
/// start. Returns whether they are retired; the first time it is recorded in the audit log.
pub async fn retire_older(conn: &mut PgConnection, key: &MasterKey) -> Result<bool, Error> {
    let mut tx = conn.begin().await?;
    let sealed = sqlx::query_scalar!("select sealed from master_key_check for update")
        .fetch_one(&mut *tx)
        .await?;
    key.open(CHECK_OWNER, &sealed)?;
    if left(&mut tx, key).await? > 0 {
        return Ok(false);
    }
    if sealed[..KEY_ID] != key.current.id.0 {
        sqlx::query!(
            "update master_key_check set sealed = $1",
            key.seal(CHECK_OWNER, CHECK_OWNER.as_bytes()),
        )
        .execute(&mut *tx)
        .await?;
        record(&mut tx, &sealed[..KEY_ID], key).await?;
    }
    tx.commit().await?;
    Ok(true)
}

async fn record(conn: &mut PgConnection, from: &[u8], key: &MasterKey) -> Result<(), Error> {
    let entry = Entry {
        actor: Actor::CommandLine,
        action: Action::MasterKeyRotate,
        team: None,
        target: None,
        details: &json!({ "from": hex::encode(from), "to": key.id().to_string() }),
        request_id: None,
    };
    audit::record(conn, entry).await
}

#[cfg(test)]
mod tests {
    use sqlx::PgPool;

    use super::*;
    use crate::{
        plan,
        rule_group::{self, NewVersion},
        schema,
        seal::check_master_key,
        team, tenant,
    };

    /// Whoever adds a column with secrets in it makes [`super::reseal`] and [`super::left`] know it, too.
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
        let sealed = ["master_key_check.sealed", "sites.webhook_secret"];
        let others = [
            "delivery_attempts.response_body",
            "idempotency_keys.fingerprint",
            "management_tokens.hash",
            "media_images.bytes",
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
        // As by a process that still seals with the old key, after everything else was sealed anew.
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
        tenant::create_site(&mut tx, &old, team.id, "a", group)
            .await
            .unwrap();
        tx.commit().await.unwrap();

        assert!(!retire_older(&mut conn, &both).await.unwrap());
        check_master_key(&mut conn, &old).await.unwrap();
        assert_eq!(reseal(&mut conn, &both, 10).await.unwrap(), 1);
        assert!(retire_older(&mut conn, &both).await.unwrap());
        check_master_key(&mut conn, &old).await.unwrap_err();
    }
}
