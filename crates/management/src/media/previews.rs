//! Previews of images.

use domain::{decision::ImageProblem, id::MediaId, media::ContentType, scope::Scope};
use store::{
    PgPool,
    media::{self, Image, Item, KnownImage},
};

use crate::{Caller, Management, NoImage, Noun, Refused, Session, boxed};

/// A small JPEG of an item's image, that we wrote: upright, its first frame, and no metadata.
///
/// # Errors
/// The caller may not do it; there is no such item within reach, or no image of it is stored; it cannot be decoded; too many
/// previews are being made.
#[boxed]
pub async fn preview(caller: &Caller, media: MediaId) -> Result<Vec<u8>, Refused> {
    let session = caller.read(Scope::MediaRead).await?;
    of_item(&caller.management, session, media).await
}

/// The preview of an item that the caller may see.
pub(crate) async fn of_item(
    management: &Management,
    mut session: Session,
    media: MediaId,
) -> Result<Vec<u8>, Refused> {
    let reach = session.reach();
    let Some(image) = media::image(session.conn(), reach, media).await? else {
        let standing = media::image_standing(session.conn(), reach, media).await?;
        let (content_type, known) = standing.ok_or(Refused::NotFound(Noun::Media))?;
        return Err(Refused::NoImage(why_none(content_type, known)));
    };
    // No connection is held while it waits for its turn.
    session.end();
    let file = || load(&management.pool, image);
    management.preview_pool.preview(reach.team(), file).await
}

/// Why an item has no preview, as far as it is known before one is made.
pub fn obstacle(management: &Management, item: &Item) -> Option<Refused> {
    obstacle_of(management, item.content_type, item.image)
}

/// The same for an item of this type, of whose image this is known.
pub(crate) fn obstacle_of(
    management: &Management,
    content_type: ContentType,
    image: Option<KnownImage>,
) -> Option<Refused> {
    match image.and_then(|known| known.bytes) {
        Some(_) => (!management.preview_pool.is_there()).then_some(Refused::PreviewsUnavailable),
        None => Some(Refused::NoImage(why_none(content_type, image))),
    }
}

/// The whole file.
async fn load(pool: &PgPool, image: Image) -> Result<Vec<u8>, Refused> {
    let mut file = Vec::new();
    while file.len() < image.bytes as usize {
        let from = u32::try_from(file.len()).unwrap_or(u32::MAX);
        let slice = media::image_slice(pool, image, from).await?;
        match slice {
            Some(slice) if !slice.is_empty() => file.extend(slice),
            Some(_) | None => return Err(Refused::NoImage(NoImage::Removed)),
        }
    }
    Ok(file)
}

fn why_none(content_type: ContentType, known: Option<KnownImage>) -> NoImage {
    match (content_type, known) {
        (ContentType::Text, _) => NoImage::Text,
        (ContentType::Image, None) => NoImage::NotYetFetched,
        (ContentType::Image, Some(known)) => match (known.format, known.problem) {
            (Some(_), _) => NoImage::Removed,
            (None, Some(ImageProblem::NotFetched)) => NoImage::NotFetched,
            (None, _) => NoImage::NeverKept,
        },
    }
}
