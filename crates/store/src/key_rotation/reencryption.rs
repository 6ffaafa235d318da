//! Encrypts the values of each kind again.

use domain::id::{EndpointId, SiteId, UserId};
use sqlx::PgConnection;

use crate::{
    Error,
    encryption::{MasterKey, OpenError},
    endpoint,
    person::second_factor,
    site,
};

pub(super) async fn sites(
    conn: &mut PgConnection,
    key: &MasterKey,
    limit: u32,
) -> Result<u64, Error> {
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

pub(super) async fn endpoints(
    conn: &mut PgConnection,
    key: &MasterKey,
    limit: u32,
) -> Result<u64, Error> {
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

pub(super) async fn factors(
    conn: &mut PgConnection,
    key: &MasterKey,
    limit: u32,
) -> Result<u64, Error> {
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
