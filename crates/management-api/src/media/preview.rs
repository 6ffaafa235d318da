//! The preview of an item's image, as a file to save.

use poem::{IntoResponse, Response, http::header};
use poem_openapi::{
    ApiResponse,
    registry::{MetaMediaType, MetaResponse, MetaResponses, MetaSchema, MetaSchemaRef, Registry},
};
use uuid::Uuid;

use super::image::{NO_STORE, NOSNIFF, protecting_headers};

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
