//! Memberships as the provider of single sign-on grants them and takes them away.

use domain::{
    id::{MemberId, TeamId, UserId},
    role::Role,
};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Error;

/// A membership of a person, disabled ones included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// The membership.
    pub id: MemberId,
    /// The team; none for an operator.
    pub team: Option<TeamId>,
    /// The role.
    pub role: Role,
    /// Whether the provider granted it or took it away, rather than a person.
    pub by_provider: bool,
    /// Whether it is disabled.
    pub is_disabled: bool,
}

/// All memberships of a person. Nobody else changes them until the transaction ends.
pub async fn lock_all(conn: &mut PgConnection, user: UserId) -> Result<Vec<Held>, Error> {
    let rows = sqlx::query!(
        r#"
        select id, team_id, role, by_provider, disabled_at is not null as "is_disabled!"
        from memberships
        where user_id = $1
        order by id
        for no key update
        "#,
        user.as_uuid(),
    )
    .fetch_all(conn)
    .await?;
    let held = rows.into_iter().map(|row| {
        Ok(Held {
            id: row.id.into(),
            team: row.team_id.map(TeamId::from),
            role: row.role.parse()?,
            by_provider: row.by_provider,
            is_disabled: row.is_disabled,
        })
    });
    held.collect()
}

/// Grants a role, anew or another one. None: a person gave or took the membership meanwhile, which counts more, or
/// the team is closed.
pub async fn grant(
    conn: &mut PgConnection,
    user: UserId,
    team: Option<TeamId>,
    role: Role,
) -> Result<Option<MemberId>, Error> {
    let id = sqlx::query_scalar!(
        "
        insert into memberships as m (id, user_id, team_id, role, by_provider)
        select $1, $2, $3, $4, true
        where not exists (select from teams t where t.id = $3 and t.closed_at is not null)
        on conflict on constraint memberships_user_id_key
        do update set role = $4, site_ids = null, disabled_at = null
        where m.by_provider
        returning id
        ",
        Uuid::now_v7(),
        user.as_uuid(),
        team.map(TeamId::as_uuid),
        role.as_str(),
    )
    .fetch_optional(conn)
    .await?;
    Ok(id.map(MemberId::from))
}

/// Takes a membership away that the provider had granted.
pub async fn withdraw(conn: &mut PgConnection, member: MemberId) -> Result<(), Error> {
    sqlx::query!(
        "update memberships set disabled_at = now() where id = $1 and by_provider and disabled_at is null",
        member.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}
