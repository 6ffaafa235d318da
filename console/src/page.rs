//! What pages have in common: how they are answered, and their frame.

mod flash;
mod frame;
mod navigation;
pub(crate) mod pager;

use askama::Template;
use poem::{
    Response,
    http::{HeaderValue, StatusCode, header},
};

pub(crate) use self::{frame::Frame, navigation::Area};

/// The content type of every page.
pub(crate) const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");

/// A page.
pub(crate) fn html(status: StatusCode, page: &impl Template) -> Response {
    match page.render() {
        Ok(html) => Response::builder()
            .status(status)
            .header(header::CONTENT_TYPE, HTML)
            .body(html),
        Err(error) => {
            tracing::error!(%error, "a template failed");
            StatusCode::INTERNAL_SERVER_ERROR.into()
        }
    }
}

/// A page that shows what was asked for.
pub(crate) fn shown(page: &impl Template) -> Response {
    html(StatusCode::OK, page)
}

/// Leads on after a change, so that loading the page again does not make it twice.
pub(crate) fn see_other(path: impl AsRef<str>) -> Response {
    Response::builder()
        .status(StatusCode::SEE_OTHER)
        .header(header::LOCATION, path.as_ref())
        .finish()
}
