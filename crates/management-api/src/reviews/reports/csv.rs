//! The reports as a file to save.

use poem::{IntoResponse, Response, http::header};
use poem_openapi::{
    ApiResponse,
    registry::{MetaMediaType, MetaResponse, MetaResponses, MetaSchema, MetaSchemaRef, Registry},
};

use crate::media::{NO_STORE, NOSNIFF, protecting_headers};

/// The answer.
pub(crate) struct ReportFile(String);

impl ReportFile {
    pub(super) fn new(csv: String) -> Self {
        Self(csv)
    }
}

const CSV: &str = "text/csv";

impl IntoResponse for ReportFile {
    fn into_response(self) -> Response {
        Response::builder()
            .content_type("text/csv; charset=utf-8")
            .header(
                header::CONTENT_DISPOSITION,
                "attachment; filename=\"review-quality.csv\"",
            )
            .header(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF)
            .header(header::CACHE_CONTROL, NO_STORE)
            .body(self.0)
    }
}

impl ApiResponse for ReportFile {
    fn meta() -> MetaResponses {
        let content = MetaMediaType {
            content_type: CSV,
            schema: MetaSchemaRef::Inline(Box::new(MetaSchema::new("string"))),
        };
        MetaResponses {
            responses: vec![MetaResponse {
                description: "The figures, one a line, with the columns `report`, `id`, `name`, `part`, `threshold`, `figure` and `value`.",
                status: Some(200),
                status_range: None,
                content: vec![content],
                headers: protecting_headers(),
            }],
        }
    }

    fn register(_registry: &mut Registry) {}
}
