//! The answer to a request that ended with an error of a handler or of the router.

use http_server::RequestId;
use poem::{
    Response,
    error::{MethodNotAllowedError, NotFoundError},
};
use poem_openapi::error::ContentTypeError;
use tracing::error;

use super::{Code, Refusal};

/// The answer for an error of a handler or of the router.
pub fn response(error: poem::Error, request: &RequestId) -> Response {
    if error.is_from_response() {
        return error.into_response();
    }
    let error = match error.downcast::<Refusal>() {
        Ok(refusal) => return refusal.render(request),
        Err(error) => error,
    };
    let refusal = if error.is::<NotFoundError>() {
        Refusal::new(
            Code::NotFound,
            "There is nothing at this path. / leads to the descriptions of the interfaces.",
        )
    } else if error.is::<MethodNotAllowedError>() {
        Refusal::new(
            Code::MethodNotAllowed,
            "This path does not take this method; see Allow.",
        )
    } else if error.is::<ContentTypeError>() {
        Refusal::new(
            Code::UnsupportedMediaType,
            "The body must be sent as a media type that the operation takes, mostly application/json.",
        )
    } else if error.status().is_client_error() {
        Refusal::invalid_request("The request could not be understood.")
    } else {
        error!(request.id = request.as_str(), %error, "a request failed");
        Refusal::internal()
    };
    refusal.render(request)
}
