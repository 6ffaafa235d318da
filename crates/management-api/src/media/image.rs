//! An item's inline image as a file to save, sent slice by slice, as fast as the caller reads it; and its preview.

use std::io;

use bytes::Bytes;
use domain::image::ImageFormat;
use futures::{Stream, stream};
use management::media::StoredImage;
use poem::{Body, IntoResponse, Response, http::header};
use poem_openapi::{
    ApiResponse,
    registry::{
        MetaHeader, MetaMediaType, MetaResponse, MetaResponses, MetaSchema, MetaSchemaRef, Registry,
    },
};
use store::media::Image;
use tracing::warn;
use uuid::Uuid;

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
        Response::builder()
            .content_type(media_type(format))
            .header(header::CONTENT_LENGTH, bytes)
            .header(
                header::CONTENT_DISPOSITION,
                format!("attachment; filename=\"{media}.{format}\""),
            )
            // A browser must not guess another type, cache the image or show it.
            .header(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF)
            .header(header::CACHE_CONTROL, NO_STORE)
            .body(Body::from_bytes_stream(slices(self.0)))
    }
}

pub(crate) const NOSNIFF: &str = "nosniff";
pub(crate) const NO_STORE: &str = "no-store";

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
        let content = ImageFormat::ALL.iter().map(|format| MetaMediaType {
            content_type: media_type(*format),
            schema: MetaSchemaRef::Inline(Box::new(MetaSchema::new_with_format(
                "string", "binary",
            ))),
        });
        MetaResponses {
            responses: vec![MetaResponse {
                description: "The image, as what it is by its first bytes.",
                status: Some(200),
                status_range: None,
                content: content.collect(),
                headers: protecting_headers(),
            }],
        }
    }

    fn register(_registry: &mut Registry) {}
}

/// The headers of a stranger's image, as the document shows them.
pub(crate) fn protecting_headers() -> Vec<MetaHeader> {
    let header = |(name, description): (&str, &str)| MetaHeader {
        name: name.to_owned(),
        description: Some(description.to_owned()),
        required: true,
        deprecated: false,
        schema: MetaSchemaRef::Inline(Box::new(MetaSchema::new("string"))),
    };
    [
        ("Content-Disposition", "`attachment`, with a file name."),
        ("X-Content-Type-Options", "Always `nosniff`."),
        ("Cache-Control", "Always `no-store`."),
    ]
    .map(header)
    .into()
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
        Response::builder()
            .content_type(JPEG)
            .header(
                header::CONTENT_DISPOSITION,
                format!("attachment; filename=\"{}-preview.jpeg\"", self.of),
            )
            // A browser must not guess another type, and must not keep the picture.
            .header(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF)
            .header(header::CACHE_CONTROL, NO_STORE)
            .body(self.jpeg)
    }
}

impl ApiResponse for PreviewFile {
    fn meta() -> MetaResponses {
        let content = MetaMediaType {
            content_type: JPEG,
            schema: MetaSchemaRef::Inline(Box::new(MetaSchema::new_with_format(
                "string", "binary",
            ))),
        };
        MetaResponses {
            responses: vec![MetaResponse {
                description: "The preview, always a JPEG.",
                status: Some(200),
                status_range: None,
                content: vec![content],
                headers: protecting_headers(),
            }],
        }
    }

    fn register(_registry: &mut Registry) {}
}
