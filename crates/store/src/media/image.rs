//! An item's image: what is known of it, and the file, read in slices: a slow reader of a large
//! file holds only one slice in memory.

use domain::{
    decision::ImageProblem,
    id::{MediaId, TeamId},
    image::ImageFormat,
    image_hash::{Pdq, Sha256Digest},
    media::ContentType,
    reach::Reach,
};
use sqlx::{PgConnection, PgPool};

use crate::Error;

/// Bytes of one slice.
pub const SLICE: u32 = 256 << 10;

/// What is known of an item's image.
#[derive(Clone, Copy, Debug)]
pub struct KnownImage {
    /// Its format, by its first bytes; none if there never was a file of a supported format.
    pub format: Option<ImageFormat>,
    /// Its size in bytes; none if the file is not stored, or no longer.
    pub bytes: Option<u32>,
    /// Width and height in pixels; none if it was not decoded.
    pub size: Option<(u32, u32)>,
    /// Of the file as it was submitted; none if it was not examined.
    pub sha256: Option<Sha256Digest>,
    /// Of the picture; none if there is too little to recognise in it.
    pub pdq: Option<Pdq>,
    /// How much there is to recognise in it, from 0 to 100.
    pub pdq_quality: Option<u8>,
    /// Why it could not be analysed; none if it could, or if it was not examined.
    pub problem: Option<ImageProblem>,
}

/// What is known of an item's image; none if nothing is known yet.
pub(crate) async fn known(
    conn: &mut PgConnection,
    media: MediaId,
) -> Result<Option<KnownImage>, Error> {
    let row = sqlx::query!(
        "
        select format, octet_length(bytes) as bytes, width, height, sha256, pdq, pdq_quality, problem
        from media_images
        where media_id = $1
        ",
        media.as_uuid(),
    )
    .fetch_optional(conn)
    .await?;
    row.map(|row| {
        let number = |number: Option<i32>| number.map(i32::unsigned_abs);
        Ok(KnownImage {
            format: row.format.map(|format| format.parse()).transpose()?,
            bytes: number(row.bytes),
            size: number(row.width).zip(number(row.height)),
            sha256: hash(row.sha256)?.map(Sha256Digest::from),
            pdq: hash(row.pdq)?.map(Pdq::from),
            pdq_quality: row.pdq_quality.and_then(|quality| quality.try_into().ok()),
            problem: row.problem.map(|problem| problem.parse()).transpose()?,
        })
    })
    .transpose()
}

fn hash(bytes: Option<Vec<u8>>) -> Result<Option<[u8; 32]>, Error> {
    let bytes = bytes.map(<[u8; 32]>::try_from).transpose();
    bytes.map_err(|_| Error::Unreadable("a hash of other than 32 bytes".into()))
}

/// An item's kind and what is known of its image; none if there is no such item within reach.
pub async fn image_standing(
    conn: &mut PgConnection,
    reach: Reach,
    media: MediaId,
) -> Result<Option<(ContentType, Option<KnownImage>)>, Error> {
    let content_type = sqlx::query_scalar!(
        "select content_type from media where id = $1 and ($2::uuid is null or team_id = $2)",
        media.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(&mut *conn)
    .await?;
    match content_type {
        Some(content_type) => Ok(Some((content_type.parse()?, known(conn, media).await?))),
        None => Ok(None),
    }
}

/// An image that is there.
#[derive(Clone, Copy, Debug)]
pub struct Image {
    /// The item.
    pub media: MediaId,
    /// Its format, by its first bytes.
    pub format: ImageFormat,
    /// Its size in bytes.
    pub bytes: u32,
}

/// An item's image; none if there is no such item within reach, or if its image is not stored, or
/// no longer.
pub async fn image(
    conn: &mut PgConnection,
    reach: Reach,
    media: MediaId,
) -> Result<Option<Image>, Error> {
    let row = sqlx::query!(
        r#"
        select i.format as "format!", octet_length(i.bytes) as "bytes!"
        from media m
        join media_images i on i.media_id = m.id and i.format is not null and i.bytes is not null
        where m.id = $1 and ($2::uuid is null or m.team_id = $2)
        "#,
        media.as_uuid(),
        reach.team().map(TeamId::as_uuid),
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

/// Up to [`SLICE`] bytes of an image, from this byte on; none if it was removed in the meantime.
pub async fn image_slice(pool: &PgPool, image: Image, from: u32) -> Result<Option<Vec<u8>>, Error> {
    // The bytes are stored out of line and uncompressed, so a slice reads nothing but itself.
    let slice = sqlx::query_scalar!(
        r#"
        select substring(bytes from $2 + 1 for $3) as "slice!"
        from media_images
        where media_id = $1 and bytes is not null
        "#,
        image.media.as_uuid(),
        i32::try_from(from).unwrap_or(i32::MAX - 1),
        i32::try_from(SLICE).unwrap_or(i32::MAX),
    )
    .fetch_optional(pool)
    .await?;
    Ok(slice)
}
