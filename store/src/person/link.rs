//! Links that are used once: invitations, and ways to a new password. Their secret is shown once and stored as its hash.

use chrono::{DateTime, Utc};
use domain::{
    actor::Actor,
    email::Email,
    id::{LinkId, SiteId, TeamId, UserId},
    key::{LinkSecret, SecretHash},
    reach::Reach,
    role::Role,
    sign_in::{INVITATION, RESET},
};
use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

use super::{session::seconds, uuids};
use crate::{Error, page::Page};

/// An invitation. The audit log shows it as the management interface does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Invitation {
    /// The invitation.
    pub id: LinkId,
    /// Into which team; none: as an operator.
    #[serde(rename = "team_id")]
    pub team: Option<TeamId>,
    /// Who is invited.
    pub email: String,
    /// As what.
    pub role: Role,
    /// On which sites a moderator is to decide; none: on all.
    #[serde(rename = "site_ids")]
    pub sites: Option<Vec<SiteId>>,
    /// When it was made.
    #[serde(serialize_with = "domain::event::iso8601")]
    pub created_at: DateTime<Utc>,
    /// Until when it can be accepted.
    #[serde(serialize_with = "domain::event::iso8601")]
    pub expires_at: DateTime<Utc>,
}

/// Who is to be invited.
#[derive(Clone, Copy, Debug)]
pub struct NewInvitation<'a> {
    /// Into which team; none: as an operator.
    pub team: Option<TeamId>,
    /// Who.
    pub email: &'a Email,
    /// As what.
    pub role: Role,
    /// On which sites a moderator is to decide; none: on all.
    pub sites: Option<&'a [SiteId]>,
    /// Who invites.
    pub by: Actor,
}

/// What a link that can be used is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To join.
    Invitation(Invitation),
    /// To set a new password.
    Reset(UserId),
}

/// A new link: its secret is shown once.
#[derive(Debug)]
pub struct Issued {
    /// The link.
    pub id: LinkId,
    /// What is in it.
    pub secret: LinkSecret,
    /// Until when it can be used.
    pub expires_at: DateTime<Utc>,
}

/// Invites somebody. An open invitation of the same address into the same team is withdrawn.
pub async fn invite(
    conn: &mut PgConnection,
    new: NewInvitation<'_>,
) -> Result<(Invitation, LinkSecret), Error> {
    withdraw(conn, new.team, new.email).await?;
    let sites = uuids(new.sites);
    let secret = LinkSecret::generate(std::iter::repeat_with(rand::random));
    let hash = secret.hash();
    let row = sqlx::query_as!(
        Row,
        r#"
        insert into links (id, kind, hash, team_id, email, role, site_ids, creator, created_by, expires_at)
        values ($1, 'invitation', $2, $3, $4, $5, $6, $7, $8, now() + make_interval(secs => $9))
        returning id, team_id, email as "email!", role as "role!", site_ids, created_at, expires_at
        "#,
        Uuid::now_v7(),
        hash.as_bytes(),
        new.team.map(TeamId::as_uuid),
        new.email.as_str(),
        new.role.as_str(),
        sites.as_deref(),
        new.by.kind(),
        new.by.as_uuid(),
        seconds(INVITATION),
    )
    .fetch_one(conn)
    .await?;
    Ok((row.try_into()?, secret))
}

