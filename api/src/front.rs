//! What every request passes on its way in and out: its id, its deadline, its metrics and log line, and the rendering of
//! errors and panics as problem documents.
//!
//! The log has method, route, status and time, but never the query, headers, keys or content.

use std::{
    panic::AssertUnwindSafe,
    time::{Duration, Instant},
};

use futures::FutureExt as _;
use poem::{
    Endpoint, Request, Response, Result,
    http::{StatusCode, header},
};
use tokio::time::timeout;
use tracing::{debug, error, warn};

use crate::{
    access::{Route, Routes},
    problem::{self, Refusal},
    protection,
    request_id::{self, RequestId},
};

/// Wraps the router of a listener.
pub(crate) struct Front<E> {
    pub(crate) router: E,
    pub(crate) routes: Routes,
    /// How long a request may take, its body included.
    pub(crate) deadline: Duration,
}

/// Longer than a slow body and a short outage of the database together.
pub const DEADLINE: Duration = Duration::from_mins(1);

impl<E: Endpoint<Output = Response>> Endpoint for Front<E> {
    type Output = Response;

    /// Never fails: every error inside becomes an answer.
    async fn call(&self, mut request: Request) -> Result<Response> {
        let started = Instant::now();
        let id = RequestId::of(request.headers());
        let method = request.method().clone();
        let route = self.routes.find(request.uri().path());
        request.set_data(id.clone());

        let mut response = self.answer(request, &id, route).await;
        if response.status() == StatusCode::METHOD_NOT_ALLOWED {
            response.headers_mut().insert(header::ALLOW, route.allow());
        }

        let (status, took) = (response.status(), started.elapsed());
        route.record(&method, status, took);
        let (code, elapsed_ms) = (status.as_u16(), took.as_secs_f64() * 1_000.0);
        if status.is_server_error() {
            warn!(request.id = id.as_str(), %method, route = route.template(), code, elapsed_ms, "answered");
        } else {
            debug!(request.id = id.as_str(), %method, route = route.template(), code, elapsed_ms, "answered");
        }
        let headers = response.headers_mut();
        headers.insert(request_id::HEADER, id.into_header());
        protection::protect(headers);
        Ok(response)
    }
}

impl<E: Endpoint<Output = Response>> Front<E> {
    async fn answer(&self, request: Request, id: &RequestId, route: &Route) -> Response {
        let answering = AssertUnwindSafe(self.router.call(request)).catch_unwind();
        match timeout(self.deadline, answering).await {
            Ok(Ok(Ok(response))) => response,
            Ok(Ok(Err(error))) => problem::answer(error, id),
            Ok(Err(_)) => {
                error!(
                    request.id = id.as_str(),
                    route = route.template(),
                    "a handler panicked"
                );
                Refusal::internal().render(id)
            }
            Err(_) => Refusal::overloaded().render(id),
        }
    }
}

#[cfg(test)]
mod tests {
    use poem::{
        endpoint::{make, make_sync},
        error::InternalServerError,
        http::Uri,
    };

    use super::*;

    async fn body_of(router: impl Endpoint<Output = Response>) -> (StatusCode, serde_json::Value) {
        let front = Front {
            router,
            routes: Routes::new([]),
            deadline: Duration::from_millis(100),
        };
        let request = Request::builder()
            .uri(Uri::from_static("/?api_key=site_secret"))
            .finish();
        let response = timeout(Duration::from_secs(20), front.call(request))
            .await
            .expect("an answer in time")
            .expect("the front always answers");
        assert!(response.headers().contains_key(request_id::HEADER));
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
