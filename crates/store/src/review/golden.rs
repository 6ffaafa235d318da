//! Items whose answer is known. Moderators get them among others, without knowing it.

use chrono::{DateTime, Utc};
use domain::{
    id::{ActorId, MediaId, SiteId, TeamId},
    media::Ruling,
    reach::Reach,
};
use sqlx::PgConnection;

use crate::{Error, page::Page};

/// An item whose answer is known.
#[derive(Clone, Copy, Debug)]
pub struct GoldenItem {
    /// The item.
    pub media: MediaId,
    /// Its site.
    pub site: SiteId,
    /// The answer.
    pub expected: Ruling,
    /// Who says so.
    pub added_by: ActorId,
    /// Since when.
    pub added_at: DateTime<Utc>,
}

/// Whether a machine sent an item to a person. Others would be conspicuous on the desk, because the
/// machine's verdict is shown there.
pub async fn was_in_review(conn: &mut PgConnection, media: MediaId) -> Result<bool, Error> {
    let was = sqlx::query_scalar!(
        r#"
        select coalesce(
            (
                select status = 'pending_review'
                from verdicts
                where media_id = $1 and moderation_type <> 'manual'
                order by number desc
                limit 1
            ),
            false
        ) as "was!"
        "#,
        media.as_uuid(),
    )
    .fetch_one(conn)
    .await?;
    Ok(was)
}

/// Says what the answer is for an item that exists.
pub async fn set(
    conn: &mut PgConnection,
    media: MediaId,
    expected: Ruling,
    by: ActorId,
) -> Result<(), Error> {
    sqlx::query!(
        "
        insert into golden_items (media_id, team_id, site_id, expected, added_by)
        select id, team_id, site_id, $2, $3 from media where id = $1
        on conflict (media_id) do update set expected = excluded.expected, added_by = excluded.added_by, added_at = now()
        ",
        media.as_uuid(),
        expected.as_str(),
        by.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Forgets the answer for an item, and ends the reviews that ask for it. False: none was known.
pub async fn unset(conn: &mut PgConnection, media: MediaId) -> Result<bool, Error> {
    let removed = sqlx::query!(
        "
        with ended as (
            delete from review_tasks where media_id = $1 and kind = 'golden'
        )
        delete from golden_items where media_id = $1
        ",
        media.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(removed.rows_affected() > 0)
}

/// The items that meet a condition.
macro_rules! select {
    ($conn:expr, $condition:literal, $($value:expr),+) => {
        sqlx::query!(
            "
        select media_id, site_id, expected, added_by, added_at
        from golden_items
        where "
                + $condition
                + "
        ",
            $($value),+
        )
        .fetch_all($conn)
        .await?
        .into_iter()
        .map(|row| {
            Ok(GoldenItem {
                media: row.media_id.into(),
                site: row.site_id.into(),
                expected: row.expected.parse()?,
                added_by: row.added_by.into(),
                added_at: row.added_at,
            })
        })
        .collect::<Result<Vec<_>, Error>>()
    };
}

/// What the answer for an item is; none if it is not known, or not within reach.
pub async fn of(
    conn: &mut PgConnection,
    reach: Reach,
    media: MediaId,
) -> Result<Option<GoldenItem>, Error> {
    let found = select!(
        conn,
        "media_id = $1 and ($2::uuid is null or team_id = $2)",
        media.as_uuid(),
        reach.team().map(TeamId::as_uuid)
    );
    Ok(found?.pop())
}

/// A team's items whose answer is known, in the order in which they were accepted.
pub async fn list(
    conn: &mut PgConnection,
    team: TeamId,
    page: Page,
) -> Result<Vec<GoldenItem>, Error> {
    select!(
        conn,
        "team_id = $1 and ($2::uuid is null or media_id > $2)
        order by media_id
        limit $3",
        team.as_uuid(),
        page.after,
        page.limit
    )
}
