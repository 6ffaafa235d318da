//! An item's inline image as a file to save, sent slice by slice, as fast as the caller reads it; and its preview.

use std::io;

use bytes::Bytes;
use domain::image::ImageFormat;
use futures::{Stream, stream};
use management::media::StoredImage;
use poem::{Body, IntoResponse, Response, http::header};
use poem_openapi::{
    ApiResponse,
    registry::{MetaResponses, Registry},
};
use store::media::Image;
use tracing::warn;
use uuid::Uuid;

use crate::saved_file::{binary, described, saved_file};

/// The answer.
pub(crate) struct ImageFile(StoredImage);

impl ImageFile {
    pub(super) fn new(image: StoredImage) -> Self {
        Self(image)
    }
}

impl IntoResponse for ImageFile {
    fn into_response(self) -> Response {
        let Image {
            media,
            format,
            bytes,
        } = self.0.image;
        let name = format!("{media}.{format}");
        let slices = Body::from_bytes_stream(slices(self.0));
        let mut response = saved_file(media_type(format), &name, slices);
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_LENGTH, bytes.into());
        response
    }
}

/// The slices of the image, in order. If something fails, or the image is removed meanwhile, the
/// stream ends early and the connection breaks. So nobody mistakes a part for the whole.
fn slices(image: StoredImage) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    stream::try_unfold((image, 0), move |(stored, from)| async move {
        let Image { media, bytes, .. } = stored.image;
        if from >= bytes {
            return Ok(None);
        }
        let slice = stored.slice(from).await.map_err(|error| {
            warn!(%error, media.id = %media, "an image could not be read to its end");
            io::Error::other("the image could not be read")
        })?;
        let slice = slice.filter(|slice| !slice.is_empty());
        let slice = slice.ok_or_else(|| io::Error::other("the image was removed"))?;
        let next = from.saturating_add(u32::try_from(slice.len()).unwrap_or(u32::MAX));
        Ok(Some((Bytes::from(slice), (stored, next))))
    })
}

const fn media_type(format: ImageFormat) -> &'static str {
    match format {
        ImageFormat::Jpeg => "image/jpeg",
        ImageFormat::Png => "image/png",
        ImageFormat::Gif => "image/gif",
        ImageFormat::Webp => "image/webp",
    }
}

impl ApiResponse for ImageFile {
    fn meta() -> MetaResponses {
        let description = "The image, as what it is by its first bytes.";
        let types: Vec<_> = ImageFormat::ALL.iter().copied().map(media_type).collect();
        described(description, &types, &binary())
    }

    fn register(_registry: &mut Registry) {}
}

/// The answer.
pub(crate) struct PreviewFile {
    /// Names the file.
    of: Uuid,
    jpeg: Vec<u8>,
}

impl PreviewFile {
    pub(crate) fn new(of: Uuid, jpeg: Vec<u8>) -> Self {
        Self { of, jpeg }
    }
}

const JPEG: &str = "image/jpeg";

impl IntoResponse for PreviewFile {
    fn into_response(self) -> Response {
        saved_file(JPEG, &format!("{}-preview.jpeg", self.of), self.jpeg)
    }
}

impl ApiResponse for PreviewFile {
    fn meta() -> MetaResponses {
        described("The preview, always a JPEG.", &[JPEG], &binary())
    }

    fn register(_registry: &mut Registry) {}
}
