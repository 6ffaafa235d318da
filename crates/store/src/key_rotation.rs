//! Replacing the master key: every value that an older key has sealed is sealed again, a batch at a
//! time, while the service runs. Each value names its key, so the work can continue after an
//! interruption.

use domain::{
    audit::Action,
    id::{EndpointId, SiteId, UserId},
};
use serde_json::json;
use sqlx::{Connection as _, PgConnection};

use crate::{
    Error,
    audit::{self, Entry},
    encryption::{CHECK_OWNER, KEY_ID, MasterKey, OpenError},
    endpoint, erasure,
    person::second_factor,
    site,
};

/// How many values are sealed with other keys than the current one: secrets of sites, headers of
/// endpoints, second factors, the key that signs certificates.
pub async fn left(conn: &mut PgConnection, key: &MasterKey) -> Result<u64, Error> {
    let left = sqlx::query_scalar!(
        r#"
        select
            (
                select count(*)
                from sites
                where substr(webhook_secret, 1, 4) <> $1 or substr(next_webhook_secret, 1, 4) <> $1
            )
            + (select count(*) from webhook_endpoints where substr(headers, 1, 4) <> $1)
            + (select count(*) from factors where substr(secret, 1, 4) <> $1)
            + (select count(*) from signing_keys where substr(sealed, 1, 4) <> $1) as "left!"
        "#,
        key.mark(),
    )
    .fetch_one(conn)
    .await?;
    Ok(left.cast_unsigned())
}

/// Seals the values of up to `limit` rows again, in one transaction, and returns how many rows that
/// were. 0: nothing is left.
///
/// # Errors
/// [`Error::Unreadable`], naming the site or endpoint, for a secret that none of the keys opens.
pub async fn reseal(conn: &mut PgConnection, key: &MasterKey, limit: u32) -> Result<u64, Error> {
    let mut tx = conn.begin().await?;
    let mut resealed = sites(&mut tx, key, limit).await?;
    if resealed == 0 {
        resealed = endpoints(&mut tx, key, limit).await?;
    }
    if resealed == 0 {
        resealed = factors(&mut tx, key, limit).await?;
    }
    if resealed == 0 {
        resealed = erasure::key_anew(&mut tx, key).await?;
    }
    tx.commit().await?;
    Ok(resealed)
}

/// Retires the older keys if nothing is sealed with them any more. From then on, processes that
/// have only older keys refuse to start. Returns whether they are retired. The first time is
/// recorded in the audit log.
pub async fn retire_older(conn: &mut PgConnection, key: &MasterKey) -> Result<bool, Error> {
    let mut tx = conn.begin().await?;
    let sealed = sqlx::query_scalar!("select sealed from master_key_check for update")
        .fetch_one(&mut *tx)
        .await?;
    key.open(CHECK_OWNER, &sealed)?;
    if left(&mut tx, key).await? > 0 {
        return Ok(false);
    }
    if sealed[..KEY_ID] != *key.mark() {
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
        actor: domain::actor::Actor::CommandLine,
        action: Action::MasterKeyRotate,
        team: None,
        target: None,
        details: &json!({ "from": hex::encode(from), "to": key.id().to_string() }),
        request_id: None,
    };
    audit::record(conn, entry).await
}

async fn sites(conn: &mut PgConnection, key: &MasterKey, limit: u32) -> Result<u64, Error> {
    let rows = sqlx::query!(
        "
        select id, webhook_secret, next_webhook_secret
        from sites
        where substr(webhook_secret, 1, 4) <> $1 or substr(next_webhook_secret, 1, 4) <> $1
        order by id
        limit $2
        for no key update
        ",
        key.mark(),
        i64::from(limit),
    )
    .fetch_all(&mut *conn)
    .await?;
    let (mut ids, mut secrets, mut next) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows {
        let site = SiteId::from(row.id);
        let anew = |sealed: &[u8]| {
            anew(key, &site::webhook_secret::owner(site), sealed).map_err(|error| {
                Error::Unreadable(format!("the webhook secret of site {site}: {error}"))
            })
        };
        ids.push(row.id);
        secrets.push(anew(&row.webhook_secret)?);
        next.push(row.next_webhook_secret.as_deref().map(anew).transpose()?);
    }
    sqlx::query!(
        "
        update sites s
        set webhook_secret = r.secret, next_webhook_secret = r.next
        from unnest($1::uuid [], $2::bytea [], $3::bytea []) as r (id, secret, next)
        where s.id = r.id
        ",
        &ids,
        &secrets,
        &next as &[Option<Vec<u8>>],
    )
    .execute(conn)
    .await?;
    Ok(ids.len() as u64)
}

async fn endpoints(conn: &mut PgConnection, key: &MasterKey, limit: u32) -> Result<u64, Error> {
    let rows = sqlx::query!(
        r#"
        select id, headers as "headers!"
        from webhook_endpoints
        where substr(headers, 1, 4) <> $1
        order by id
        limit $2
        for no key update
        "#,
        key.mark(),
        i64::from(limit),
    )
    .fetch_all(&mut *conn)
    .await?;
    let (mut ids, mut headers) = (Vec::new(), Vec::new());
    for row in rows {
        let endpoint = EndpointId::from(row.id);
        let sealed =
            anew(key, &endpoint::headers_owner(endpoint), &row.headers).map_err(|error| {
                Error::Unreadable(format!("the headers of endpoint {endpoint}: {error}"))
            })?;
        ids.push(row.id);
        headers.push(sealed);
    }
    sqlx::query!(
        "
        update webhook_endpoints p
        set headers = r.headers
        from unnest($1::uuid [], $2::bytea []) as r (id, headers)
        where p.id = r.id
        ",
        &ids,
        &headers,
    )
    .execute(conn)
    .await?;
    Ok(ids.len() as u64)
}

async fn factors(conn: &mut PgConnection, key: &MasterKey, limit: u32) -> Result<u64, Error> {
    let rows = sqlx::query!(
        "
        select user_id, secret
        from factors
        where substr(secret, 1, 4) <> $1
        order by user_id
        limit $2
        for no key update
        ",
        key.mark(),
        i64::from(limit),
    )
    .fetch_all(&mut *conn)
    .await?;
    let (mut ids, mut secrets) = (Vec::new(), Vec::new());
    for row in rows {
        let user = UserId::from(row.user_id);
        let sealed = anew(key, &second_factor::owner(user), &row.secret).map_err(|error| {
            Error::Unreadable(format!("the second factor of user {user}: {error}"))
        })?;
        ids.push(row.user_id);
        secrets.push(sealed);
    }
    sqlx::query!(
        "
        update factors f
        set secret = r.secret
        from unnest($1::uuid [], $2::bytea []) as r (id, secret)
        where f.user_id = r.id
        ",
        &ids,
        &secrets,
    )
    .execute(conn)
    .await?;
    Ok(ids.len() as u64)
}

fn anew(key: &MasterKey, owner: &str, sealed: &[u8]) -> Result<Vec<u8>, OpenError> {
    Ok(key.seal(owner, &key.open(owner, sealed)?))
}

#[cfg(test)]
mod tests;
