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
pub type Created<T> = New<T, 201>;

/// Something new that runs in the background from now on, with status 202.
pub type Accepted<T> = New<T, 202>;

/// Something new, with this status.
pub struct New<T, const STATUS: u16> {
    location: String,
    value: T,
}

impl<T, const STATUS: u16> New<T, STATUS> {
    /// Something new, and its path.
    pub fn at(location: String, value: impl Into<T>) -> Self {
        let value = value.into();
        Self { location, value }
    }
}

impl<T: Serialize + Send, const STATUS: u16> IntoResponse for New<T, STATUS> {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(STATUS).expect("201 or 202");
        Json(self.value)
            .with_header(header::LOCATION, self.location)
            .with_status(status)
            .into_response()
    }
}

impl<T: Type, const STATUS: u16> ApiResponse for New<T, STATUS> {
    fn meta() -> MetaResponses {
        let description = if STATUS == 201 {
            "Created."
        } else {
            "Accepted."
        };
        success(STATUS, description, json_content::<T>(), vec![location()])
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
