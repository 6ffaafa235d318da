//! How an interface writes the answers that are given in place of a handler's.

use poem::{
    Error, Response,
    http::{HeaderMap, HeaderValue, StatusCode, header},
};

use crate::request_id::{HEADER, RequestId};

/// Why no handler answers a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Too many connections are open from the client's address.
    Crowded,
    /// The request's head is too large: it has more than this many bytes, or 100 headers.
    HeadTooLarge(usize),
    /// The request is not valid HTTP/1.1.
    Malformed,
    /// The handler did not end before the deadline.
    Late,
    /// The handler panicked.
    Panicked,
}

/// An answer that needs no handler.
#[derive(Debug)]
pub struct ErrorResponse {
    /// The status.
    pub status: StatusCode,
    /// The headers, without those of [`ErrorResponses::protect`].
    pub headers: HeaderMap,
    /// The body.
    pub body: Vec<u8>,
}

/// The error responses of an interface.
pub trait ErrorResponses: Send + Sync + 'static {
    /// The answer to a request that reaches no handler, or whose handler did not end well.
    fn fault(&self, fault: Fault, request: &RequestId) -> ErrorResponse;

    /// The answer to an error of a handler or of the router.
    fn error(&self, error: Error, request: &RequestId) -> Response;

    /// Adds the headers of every answer.
    fn protect(&self, headers: &mut HeaderMap);
}

impl ErrorResponse {
    pub(crate) fn into_response(self) -> Response {
        let mut response = Response::builder().status(self.status).body(self.body);
        response.headers_mut().extend(self.headers);
        response
    }
}

/// The answer to a fault as the bytes of a response that closes the connection.
pub(crate) fn raw(errors: &dyn ErrorResponses, fault: Fault) -> Vec<u8> {
    let request = RequestId::generate();
    let ErrorResponse {
        status,
        mut headers,
        body,
    } = errors.fault(fault, &request);
    errors.protect(&mut headers);
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(body.len()));
    headers.insert(HEADER, request.into_header());
    let mut answer = format!("HTTP/1.1 {status}\r\n").into_bytes();
    for (name, value) in &headers {
        answer.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
    }
    answer.extend_from_slice(b"\r\n");
    answer.extend(body);
    answer
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The name of the fault, and nothing else.
    pub(crate) struct Plain;

    impl ErrorResponses for Plain {
        fn fault(&self, fault: Fault, _: &RequestId) -> ErrorResponse {
            let status = match fault {
                Fault::Crowded | Fault::Late => StatusCode::SERVICE_UNAVAILABLE,
                Fault::HeadTooLarge(_) => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                Fault::Malformed => StatusCode::BAD_REQUEST,
                Fault::Panicked => StatusCode::INTERNAL_SERVER_ERROR,
            };
            ErrorResponse {
                status,
                headers: HeaderMap::new(),
                body: format!("{fault:?}").into_bytes(),
            }
        }

        fn error(&self, error: Error, _: &RequestId) -> Response {
            error.into_response()
        }

        fn protect(&self, headers: &mut HeaderMap) {
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        }
    }
}
