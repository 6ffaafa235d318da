//! What all pages have: the request, the frame around them, what is wrong with a form, and how they are answered.

mod choice;
mod error;
mod flash;
mod form;
mod frame;
mod navigation;
pub(crate) mod pager;
mod problems;
mod request;
pub(crate) mod stale_form;
mod texts;

use askama::Template;
use poem::{
    Response,
    http::{HeaderValue, StatusCode, header},
};

pub(crate) use self::{
    choice::Choice,
    error::{Message, PageError},
    form::Form,
    frame::Frame,
    navigation::Area,
    problems::Problems,
    request::{PageRequest, RequestParts},
    texts::Texts,
};

pub(crate) type Answer = Result<Response, PageError>;

/// The content type of every page.
pub(crate) const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");

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

/// A picture, only for an `<img>` of our own pages. A browser that opens its address saves a file at most.
pub(crate) fn preview(of: impl std::fmt::Display, jpeg: Vec<u8>) -> Response {
    let name = format!("attachment; filename=\"{of}-preview.jpeg\"");
    Response::builder()
        .content_type("image/jpeg")
        .header(header::CONTENT_DISPOSITION, name)
        .body(jpeg)
}
