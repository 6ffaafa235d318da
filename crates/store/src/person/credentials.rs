//! The credentials that can sign in to an account beside its password and its second factor, and the end of all that.

use domain::{
    email::Email,
    id::{SessionId, UserId},
    sign_in_limits::{IDLE, LONGEST_SESSION},
};
use serde::Serialize;
use sqlx::PgConnection;

use super::{
    second_factor,
    session::{self, seconds},
    sso_identity::{self, Connected},
};
use crate::Error;

/// What else can sign in to an account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Others {
    /// Sessions, also those that wait for the second factor.
    pub sessions: i64,
    /// Identities at providers of single sign-on.
    pub identities: Vec<Connected>,
    /// Recovery codes that were not used.
    pub recovery_codes: i64,
    /// Links to a new password.
    pub links: i64,
}

impl Others {
    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.sessions == 0
            && self.identities.is_empty()
            && self.recovery_codes == 0
            && self.links == 0
    }
}

/// How much was ended, as the audit log has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ended {
    /// Sessions.
    #[serde(rename = "ended_sessions")]
    pub sessions: u64,
    /// Identities at providers of single sign-on.
    #[serde(rename = "ended_identities")]
    pub identities: u64,
    /// Recovery codes that were not used.
    #[serde(rename = "ended_recovery_codes")]
    pub recovery_codes: u64,
    /// Links to a new password, and links that the person has made.
    #[serde(rename = "ended_links")]
    pub links: u64,
}

impl Ended {
    /// Whether there was nothing to end.
    pub fn is_nothing(self) -> bool {
        self == Self::default()
    }
}

/// What can sign in to the account. `but`: beside this session, and the identity with which it began.
pub async fn others(
    conn: &mut PgConnection,
    user: UserId,
    but: Option<SessionId>,
) -> Result<Others, Error> {
    let identities = sso_identity::of_user(conn, user, but).await?;
    let row = sqlx::query!(
        r#"
        select
            (
                select count(*)
                from sessions
                where
                    user_id = $1 and id is distinct from $2
                    and used_at > now() - make_interval(secs => $3)
                    and created_at > now() - make_interval(secs => $4)
            ) as "sessions!",
            (select count(*) from recovery_codes where user_id = $1 and used_at is null) as "recovery_codes!",
            (
                select count(*)
                from links
                where user_id = $1 and used_at is null and cancelled_at is null and expires_at > now()
            ) as "links!"
        "#,
        user.as_uuid(),
        but.map(SessionId::as_uuid),
        seconds(IDLE),
        seconds(LONGEST_SESSION),
    )
    .fetch_one(conn)
    .await?;
    Ok(Others {
        sessions: row.sessions,
        identities,
        recovery_codes: row.recovery_codes,
        links: row.links,
    })
}

/// Ends what [`others`] shows. Run it in a transaction that has locked the account.
pub async fn end_others(
    conn: &mut PgConnection,
    user: UserId,
    but: Option<SessionId>,
) -> Result<Ended, Error> {
    // Sessions first: those of an identity would end together with it, uncounted.
    let sessions = session::end_all(conn, user, but).await?;
    let identities = sqlx::query!(
        "
        delete from identities i
        where i.user_id = $1 and not exists (select from sessions s where s.id = $2 and s.identity_id = i.id)
        ",
        user.as_uuid(),
        but.map(SessionId::as_uuid),
    )
    .execute(&mut *conn)
    .await?
    .rows_affected();
    let recovery_codes = second_factor::remove_recovery_codes(conn, user).await?;
    let links = sqlx::query!("delete from links where user_id = $1", user.as_uuid())
        .execute(conn)
        .await?
        .rows_affected();
    Ok(Ended {
        sessions,
        identities,
        recovery_codes,
        links,
    })
}

/// Ends everything that could sign in to the account without its password, and the links that the person has made in any
/// team. Run it in a transaction that has locked the account.
pub async fn end_all(conn: &mut PgConnection, user: UserId) -> Result<Ended, Error> {
    let ended = end_others(conn, user, None).await?;
    let made = sqlx::query!(
        "delete from links where created_by in (select id from memberships where user_id = $1)",
        user.as_uuid(),
    )
    .execute(conn)
    .await?
    .rows_affected();
    Ok(Ended {
        links: ended.links + made,
        ..ended
    })
}

/// Ends everything that could sign in to the account, its password and its second factor included. `nobody` is a hash of
/// something that nobody knows. Tells also whether there was a second factor.
pub async fn clear(
    conn: &mut PgConnection,
    user: UserId,
    nobody: &str,
) -> Result<(Ended, bool), Error> {
    let ended = end_all(conn, user).await?;
    let had_factor = second_factor::remove(conn, user).await?;
    sqlx::query!(
        "update users set password_hash = $2, has_password = false, password_changed_at = now() where id = $1",
        user.as_uuid(),
        nobody,
    )
    .execute(conn)
    .await?;
    Ok((ended, had_factor))
}

/// Takes its address from an account, which is called otherwise from now on.
pub async fn give_up_address(conn: &mut PgConnection, user: UserId) -> Result<Email, Error> {
    let email = Email::given_up(user);
    sqlx::query!(
        "update users set email = $2 where id = $1",
        user.as_uuid(),
        email.as_str(),
    )
    .execute(conn)
    .await?;
    Ok(email)
}

/// How many tokens that work the person has created, in all teams.
pub async fn tokens(conn: &mut PgConnection, user: UserId) -> Result<i64, Error> {
    let tokens = sqlx::query_scalar!(
        r#"
        select count(*) as "count!"
        from management_tokens
        where
            created_by in (select id from memberships where user_id = $1)
            and disabled_at is null and (expires_at is null or expires_at > now())
        "#,
        user.as_uuid(),
    )
    .fetch_one(conn)
    .await?;
    Ok(tokens)
}
