//! The account of somebody who has signed in, and the teams that it can enter.

use domain::{
    id::TeamId,
    key::SecretHash,
    role::Role,
    sign_in_limits::{IDLE, LONGEST_SESSION},
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
    /// Whether the person has a password.
    pub has_password: bool,
    /// Whether the person is connected with the provider of single sign-on.
    pub is_connected: bool,
    /// How many recovery codes the person has that were not used.
    pub recovery_codes: i64,
    /// The second factor in this session.
    pub factor: Factor,
    /// The teams that the person is in, the first joined first.
    pub entrances: Vec<Entrance>,
    /// Whether [`touch`](super::session::touch) has something to note.
    pub is_untouched: bool,
}

/// The second factor of a person in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
    /// The person has none and needs none.
    None,
    /// The person has none, and a team or the role requires one.
    Missing,
    /// The person has one and has not given it.
    Asked,
    /// It was given.
    Given,
    /// The person has none here; the provider of single sign-on has checked several.
    Vouched,
}

impl Factor {
    /// Whether the person has one.
    pub const fn exists(self) -> bool {
        match self {
            Self::None | Self::Missing | Self::Vouched => false,
            Self::Asked | Self::Given => true,
        }
    }
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
/// over. Disabled memberships are left out. What the provider of single sign-on granted is of use
/// only to those who signed in with it; `issuer` is that provider. It locks nothing, because every
/// page begins with it.
pub async fn mine(
    pool: &PgPool,
    session: SecretHash,
    issuer: Option<&str>,
) -> Result<Option<Mine>, Error> {
    let rows = sqlx::query!(
        r#"
        select
            u.name, u.email, u.has_password,
            exists (select from identities i where i.user_id = u.id and i.issuer = $4) as "is_connected!",
            (select count(*) from recovery_codes r where r.user_id = u.id and r.used_at is null) as "recovery_codes!",
            f.confirmed_at is not null as "has_factor!", s.factor_at is not null as "has_given_factor!",
            s.used_at < now() - interval '1 minute' as "is_untouched!",
            m.role as "role?", m.team_id as "team_id?", t.name as "team_name?",
            coalesce(t.factor_required, false) as "team_requires_factor!"
        from sessions s
        join users u on u.id = s.user_id
        left join factors f on f.user_id = s.user_id
        left join memberships m
        on m.user_id = s.user_id and m.disabled_at is null and (s.by_provider or not m.by_provider)
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
        issuer,
    )
    .fetch_all(pool)
    .await?;
    let Some(first) = rows.first() else {
        return Ok(None);
    };
    let mut mine = Mine {
        name: first.name.clone(),
        email: first.email.clone(),
        has_password: first.has_password,
        is_connected: first.is_connected,
        recovery_codes: first.recovery_codes,
        factor: match (first.has_factor, first.has_given_factor) {
            (false, false) => Factor::None,
            (false, true) => Factor::Vouched,
            (true, false) => Factor::Asked,
            (true, true) => Factor::Given,
        },
        entrances: Vec::with_capacity(rows.len()),
        is_untouched: first.is_untouched,
    };
    for row in rows {
        // Somebody who is in no team has one row without a membership.
        let Some(role) = row.role else { continue };
        let role: Role = role.parse()?;
        if mine.factor == Factor::None && (role.requires_factor() || row.team_requires_factor) {
            mine.factor = Factor::Missing;
        }
        mine.entrances.push(Entrance {
            team: row.team_id.map(TeamId::from).zip(row.team_name),
            role,
        });
    }
    Ok(Some(mine))
}
