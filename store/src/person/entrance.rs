//! Where somebody who has signed in can go.

use domain::{
    id::{TeamId, UserId},
    role::Role,
};
use sqlx::PgConnection;

use crate::Error;

/// An account, as its owner sees it.
#[derive(Clone, Debug)]
pub struct Mine {
    /// What the person is called.
    pub name: String,
    /// The address with which the person signs in.
    pub email: String,
    /// Whether the person has a password.
    pub has_password: bool,
    /// The teams that the person is in, the first joined first.
    pub entrances: Vec<Entrance>,
}

/// A team that somebody can enter, or the instance.
#[derive(Clone, Debug)]
pub struct Entrance {
    /// The team's id and name; none for an operator.
    pub team: Option<(TeamId, String)>,
    /// What the person may do there.
    pub role: Role,
}

/// Somebody's account, and where that person can go. Disabled memberships are left out. What the provider of single sign-on
/// granted is of use only to those who signed in with it.
pub async fn mine(conn: &mut PgConnection, user: UserId, by_provider: bool) -> Result<Mine, Error> {
    let account = sqlx::query!(
        "select email, name, has_password from users where id = $1",
        user.as_uuid(),
    )
    .fetch_one(&mut *conn)
    .await?;
    let rows = sqlx::query!(
        r#"
        select m.team_id, m.role, t.name as "team_name?"
        from memberships m
        left join teams t on t.id = m.team_id
        where m.user_id = $1 and m.disabled_at is null and ($2 or not m.by_provider)
        order by m.id
        "#,
        user.as_uuid(),
        by_provider,
    )
    .fetch_all(conn)
    .await?;
    let entrances = rows.into_iter().map(|row| {
        Ok(Entrance {
            team: row.team_id.map(TeamId::from).zip(row.team_name),
            role: row.role.parse()?,
        })
    });
    Ok(Mine {
        name: account.name,
        email: account.email,
        has_password: account.has_password,
        entrances: entrances.collect::<Result<_, Error>>()?,
    })
}
