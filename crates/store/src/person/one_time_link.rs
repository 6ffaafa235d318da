//! Links that are used once: invitations, and links to a new password. Their secret is shown once
//! and stored as its hash.
//!
//! A link that was used or withdrawn is deleted, so a team that makes links all day stores no more
//! than those that are open. Older versions mark them as used or withdrawn instead.

use chrono::{DateTime, Utc};
use domain::{
    actor::Actor,
    email::Email,
    id::{LinkId, SiteId, TeamId, UserId},
    key::{LinkSecret, SecretHash},
    reach::Reach,
    role::Role,
    sign_in_limits::{INVITATION, RESET},
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
    /// The team. None: the person becomes an operator.
    #[serde(rename = "team_id")]
    pub team: Option<TeamId>,
    /// The invited e-mail address.
    pub email: String,
    /// The role that the person gets.
    pub role: Role,
    /// The sites on which a moderator will decide. None: all sites.
    #[serde(rename = "site_ids")]
    pub sites: Option<Vec<SiteId>>,
    /// When it was made.
    #[serde(serialize_with = "domain::event::iso8601")]
    pub created_at: DateTime<Utc>,
    /// Until when it can be accepted.
    #[serde(serialize_with = "domain::event::iso8601")]
    pub expires_at: DateTime<Utc>,
}

/// A person to invite.
#[derive(Clone, Copy, Debug)]
pub struct NewInvitation<'a> {
    /// The team. None: the person becomes an operator.
    pub team: Option<TeamId>,
    /// The person's e-mail address.
    pub email: &'a Email,
    /// The role that the person gets.
    pub role: Role,
    /// The sites on which a moderator will decide. None: all sites.
    pub sites: Option<&'a [SiteId]>,
    /// The inviting actor.
    pub by: Actor,
}

/// What a usable link is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To accept an invitation.
    Invitation(Invitation),
    /// To set a new password.
    Reset(UserId),
    /// To become the first operator.
    First(First),
}

/// A link for the first operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct First {
    /// The link.
    pub id: LinkId,
    /// The team of which the person becomes an owner, too.
    pub team: Option<TeamId>,
}

/// A new link: its secret is shown once.
#[derive(Debug)]
pub struct Issued {
    /// The link.
    pub id: LinkId,
    /// The secret in it.
    pub secret: LinkSecret,
    /// Until when it can be used.
    pub expires_at: DateTime<Utc>,
}

/// Invites a person. An open invitation of the same address into the same team is withdrawn.
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

/// Deletes the invitations of an address into a team, and the team's invitations that have expired.
async fn withdraw(
    conn: &mut PgConnection,
    team: Option<TeamId>,
    email: &Email,
) -> Result<(), Error> {
    sqlx::query!(
        "
        delete from links
        where kind = 'invitation' and team_id is not distinct from $1 and (email = $2 or expires_at <= now())
        ",
        team.map(TeamId::as_uuid),
        email.as_str(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Makes a link to a new password. Earlier ones of the same person stop working.
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

/// Withdraws a person's links to a new password: the password was changed, or the person may do
/// more than when they were made.
pub async fn cancel_resets(conn: &mut PgConnection, user: UserId) -> Result<(), Error> {
    sqlx::query!("delete from links where user_id = $1", user.as_uuid())
        .execute(conn)
        .await?;
    Ok(())
}

/// Withdraws the links that these actors have made.
pub async fn cancel_made_by(conn: &mut PgConnection, actors: &[Actor]) -> Result<(), Error> {
    let actors: Vec<Uuid> = actors.iter().filter_map(|actor| actor.as_uuid()).collect();
    sqlx::query!("delete from links where created_by = any($1)", &actors)
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

/// Uses up a link and says what it is for; none as for [`find`]. If two people use it at the same
/// time, one of them gets it.
pub async fn take(conn: &mut PgConnection, hash: SecretHash) -> Result<Option<Purpose>, Error> {
    let row = sqlx::query_as!(
        LinkRow,
        "
        delete from links
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
    open(conn, reach, None, page).await
}

/// An open invitation; none if there is none within reach.
pub async fn invitation(
    conn: &mut PgConnection,
    reach: Reach,
    invitation: LinkId,
) -> Result<Option<Invitation>, Error> {
    Ok(open(conn, reach, Some(invitation), Page::ONE).await?.pop())
}

async fn open(
    conn: &mut PgConnection,
    reach: Reach,
    only: Option<LinkId>,
    page: Page,
) -> Result<Vec<Invitation>, Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select id, team_id, email as "email!", role as "role!", site_ids, created_at, expires_at
        from links
        where
            kind = 'invitation' and ($1::uuid is null or team_id = $1) and ($2::uuid is null or id > $2)
            and ($4::uuid is null or id = $4)
            and used_at is null and cancelled_at is null and expires_at > now()
        order by id
        limit $3
        "#,
        reach.team().map(TeamId::as_uuid),
        page.after,
        page.limit,
        only.map(LinkId::as_uuid),
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter().map(Invitation::try_from).collect()
}

/// The role in the open invitation of an address into a team; none if there is no such invitation.
pub async fn invited_as(
    conn: &mut PgConnection,
    team: Option<TeamId>,
    email: &Email,
) -> Result<Option<Role>, Error> {
    let role = sqlx::query_scalar!(
        r#"
        select role as "role!"
        from links
        where
            kind = 'invitation' and team_id is not distinct from $1 and email = $2
            and used_at is null and cancelled_at is null and expires_at > now()
        "#,
        team.map(TeamId::as_uuid),
        email.as_str(),
    )
    .fetch_optional(conn)
    .await?;
    Ok(role.map(|role| role.parse()).transpose()?)
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
        delete from links
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

/// Whether there is an open invitation to be an owner of the team.
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
            (None, None, None) => Ok(Self::First(First {
                id: link.id.into(),
                team: link.team_id.map(TeamId::from),
            })),
            _ => Err(Error::Unreadable(format!(
                "the link {} has no purpose",
                link.id
            ))),
        }
    }
}
