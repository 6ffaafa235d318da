//! Which items are next: those of the team's sites, one site after the other, in the order of ids.

use domain::{
    erasure::{MetadataValue, Subject},
    id::{MediaId, SiteId, TeamId},
};
use serde_json::value::RawValue;
use sqlx::{PgConnection, types::Json};
use uuid::Uuid;

use super::{Place, SLICE, Standing};
use crate::Error;

/// Where to look; none if all sites were looked at.
pub(super) async fn place(
    conn: &mut PgConnection,
    standing: &Standing,
) -> Result<Option<Place>, Error> {
    if let (Some(site), Some(after)) = (standing.walk_site, standing.walk_item) {
        return Ok(Some(Place {
            site: site.into(),
            after,
        }));
    }
    let next = sqlx::query_scalar!(
        "
        select id from sites
        where team_id = $1 and ($2::uuid is null or id = $2) and ($3::uuid is null or id > $3)
        order by id
        limit 1
        ",
        standing.team.as_uuid(),
        standing.site.map(SiteId::as_uuid),
        standing.walk_site,
    )
    .fetch_optional(conn)
    .await?;
    Ok(next.map(|site| Place {
        site: site.into(),
        after: Uuid::nil(),
    }))
}

/// What was found.
pub(super) struct Looked {
    /// The items that are meant, in the order of their ids.
    pub(super) items: Vec<Uuid>,
    /// Up to this item all were looked at; none: all of the site.
    pub(super) to: Option<Uuid>,
}

impl Looked {
    /// All that was looked at is meant.
    fn all(items: Vec<Uuid>) -> Self {
        let to = last_of_slice(&items);
        Self { items, to }
    }
}

fn last_of_slice(items: &[Uuid]) -> Option<Uuid> {
    let is_full = i64::try_from(items.len()).unwrap_or(i64::MAX) >= SLICE;
    items.last().copied().filter(|_| is_full)
}

pub(super) async fn items(
    conn: &mut PgConnection,
    standing: &Standing,
    place: Place,
) -> Result<Looked, Error> {
    let (site, after, before) = (place.site.as_uuid(), place.after, standing.before());
    let team = standing.team;
    match &standing.subject {
        Subject::MediaIds(ids) => named(conn, team, place, ids).await,
        Subject::AppMediaIds(ids) => {
            let found = sqlx::query_scalar!(
                "
                select id
                from media
                where
                    site_id = $1 and team_id = $6 and app_media_id is not null
                    and hashtextextended(app_media_id, 0) = any(
                        array(select hashtextextended(named, 0) from unnest($2::text []) named)
                    )
                    and app_media_id = any($2) and id > $3 and id < $4 and erased_at is null
                order by id
                limit $5
                ",
                site,
                ids,
                after,
                before,
                SLICE,
                team.as_uuid(),
            )
            .fetch_all(conn)
            .await?;
            Ok(Looked::all(found))
        }
        Subject::Author(author) => {
            let found = sqlx::query_scalar!(
                "
                select id
                from media
                where
                    site_id = $1 and team_id = $6 and author is not null
                    and hashtextextended(author, 0) = hashtextextended($2, 0) and author = $2
                    and id > $3 and id < $4 and erased_at is null
                order by id
                limit $5
                ",
                site,
                author.as_str(),
                after,
                before,
                SLICE,
                team.as_uuid(),
            )
            .fetch_all(conn)
            .await?;
            Ok(Looked::all(found))
        }
        Subject::Metadata(value) => with_metadata(conn, team, place, before, value).await,
        Subject::Everything {} => {
            let found = sqlx::query_scalar!(
                "
                select id
                from media
                where site_id = $1 and team_id = $5 and id > $2 and id < $3 and erased_at is null
                order by id
                limit $4
                ",
                site,
                after,
                before,
                SLICE,
                team.as_uuid(),
            )
            .fetch_all(conn)
            .await?;
            Ok(Looked::all(found))
        }
    }
}

/// Those of the named items that are the site's.
async fn named(
    conn: &mut PgConnection,
    team: TeamId,
    place: Place,
    ids: &[MediaId],
) -> Result<Looked, Error> {
    let ids: Vec<Uuid> = ids.iter().map(|id| id.as_uuid()).collect();
    let found = sqlx::query_scalar!(
        "
        select id
        from media
        where id = any($1) and site_id = $2 and team_id = $5 and id > $3 and erased_at is null
        order by id
        limit $4
        ",
        &ids,
        place.site.as_uuid(),
        place.after,
        SLICE,
        team.as_uuid(),
    )
    .fetch_all(conn)
    .await?;
    Ok(Looked::all(found))
}

/// Looks at the metadata of all items: there is no index of it.
async fn with_metadata(
    conn: &mut PgConnection,
    team: TeamId,
    place: Place,
    before: Uuid,
    value: &MetadataValue,
) -> Result<Looked, Error> {
    let rows = sqlx::query!(
        r#"
        select id, metadata as "metadata: Json<Box<RawValue>>"
        from media
        where site_id = $1 and team_id = $5 and id > $2 and id < $3
        order by id
        limit $4
        "#,
        place.site.as_uuid(),
        place.after,
        before,
        SLICE,
        team.as_uuid(),
    )
    .fetch_all(conn)
    .await?;
    let all: Vec<Uuid> = rows.iter().map(|row| row.id).collect();
    let meant = rows.into_iter().filter(|row| {
        let metadata = row.metadata.as_ref();
        metadata.is_some_and(|metadata| value.is_in(&metadata.0))
    });
    Ok(Looked {
        items: meant.map(|row| row.id).collect(),
        to: last_of_slice(&all),
    })
}
