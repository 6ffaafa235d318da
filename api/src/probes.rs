//! `/healthz` and `/readyz`, on every listener of every process.

use api_common::{Code, Json, Refusal};
use poem::{Endpoint, IntoResponse as _, Response, Route, endpoint::make_sync, get, http::Method};
use serde::Serialize;
use tokio::sync::watch;

/// Whether a process can do its work at the moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// The process can do its work.
    Ready,
    /// It cannot. The text says why, for operators.
    NotReady(String),
}

#[derive(Serialize)]
struct Probe {
    status: &'static str,
}

/// The paths that [`mount`] adds.
pub(crate) const PATHS: [&str; 2] = ["/healthz", "/readyz"];

/// Adds both probes to a router.
pub(crate) fn mount(routes: Route, ready: watch::Receiver<Readiness>) -> Route {
    let [healthz, readyz] = PATHS;
    routes
        .at(healthz, get(health()))
        .at(readyz, get(readiness(ready)))
}

/// The paths of [`mount`], for the table of routes.
pub(crate) fn paths() -> impl Iterator<Item = (String, Vec<Method>)> {
    PATHS
        .into_iter()
        .map(|path| (path.to_owned(), vec![Method::GET]))
}

/// Alive: it answers.
fn health() -> impl Endpoint<Output = Response> {
    make_sync(|_| Json(Probe { status: "ok" }).into_response())
}

fn readiness(ready: watch::Receiver<Readiness>) -> impl Endpoint<Output = Response> {
    make_sync(move |_| -> poem::Result<Response> {
        match &*ready.borrow() {
            Readiness::Ready => Ok(Json(Probe { status: "ready" }).into_response()),
            Readiness::NotReady(reason) => Err(Refusal::new(Code::NotReady, reason.clone()).into()),
        }
    })
}
