//! Files as answers. Strangers may have made what is in them, so a browser must not guess another type, cache them or show
//! them: it saves them.

use poem::{Body, Response, http::header};
use poem_openapi::registry::{
    MetaHeader, MetaMediaType, MetaResponse, MetaResponses, MetaSchema, MetaSchemaRef,
};

/// The answer with a file that is saved under this name.
pub(crate) fn saved_file(content_type: &str, name: &str, file: impl Into<Body>) -> Response {
    Response::builder()
        .content_type(content_type)
        .header(
            header::CONTENT_DISPOSITION,
            format!("attachment; filename=\"{name}\""),
        )
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
        .header(header::CACHE_CONTROL, "no-store")
        .body(file)
}

/// The answer as the document shows it.
pub(crate) fn described(
    description: &'static str,
    content_types: &[&'static str],
    schema: &MetaSchema,
) -> MetaResponses {
    let inline = |schema| MetaSchemaRef::Inline(Box::new(schema));
    let content = content_types.iter().map(|&content_type| MetaMediaType {
        content_type,
        schema: inline(schema.clone()),
    });
    let header = |(name, description): (&str, &str)| MetaHeader {
        name: name.to_owned(),
        description: Some(description.to_owned()),
        required: true,
        deprecated: false,
        schema: inline(MetaSchema::new("string")),
    };
    let headers = [
        ("Content-Disposition", "`attachment`, with a file name."),
        ("X-Content-Type-Options", "Always `nosniff`."),
        ("Cache-Control", "Always `no-store`."),
    ];
    MetaResponses {
        responses: vec![MetaResponse {
            description,
            status: Some(200),
            status_range: None,
            content: content.collect(),
            headers: headers.map(header).into(),
        }],
    }
}

/// The schema of a file that is no text.
pub(crate) fn binary() -> MetaSchema {
    MetaSchema::new_with_format("string", "binary")
}
