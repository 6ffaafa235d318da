//! Where somebody who has signed in can go.

use domain::{
    id::TeamId,
    key::SecretHash,
    role::Role,
    sign_in::{IDLE, LONGEST_SESSION},
};
use sqlx::PgPool;

use super::session::seconds;
use crate::Error;

/// An account, as its owner sees it.
#[derive(Clone, Debug)]
pub struct Mine {
    /// What the person is called.
    pub name: String,
    /// The address with which the person signs in.
    pub email: String,
    /// Whether the person has a second factor.
    pub has_factor: bool,
    /// Whether it was given in this session.
    pub has_given_factor: bool,
    /// The teams that the person is in, the first joined first.
    pub entrances: Vec<Entrance>,
    /// Whether a team or a role of the person requires a second factor.
    pub needs_factor: bool,
    /// Whether [`touch`](super::session::touch) has something to note.
    pub is_untouched: bool,
}

/// A team that somebody can enter, or the instance.
#[derive(Clone, Debug)]
pub struct Entrance {
    /// The team's id and name; none for an operator.
    pub team: Option<(TeamId, String)>,
    /// What the person may do there.
    pub role: Role,
}

/// The account of a session's owner, and where that person can go. None: the session is unknown or
/// over. Disabled memberships are left out. It locks nothing, because every page begins with it.
pub async fn mine(pool: &PgPool, session: SecretHash) -> Result<Option<Mine>, Error> {
    let rows = sqlx::query!(
        r#"
        select
            u.name, u.email, f.confirmed_at is not null as "has_factor!", s.factor_at is not null as "has_given_factor!",
            s.used_at < now() - interval '1 minute' as "is_untouched!",
            m.role as "role?", m.team_id as "team_id?", t.name as "team_name?",
            coalesce(t.factor_required, false) as "team_requires_factor!"
        from sessions s
        join users u on u.id = s.user_id
        left join factors f on f.user_id = s.user_id
        left join memberships m on m.user_id = s.user_id and m.disabled_at is null
        left join teams t on t.id = m.team_id
        where
            s.hash = $1
            and s.used_at > now() - make_interval(secs => $2)
            and s.created_at > now() - make_interval(secs => $3)
        order by m.id
        "#,
        session.as_bytes(),
        seconds(IDLE),
        seconds(LONGEST_SESSION),
    )
    .fetch_all(pool)
    .await?;
    let Some(first) = rows.first() else {
        return Ok(None);
    };
    let mut mine = Mine {
        name: first.name.clone(),
        email: first.email.clone(),
        has_factor: first.has_factor,
        has_given_factor: first.has_given_factor,
        entrances: Vec::with_capacity(rows.len()),
        needs_factor: false,
        is_untouched: first.is_untouched,
    };
    for row in rows {
        // Somebody who is in no team has one row without a membership.
        let Some(role) = row.role else { continue };
        let role: Role = role.parse()?;
        mine.needs_factor |= role.requires_factor() || row.team_requires_factor;
        mine.entrances.push(Entrance {
            team: row.team_id.map(TeamId::from).zip(row.team_name),
            role,
        });
    }
    Ok(Some(mine))
}