async fn withdraw(
    conn: &mut PgConnection,
    team: Option<TeamId>,
    email: &Email,
) -> Result<(), Error> {
    sqlx::query!(
        "
        update links
        set cancelled_at = now()
        where
            kind = 'invitation' and team_id is not distinct from $1 and email = $2 and used_at is null
            and cancelled_at is null
        ",
        team.map(TeamId::as_uuid),
        email.as_str(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Makes a way to a new password. Earlier ones of the same person can be used no more.
pub async fn reset(conn: &mut PgConnection, user: UserId, by: Actor) -> Result<Issued, Error> {
    cancel_resets(conn, user).await?;
    let secret = LinkSecret::generate(std::iter::repeat_with(rand::random));
    let hash = secret.hash();
    let row = sqlx::query!(
        "
        insert into links (id, kind, hash, user_id, creator, created_by, expires_at)
        values ($1, 'reset', $2, $3, $4, $5, now() + make_interval(secs => $6))
        returning id, expires_at
        ",
        Uuid::now_v7(),
        hash.as_bytes(),
        user.as_uuid(),
        by.kind(),
        by.as_uuid(),
        seconds(RESET),
    )
    .fetch_one(conn)
    .await?;
    Ok(Issued {
        id: row.id.into(),
        secret,
        expires_at: row.expires_at,
    })
}

/// Withdraws the ways to a new password of somebody: it was changed, or the person may do more than when they were made.
pub async fn cancel_resets(conn: &mut PgConnection, user: UserId) -> Result<(), Error> {
    sqlx::query!(
        "update links set cancelled_at = now() where user_id = $1 and used_at is null and cancelled_at is null",
        user.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Withdraws the open links that somebody has made.
pub async fn cancel_made_by(conn: &mut PgConnection, actor: Actor) -> Result<(), Error> {
    sqlx::query!(
        "update links set cancelled_at = now() where created_by = $1 and used_at is null and cancelled_at is null",
        actor.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// What a link is for; none if it is unknown, used, withdrawn or too old.
pub async fn find(conn: &mut PgConnection, hash: SecretHash) -> Result<Option<Purpose>, Error> {
    let row = sqlx::query_as!(
        LinkRow,
        "
        select id, user_id, team_id, email, role, site_ids, created_at, expires_at
        from links
        where hash = $1 and used_at is null and cancelled_at is null and expires_at > now()
        ",
        hash.as_bytes(),
    )
    .fetch_optional(conn)
    .await?;
    row.map(Purpose::try_from).transpose()
}

/// Uses a link up and says what it is for; none as for [`find`]. Of two who use it at once, one has it.
pub async fn take(conn: &mut PgConnection, hash: SecretHash) -> Result<Option<Purpose>, Error> {
    let row = sqlx::query_as!(
        LinkRow,
        "
        update links
        set used_at = now()
        where hash = $1 and used_at is null and cancelled_at is null and expires_at > now()
        returning id, user_id, team_id, email, role, site_ids, created_at, expires_at
        ",
        hash.as_bytes(),
    )
    .fetch_optional(conn)
    .await?;
    row.map(Purpose::try_from).transpose()
}

/// Open invitations within reach, the oldest first.
pub async fn invitations(
    conn: &mut PgConnection,
    reach: Reach,
    page: Page,
) -> Result<Vec<Invitation>, Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select id, team_id, email as "email!", role as "role!", site_ids, created_at, expires_at
        from links
        where
            kind = 'invitation' and ($1::uuid is null or team_id = $1) and ($2::uuid is null or id > $2)
            and used_at is null and cancelled_at is null and expires_at > now()
        order by id
        limit $3
        "#,
        reach.team().map(TeamId::as_uuid),
        page.after,
        page.limit,
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter().map(Invitation::try_from).collect()
}

/// An open invitation; none if there is none within reach.
pub async fn invitation(
    conn: &mut PgConnection,
    reach: Reach,
    invitation: LinkId,
) -> Result<Option<Invitation>, Error> {
    let row = sqlx::query_as!(
        Row,
        r#"
        select id, team_id, email as "email!", role as "role!", site_ids, created_at, expires_at
        from links
        where
            id = $1 and kind = 'invitation' and ($2::uuid is null or team_id = $2)
            and used_at is null and cancelled_at is null and expires_at > now()
        "#,
        invitation.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(conn)
    .await?;
    row.map(Invitation::try_from).transpose()
}

/// Withdraws an open invitation; none if there is none within reach.
pub async fn cancel(
    conn: &mut PgConnection,
    reach: Reach,
    invitation: LinkId,
) -> Result<Option<Invitation>, Error> {
    let row = sqlx::query_as!(
        Row,
        r#"
        update links
        set cancelled_at = now()
        where
            id = $1 and kind = 'invitation' and ($2::uuid is null or team_id = $2)
            and used_at is null and cancelled_at is null and expires_at > now()
        returning id, team_id, email as "email!", role as "role!", site_ids, created_at, expires_at
        "#,
        invitation.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(conn)
    .await?;
    row.map(Invitation::try_from).transpose()
}

/// Whether somebody has an open invitation to be an owner of the team.
pub async fn invites_owner(conn: &mut PgConnection, team: TeamId) -> Result<bool, Error> {
    let invites = sqlx::query_scalar!(
        r#"
        select exists (
            select
            from links
            where
                kind = 'invitation' and team_id = $1 and role = 'owner' and used_at is null and cancelled_at is null
                and expires_at > now()
        ) as "invites!"
        "#,
        team.as_uuid(),
    )
    .fetch_one(conn)
    .await?;
    Ok(invites)
}

struct Row {
    id: Uuid,
    team_id: Option<Uuid>,
    email: String,
    role: String,
    site_ids: Option<Vec<Uuid>>,
    created_at: DateTime<Utc>,
    expires_at: DateTime<Utc>,
}

impl TryFrom<Row> for Invitation {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self, Error> {
        Ok(Self {
            id: row.id.into(),
            team: row.team_id.map(TeamId::from),
            email: row.email,
            role: row.role.parse()?,
            sites: row
                .site_ids
                .map(|sites| sites.into_iter().map(SiteId::from).collect()),
            created_at: row.created_at,
            expires_at: row.expires_at,
        })
    }
}

struct LinkRow {
    id: Uuid,
    user_id: Option<Uuid>,
    team_id: Option<Uuid>,
    email: Option<String>,
    role: Option<String>,
    site_ids: Option<Vec<Uuid>>,
    created_at: DateTime<Utc>,
    expires_at: DateTime<Utc>,
}

impl TryFrom<LinkRow> for Purpose {
    type Error = Error;

    fn try_from(link: LinkRow) -> Result<Self, Error> {
        match (link.user_id, link.email, link.role) {
            (Some(user), None, None) => Ok(Self::Reset(user.into())),
            (None, Some(email), Some(role)) => {
                let row = Row {
                    id: link.id,
                    team_id: link.team_id,
                    email,
                    role,
                    site_ids: link.site_ids,
                    created_at: link.created_at,
                    expires_at: link.expires_at,
                };
                Ok(Self::Invitation(row.try_into()?))
            }
            _ => Err(Error::Unreadable(format!(
                "the link {} is for nothing",
                link.id
            ))),
        }
    }
}
