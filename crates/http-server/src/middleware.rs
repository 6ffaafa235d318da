//! What every request passes on its way in and out: its id, its trace, its deadline, its metrics and log line, and the answers to errors
//! and panics.
//!
//! The log has method, route, status and time, but never the query, headers, keys or content.

use std::{
    panic::AssertUnwindSafe,
    time::{Duration, Instant},
};

use futures::FutureExt as _;
use poem::{
    Endpoint, Request, Response, Result,
    http::{HeaderMap, StatusCode, header},
};
use telemetry::{
    RepeatedFailure, failed, over,
    trace::{Context, Current},
};
use tokio::time::timeout;
use tracing::{debug, error, warn};

use crate::{
    error_responses::{ErrorResponses, Fault},
    request_id::{self, RequestId},
    routes::{Route, Routes},
};

/// Wraps the router of a listener.
pub struct Middleware<E, W> {
    /// The router.
    pub router: E,
    /// Its routes, for the metrics and the header `Allow`.
    pub routes: Routes,
    /// How long a request may take, its body included.
    pub deadline: Duration,
    /// How the interface writes what no handler answers.
    pub errors: W,
}

/// Answers that ask a client to try again later, of all listeners of the process. They come in
/// crowds: with an outage, or with too much load.
static UNAVAILABLE: RepeatedFailure = RepeatedFailure::at_once();

/// How much of its time a request waited because its client wanted that. An answer has it among its extensions. It does not count as
/// the request's duration, which says how fast the service is.
#[derive(Clone, Copy, Debug)]
pub struct Waited(pub Duration);

/// Where load balancers ask whether the process is ready. An answer with 503 is no failure.
const READINESS: &str = "/readyz";

const TRACE_HEADER: &str = "traceparent";

/// Longer than a slow body and a short outage of the database together.
pub const DEADLINE: Duration = Duration::from_mins(1);

impl<E: Endpoint<Output = Response>, W: ErrorResponses> Endpoint for Middleware<E, W> {
    type Output = Response;

    /// Never fails: every error inside becomes an answer.
    async fn call(&self, mut request: Request) -> Result<Response> {
        let started = Instant::now();
        let id = RequestId::of(request.headers());
        let method = request.method().clone();
        let route = self.routes.find(request.uri().path());
        request.set_data(id.clone());
        let trace = Current::of_request(callers_trace(request.headers()));

        let answering = self.answer(request, &id, route);
        let mut response = trace.clone().scope(answering).await;
        if response.status() == StatusCode::METHOD_NOT_ALLOWED {
            response.headers_mut().insert(header::ALLOW, route.allow());
        }

        let (status, took) = (response.status(), started.elapsed());
        let waited = response.extensions().get();
        let waited = waited.map_or(Duration::ZERO, |Waited(waited)| *waited);
        route.record(&method, status, took.saturating_sub(waited));
        let (code, elapsed_ms) = (status.as_u16(), took.as_secs_f64() * 1_000.0);
        trace.sync_scope(|| {
            // The process itself logs why it is not ready, each time that changes.
            let is_probe = route.template() == READINESS;
            if status == StatusCode::SERVICE_UNAVAILABLE && !is_probe {
                failed!(UNAVAILABLE.failed(), request.id = id.as_str(), %method, route = route.template(), code,
                    elapsed_ms, "answered");
                return;
            }
            if !is_probe {
                over!(UNAVAILABLE.worked(), "no request is answered with 503 any more");
            }
            if status.is_server_error() && !is_probe {
                warn!(request.id = id.as_str(), %method, route = route.template(), code, elapsed_ms, "answered");
            } else {
                debug!(request.id = id.as_str(), %method, route = route.template(), code, elapsed_ms, "answered");
            }
        });
        let headers = response.headers_mut();
        headers.insert(request_id::HEADER, id.into_header());
        self.errors.protect(headers);
        Ok(response)
    }
}

impl<E: Endpoint<Output = Response>, W: ErrorResponses> Middleware<E, W> {
    async fn answer(&self, request: Request, id: &RequestId, route: &Route) -> Response {
        let answering = AssertUnwindSafe(self.router.call(request)).catch_unwind();
        match timeout(self.deadline, answering).await {
            Ok(Ok(Ok(response))) => response,
            Ok(Ok(Err(error))) => self.errors.error(error, id),
            Ok(Err(_)) => {
                error!(
                    request.id = id.as_str(),
                    route = route.template(),
                    "a handler panicked"
                );
                self.errors.fault(Fault::Panicked, id).into_response()
            }
            Err(_) => self.errors.fault(Fault::Late, id).into_response(),
        }
    }
}

/// The trace that the caller names in the header `traceparent`. None if it names none, or if what it says is invalid.
fn callers_trace(headers: &HeaderMap) -> Option<Context> {
    let mut values = headers.get_all(TRACE_HEADER).iter();
    let value = values.next()?;
    // Two values are as invalid as none of them.
    if values.next().is_some() {
        return None;
    }
    Context::parse(value.as_bytes())
}

#[cfg(test)]
mod tests {
    use poem::http::HeaderValue;

    use super::*;

    const VALUE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn one_valid_value_counts_and_nothing_else() {
        let mut headers = HeaderMap::new();
        assert_eq!(callers_trace(&headers), None);
        headers.append(TRACE_HEADER, HeaderValue::from_static(VALUE));
        assert_eq!(callers_trace(&headers), Context::parse(VALUE.as_bytes()));
        assert!(callers_trace(&headers).is_some());
        headers.append(TRACE_HEADER, HeaderValue::from_static(VALUE));
        assert_eq!(callers_trace(&headers), None);
        headers.insert(TRACE_HEADER, HeaderValue::from_static("00-x"));
        assert_eq!(callers_trace(&headers), None);
    }
}
