//! The answers that the server gives in place of a handler, as problem documents.

use api_common::{Code, Refusal, problem};
use http_server::{ErrorResponse, ErrorResponses, Fault, RequestId};
use poem::{Error, Response, http::HeaderMap};

use crate::security_headers;

/// Problem documents for whatever the server answers itself.
#[derive(Clone, Copy, Debug)]
pub struct ProblemDocuments;

impl ErrorResponses for ProblemDocuments {
    fn fault(&self, fault: Fault, request: &RequestId) -> ErrorResponse {
        let refusal = match fault {
            Fault::Crowded => Refusal::new(
                Code::Overloaded,
                "Too many connections are open from this address.",
            ),
            Fault::HeadTooLarge(bytes) => {
                let detail = format!(
                    "The request's head is too large: it may have {bytes} bytes and 100 headers."
                );
                Refusal::new(Code::HeadTooLarge, detail)
            }
            Fault::Malformed => {
                Refusal::new(Code::InvalidRequest, "The request is not valid HTTP/1.1.")
            }
            Fault::Late => Refusal::overloaded(),
            Fault::Panicked => Refusal::internal(),
        };
        refusal.answer(request)
    }

    fn error(&self, error: Error, request: &RequestId) -> Response {
        problem::response(error, request)
    }

    fn protect(&self, headers: &mut HeaderMap) {
        security_headers::protect(headers);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http_server::{Middleware, Routes};
    use poem::{
        Endpoint, Request, Result,
        endpoint::{make, make_sync},
        error::InternalServerError,
        http::{StatusCode, Uri},
    };
    use tokio::time::timeout;

    use super::*;

    async fn body_of(router: impl Endpoint<Output = Response>) -> (StatusCode, serde_json::Value) {
        let middleware = Middleware {
            router,
            routes: Routes::new([]),
            deadline: Duration::from_millis(100),
            errors: ProblemDocuments,
        };
        let request = Request::builder()
            .uri(Uri::from_static("/?api_key=site_secret"))
            .finish();
        let response = timeout(Duration::from_secs(20), middleware.call(request))
            .await
            .expect("an answer in time")
            .expect("the middleware always answers");
        assert!(response.headers().contains_key("x-request-id"));
        let status = response.status();
        let body = response.into_body().into_vec().await.unwrap();
        (status, serde_json::from_slice(&body).unwrap())
    }

    #[tokio::test]
    async fn a_panic_is_an_internal_error_that_tells_nothing() {
        let (status, body) = body_of(make_sync(|_| -> Response { panic!("secret") })).await;
        assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(body["code"], "internal_error");
        assert!(!body.to_string().contains("secret"));
    }

    #[tokio::test]
    async fn an_inner_error_is_an_internal_error_that_tells_nothing() {
        let failing = make_sync(|_| -> Result<Response> {
            Err(InternalServerError(std::io::Error::other("secret")))
        });
        let (status, body) = body_of(failing).await;
        assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(body["code"], "internal_error");
        assert!(!body.to_string().contains("secret"));
    }

    #[tokio::test]
    async fn a_handler_that_never_ends_is_given_up_at_the_deadline() {
        let (status, body) = body_of(make(|_| std::future::pending::<Response>())).await;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(body["code"], "overloaded");
    }
}
