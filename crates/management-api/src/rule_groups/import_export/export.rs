//! A rule group as a YAML file in an answer.

use management::rule_groups::files::ExportedGroup;
use poem::{IntoResponse, Response, http::header};
use poem_openapi::{
    ApiResponse,
    registry::{
        MetaHeader, MetaMediaType, MetaResponse, MetaResponses, MetaSchema, MetaSchemaRef, Registry,
    },
};

use super::body::YAML;

/// A rule group as a YAML file.
pub(crate) struct YamlFile(pub(super) ExportedGroup);

impl IntoResponse for YamlFile {
    fn into_response(self) -> Response {
        Response::builder()
            .content_type(YAML)
            .header(
                header::CONTENT_DISPOSITION,
                format!("attachment; filename=\"{}.yaml\"", self.0.name),
            )
            .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
            .body(self.0.yaml)
    }
}

impl ApiResponse for YamlFile {
    fn meta() -> MetaResponses {
        let header = |name: &str, description: &str| MetaHeader {
            name: name.to_owned(),
            description: Some(description.to_owned()),
            required: true,
            deprecated: false,
            schema: MetaSchemaRef::Inline(Box::new(MetaSchema::new("string"))),
        };
        MetaResponses {
            responses: vec![MetaResponse {
                description: "The rule group.",
                status: Some(200),
                status_range: None,
                content: vec![MetaMediaType {
                    content_type: YAML,
                    schema: MetaSchemaRef::Inline(Box::new(MetaSchema::new("string"))),
                }],
                headers: vec![
                    header("Content-Disposition", "`attachment`, with a file name."),
                    header("X-Content-Type-Options", "Always `nosniff`."),
                ],
            }],
        }
    }

    fn register(_registry: &mut Registry) {}
}
