//! The payloads of successful answers: JSON, written by serde straight from the value.

use poem::{
    IntoResponse, Response,
    http::{StatusCode, header},
};
use poem_openapi::{
    ApiResponse,
    payload::Payload,
    registry::{
        MetaHeader, MetaMediaType, MetaResponse, MetaResponses, MetaSchema, MetaSchemaRef, Registry,
    },
    types::Type,
};
use serde::Serialize;

/// A JSON answer with status 200.
pub struct Json<T>(pub T);

impl<T: Type> Payload for Json<T> {
    const CONTENT_TYPE: &'static str = "application/json";

    fn schema_ref() -> MetaSchemaRef {
        T::schema_ref()
    }

    fn register(registry: &mut Registry) {
        T::register(registry);
    }
}

impl<T: Serialize + Send> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        let body =
            serde_json::to_vec(&self.0).expect("answers have string keys and finite numbers only");
        Response::builder()
            .content_type("application/json")
            .body(body)
    }
}

impl<T: Type> ApiResponse for Json<T> {
    fn meta() -> MetaResponses {
        success(200, "Success.", json_content::<T>(), Vec::new())
    }

    fn register(registry: &mut Registry) {
        T::register(registry);
    }
}

/// Something new, with status 201.
pub struct Created<T> {
    /// The path of the new thing.
    pub location: String,
    /// The thing.
    pub value: T,
}

impl<T: Serialize + Send> IntoResponse for Created<T> {
    fn into_response(self) -> Response {
        Json(self.value)
            .with_header(header::LOCATION, self.location)
            .with_status(StatusCode::CREATED)
            .into_response()
    }
}

impl<T: Type> ApiResponse for Created<T> {
    fn meta() -> MetaResponses {
        success(201, "Created.", json_content::<T>(), vec![location()])
    }

    fn register(registry: &mut Registry) {
        T::register(registry);
    }
}

/// Something new that runs in the background from now on, with status 202.
pub struct Accepted<T> {
    /// The path of the new thing.
    pub location: String,
    /// The thing.
    pub value: T,
}

impl<T: Serialize + Send> IntoResponse for Accepted<T> {
    fn into_response(self) -> Response {
        Json(self.value)
            .with_header(header::LOCATION, self.location)
            .with_status(StatusCode::ACCEPTED)
            .into_response()
    }
}

impl<T: Type> ApiResponse for Accepted<T> {
    fn meta() -> MetaResponses {
        success(202, "Accepted.", json_content::<T>(), vec![location()])
    }

    fn register(registry: &mut Registry) {
        T::register(registry);
    }
}

fn location() -> MetaHeader {
    MetaHeader {
        name: "Location".to_owned(),
        description: Some("The path of the new resource.".to_owned()),
        required: true,
        deprecated: false,
        schema: MetaSchemaRef::Inline(Box::new(MetaSchema::new("string"))),
    }
}

/// Success without content: status 204.
pub struct NoContent;

impl IntoResponse for NoContent {
    fn into_response(self) -> Response {
        StatusCode::NO_CONTENT.into_response()
    }
}

impl ApiResponse for NoContent {
    fn meta() -> MetaResponses {
        success(204, "Done.", Vec::new(), Vec::new())
    }

    fn register(_registry: &mut Registry) {}
}

fn success(
    status: u16,
    description: &'static str,
    content: Vec<MetaMediaType>,
    headers: Vec<MetaHeader>,
) -> MetaResponses {
    MetaResponses {
        responses: vec![MetaResponse {
            description,
            status: Some(status),
            status_range: None,
            content,
            headers,
        }],
    }
}

fn json_content<T: Type>() -> Vec<MetaMediaType> {
    vec![MetaMediaType {
        content_type: Json::<T>::CONTENT_TYPE,
        schema: T::schema_ref(),
    }]
}
