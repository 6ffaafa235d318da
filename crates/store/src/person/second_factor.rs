//! Second factors and recovery codes.

use domain::{
    id::UserId,
    key::SecretHash,
    totp::{Step, TotpSecret},
};
use sqlx::PgConnection;

use crate::{Error, encryption::MasterKey};

/// The owner of a sealed secret, which the seal includes.
pub(crate) fn owner(user: UserId) -> String {
    format!("factor:{user}")
}

/// Stores a secret that becomes a factor with its first code. It does not replace a factor.
pub async fn prepare(
    conn: &mut PgConnection,
    key: &MasterKey,
    user: UserId,
    secret: &TotpSecret,
) -> Result<(), Error> {
    let sealed = key.seal(&owner(user), secret.expose());
    sqlx::query!(
        "
        insert into factors (user_id, secret)
        values ($1, $2)
        on conflict on constraint factors_pkey
        do update set secret = $2, created_at = now(), last_step = 0
        where factors.confirmed_at is null
        ",
        user.as_uuid(),
        sealed,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// The secret of a person's factor, or of one that is being set up; none if there is no such
/// factor.
pub async fn secret(
    conn: &mut PgConnection,
    key: &MasterKey,
    user: UserId,
    is_confirmed: bool,
) -> Result<Option<TotpSecret>, Error> {
    let sealed = sqlx::query_scalar!(
        "select secret from factors where user_id = $1 and (confirmed_at is not null) = $2",
        user.as_uuid(),
        is_confirmed,
    )
    .fetch_optional(conn)
    .await?;
    let Some(sealed) = sealed else {
        return Ok(None);
    };
    let opened = key.open(&owner(user), &sealed)?;
    Ok(Some(TotpSecret::from_bytes(opened)))
}

/// Accepts the code of a step once: neither this step nor an earlier one is accepted again. This
/// also completes a factor that is being set up. Tells whether the code was accepted.
pub async fn accept(conn: &mut PgConnection, user: UserId, step: Step) -> Result<bool, Error> {
    let accepted = sqlx::query!(
        "
        update factors
        set last_step = $2, confirmed_at = coalesce(confirmed_at, now())
        where user_id = $1 and last_step < $2
        ",
        user.as_uuid(),
        step.number(),
    )
    .execute(conn)
    .await?;
    Ok(accepted.rows_affected() > 0)
}

/// Removes a person's recovery codes. Tells how many of them were not used.
pub async fn remove_recovery_codes(conn: &mut PgConnection, user: UserId) -> Result<u64, Error> {
    let unused = sqlx::query_scalar!(
        r#"
        with removed as (delete from recovery_codes where user_id = $1 returning used_at)
        select count(*) filter (where used_at is null) as "unused!" from removed
        "#,
        user.as_uuid(),
    )
    .fetch_one(conn)
    .await?;
    Ok(unused.unsigned_abs())
}

/// Removes a person's factor and recovery codes, also a factor that is being set up. Tells whether there was a factor.
pub async fn remove(conn: &mut PgConnection, user: UserId) -> Result<bool, Error> {
    remove_recovery_codes(conn, user).await?;
    let removed = sqlx::query_scalar!(
        r#"
        with removed as (delete from factors where user_id = $1 returning confirmed_at)
        select exists (select from removed where confirmed_at is not null) as "had!"
        "#,
        user.as_uuid(),
    )
    .fetch_one(conn)
    .await?;
    Ok(removed)
}

/// Replaces all recovery codes of a person.
pub async fn set_recovery_codes(
    conn: &mut PgConnection,
    user: UserId,
    codes: &[SecretHash],
) -> Result<(), Error> {
    remove_recovery_codes(conn, user).await?;
    let hashes: Vec<Vec<u8>> = codes.iter().map(|code| code.as_bytes().to_vec()).collect();
    sqlx::query!(
        "insert into recovery_codes (user_id, hash) select $1, unnest($2::bytea [])",
        user.as_uuid(),
        &hashes,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Uses up a recovery code. Tells whether the person had it, unused.
pub async fn use_recovery_code(
    conn: &mut PgConnection,
    user: UserId,
    code: SecretHash,
) -> Result<bool, Error> {
    let done = sqlx::query!(
        "update recovery_codes set used_at = now() where user_id = $1 and hash = $2 and used_at is null",
        user.as_uuid(),
        code.as_bytes(),
    )
    .execute(conn)
    .await?;
    Ok(done.rows_affected() > 0)
}

/// How many unused recovery codes a person has.
pub async fn recovery_codes_left(conn: &mut PgConnection, user: UserId) -> Result<i64, Error> {
    let left = sqlx::query_scalar!(
        r#"select count(*) as "left!" from recovery_codes where user_id = $1 and used_at is null"#,
        user.as_uuid(),
    )
    .fetch_one(conn)
    .await?;
    Ok(left)
}
