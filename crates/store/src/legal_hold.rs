//! Legal holds: while one is in force for a site, an item or an author, retention removes nothing of it.

use chrono::{DateTime, Utc};
use domain::{
    actor::Actor,
    author::Author,
    id::{ActorId, HoldId, MediaId, SiteId, TeamId},
    reach::Reach,
    reason::Reason,
};
use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{Error, page::Page};

/// A legal hold.
#[derive(Clone, Debug)]
pub struct Hold {
    /// The hold.
    pub id: HoldId,
    /// Its team.
    pub team: TeamId,
    /// Its site.
    pub site: SiteId,
    /// What of the site it keeps.
    pub what: What,
    /// The reason, as its creator wrote it.
    pub reason: Reason,
    /// Who created it. `None` for the command line.
    pub created_by: Option<ActorId>,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it was lifted. `None` while it is in force.
    pub lifted_at: Option<DateTime<Utc>>,
}

/// What a hold keeps of its site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// Everything.
    Site,
    /// One item.
    Media(MediaId),
    /// The items of an author.
    Author(Author),
}

impl What {
    /// The item, if it is one.
    pub fn media(&self) -> Option<MediaId> {
        match self {
            Self::Media(media) => Some(*media),
            Self::Site | Self::Author(_) => None,
        }
    }

    /// The author, if it is one.
    pub fn author(&self) -> Option<&Author> {
        match self {
            Self::Author(author) => Some(author),
            Self::Site | Self::Media(_) => None,
        }
    }
}

/// Which of these items are held. What the transaction removes of the others is removed before any hold that is created meanwhile
/// is in force: creating a hold waits for the transaction.
pub async fn held(conn: &mut PgConnection, items: &[Uuid]) -> Result<Vec<Uuid>, sqlx::Error> {
    sqlx::query!(
        "
        select s.id
        from sites s
        where s.id in (select m.site_id from media m where m.id = any($1))
        order by s.id
        for key share
        ",
        items,
    )
    .fetch_all(&mut *conn)
    .await?;
    // A statement of its own sees the holds that the lock has waited for.
    sqlx::query_scalar!(
        "select m.id from media m where m.id = any($1) and is_held(m.site_id, m.id, m.author)",
        items,
    )
    .fetch_all(conn)
    .await
}

/// The holds that meet a condition.
macro_rules! select {
    ($conn:expr, $condition:literal, $($value:expr),+) => {
        sqlx::query!(
            "
        select id, team_id, site_id, media_id, author, reason, created_by, created_at, lifted_at
        from legal_holds
        where"
                + $condition
                + "
        ",
            $($value),+
        )
        .fetch_all($conn)
        .await?
        .into_iter()
        .map(|row| {
            let unreadable = |what: &str| Error::Unreadable(format!("{what} of hold {}", row.id));
            let author = row.author.map(Author::try_from).transpose();
            let what = match (row.media_id, author.map_err(|_| unreadable("the author"))?) {
                (Some(media), _) => What::Media(media.into()),
                (None, Some(author)) => What::Author(author),
                (None, None) => What::Site,
            };
            Ok(Hold {
                id: row.id.into(),
                team: row.team_id.into(),
                site: row.site_id.into(),
                what,
                reason: Reason::try_from(row.reason).map_err(|_| unreadable("the reason"))?,
                created_by: row.created_by.map(ActorId::from),
                created_at: row.created_at,
                lifted_at: row.lifted_at,
            })
        })
        .collect::<Result<Vec<_>, Error>>()
    };
}

/// Holds within reach, the oldest first, of all sites or of one.
pub async fn list(
    conn: &mut PgConnection,
    reach: Reach,
    site: Option<SiteId>,
    page: Page,
) -> Result<Vec<Hold>, Error> {
    select!(
        conn,
        "
            ($1::uuid is null or team_id = $1) and ($2::uuid is null or site_id = $2) and ($3::uuid is null or id > $3)
        order by id
        limit $4",
        reach.team().map(TeamId::as_uuid),
        site.map(SiteId::as_uuid),
        page.after,
        page.limit
    )
}

/// A hold; none if there is none within reach.
pub async fn find(
    conn: &mut PgConnection,
    reach: Reach,
    hold: HoldId,
) -> Result<Option<Hold>, Error> {
    let found = select!(
        conn,
        " id = $1 and ($2::uuid is null or team_id = $2)",
        hold.as_uuid(),
        reach.team().map(TeamId::as_uuid)
    );
    Ok(found?.pop())
}

/// How many holds of a team are in force. Nobody else creates one until the transaction ends.
pub async fn count(conn: &mut PgConnection, team: TeamId) -> Result<i64, Error> {
    sqlx::query!(
        "select id from teams where id = $1 for no key update",
        team.as_uuid()
    )
    .fetch_optional(&mut *conn)
    .await?;
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from legal_holds where team_id = $1 and lifted_at is null"#,
        team.as_uuid(),
    )
    .fetch_one(conn)
    .await?;
    Ok(count)
}

/// Creates a hold of a site that exists. Waits until nobody removes items of the site: see [`held`].
pub async fn create(
    conn: &mut PgConnection,
    (team, site): (TeamId, SiteId),
    what: &What,
    reason: &Reason,
    by: Actor,
) -> Result<HoldId, Error> {
    sqlx::query!(
        "select id from sites where id = $1 for update",
        site.as_uuid()
    )
    .fetch_optional(&mut *conn)
    .await?;
    let id = HoldId::from(Uuid::now_v7());
    sqlx::query!(
        "
        insert into legal_holds (id, team_id, site_id, media_id, author, reason, created_by)
        values ($1, $2, $3, $4, $5, $6, $7)
        ",
        id.as_uuid(),
        team.as_uuid(),
        site.as_uuid(),
        what.media().map(MediaId::as_uuid),
        what.author().map(Author::as_str),
        reason.as_str(),
        by.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(id)
}

/// Lifts a hold. False: it was lifted before.
pub async fn lift(conn: &mut PgConnection, hold: HoldId) -> Result<bool, Error> {
    let lifted = sqlx::query!(
        "update legal_holds set lifted_at = now() where id = $1 and lifted_at is null",
        hold.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(lifted.rows_affected() > 0)
}

#[cfg(test)]
mod tests;
