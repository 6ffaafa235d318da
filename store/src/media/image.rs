//! An item's inline image, read in slices: a slow reader of a large image holds no more than a slice in memory.

use domain::{
    id::{MediaId, TeamId},
    image::ImageFormat,
};
use sqlx::{PgConnection, PgPool};

use crate::Error;

/// Bytes of one slice.
pub const SLICE: u32 = 256 << 10;

/// An inline image that is there.
#[derive(Clone, Copy, Debug)]
pub struct Image {
    /// The item.
    pub media: MediaId,
    /// What its first bytes say that it is.
    pub format: ImageFormat,
    /// How large it is, in bytes.
    pub bytes: u32,
}

/// An item's image; none if there is no such item, if it is not the team's, or if it has no inline image (any more).
pub async fn image(
    conn: &mut PgConnection,
    team: Option<TeamId>,
    media: MediaId,
) -> Result<Option<Image>, Error> {
    let row = sqlx::query!(
        r#"
        select i.format, octet_length(i.bytes) as "bytes!"
        from media m
        join media_images i on i.media_id = m.id
        where m.id = $1 and ($2::uuid is null or m.team_id = $2)
        "#,
        media.as_uuid(),
        team.map(TeamId::as_uuid),
    )
    .fetch_optional(conn)
    .await?;
    row.map(|row| {
        Ok(Image {
            media,
            format: row.format.parse()?,
            bytes: u32::try_from(row.bytes).unwrap_or(0),
        })
    })
    .transpose()
}

/// Up to [`SLICE`] bytes of an image, from this byte on; none if it was removed meanwhile.
pub async fn image_slice(pool: &PgPool, image: Image, from: u32) -> Result<Option<Vec<u8>>, Error> {
    // The bytes are stored out of line and uncompressed, so a slice reads nothing but itself.
    let slice = sqlx::query_scalar!(
        r#"select substring(bytes from $2 + 1 for $3) as "slice!" from media_images where media_id = $1"#,
        image.media.as_uuid(),
        i32::try_from(from).unwrap_or(i32::MAX - 1),
        i32::try_from(SLICE).unwrap_or(i32::MAX),
    )
    .fetch_optional(pool)
    .await?;
    Ok(slice)
}
