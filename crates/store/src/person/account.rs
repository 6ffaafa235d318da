//! Accounts: one for each person, whatever teams the person is in.

use std::fmt;

use domain::{email::Email, id::UserId, name::Name};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Error;

/// The account of a person.
#[derive(Clone, PartialEq, Eq)]
pub struct Account {
    /// The account.
    pub user: UserId,
    /// The e-mail address, with which the person signs in.
    pub email: String,
    /// The person's name.
    pub name: String,
    /// The Argon2id hash of the password, as a PHC string.
    pub password_hash: String,
    /// Whether somebody knows a password for it. If not, the person signs in with the provider of single sign-on only.
    pub has_password: bool,
    /// Whether the person has a second factor.
    pub has_factor: bool,
}

impl fmt::Debug for Account {
    /// Without the hash of the password, which could be guessed from it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Account")
            .field("user", &self.user)
            .field("has_factor", &self.has_factor)
            .finish_non_exhaustive()
    }
}

/// The account with this address, if there is one.
pub async fn account(conn: &mut PgConnection, email: &Email) -> Result<Option<Account>, Error> {
    let account = sqlx::query_as!(
        Account,
        r#"
        select
            u.id as user, u.email, u.name, u.password_hash, u.has_password,
            exists (select from factors f where f.user_id = u.id and f.confirmed_at is not null) as "has_factor!"
        from users u
        where u.email = $1
        "#,
        email.as_str(),
    )
    .fetch_optional(conn)
    .await?;
    Ok(account)
}

/// An account that nobody else changes until the transaction ends. Sign-ins with an older password
/// wait for it.
pub async fn lock_account(conn: &mut PgConnection, user: UserId) -> Result<Account, Error> {
    sqlx::query_scalar!(
        "select id from users where id = $1 for no key update",
        user.as_uuid(),
    )
    .fetch_one(&mut *conn)
    .await?;
    // Read only now, so that it includes whatever the lock waited for.
    let account = sqlx::query_as!(
        Account,
        r#"
        select
            u.id as user, u.email, u.name, u.password_hash, u.has_password,
            exists (select from factors f where f.user_id = u.id and f.confirmed_at is not null) as "has_factor!"
        from users u
        where u.id = $1
        "#,
        user.as_uuid(),
    )
    .fetch_one(conn)
    .await?;
    Ok(account)
}

/// Creates an account. None: there is one with this address already.
pub async fn create_account(
    conn: &mut PgConnection,
    email: &Email,
    name: &Name,
    password_hash: &str,
) -> Result<Option<UserId>, Error> {
    let created = sqlx::query_scalar!(
        "
        insert into users (id, email, name, password_hash)
        values ($1, $2, $3, $4)
        on conflict on constraint users_email_key do nothing
        returning id
        ",
        Uuid::now_v7(),
        email.as_str(),
        name.as_str(),
        password_hash,
    )
    .fetch_optional(conn)
    .await?;
    Ok(created.map(UserId::from))
}

/// Creates an account without a password, whose hash is that of a text that nobody knows. None: there is one with this
/// address already.
pub async fn create_without_password(
    conn: &mut PgConnection,
    email: &Email,
    name: &Name,
    password_hash: &str,
) -> Result<Option<UserId>, Error> {
    let created = sqlx::query_scalar!(
        "
        insert into users (id, email, name, password_hash, has_password)
        values ($1, $2, $3, $4, false)
        on conflict on constraint users_email_key do nothing
        returning id
        ",
        Uuid::now_v7(),
        email.as_str(),
        name.as_str(),
        password_hash,
    )
    .fetch_optional(conn)
    .await?;
    Ok(created.map(UserId::from))
}

/// Gives an account another password.
pub async fn set_password(
    conn: &mut PgConnection,
    user: UserId,
    password_hash: &str,
) -> Result<(), Error> {
    sqlx::query!(
        "update users set password_hash = $2, has_password = true, password_changed_at = now() where id = $1",
        user.as_uuid(),
        password_hash,
    )
    .execute(conn)
    .await?;
    Ok(())
}
