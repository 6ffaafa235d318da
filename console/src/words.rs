//! The answers that are given in place of a page, as pages.

use front::{Answer, Fault, RequestId, Words};
use poem::{Error, IntoResponse as _, Response, http::HeaderMap};
use tracing::error;

use crate::{page, protection, trouble::Trouble};

/// Pages for whatever the front answers itself.
#[derive(Clone, Copy, Debug)]
pub struct Pages;

impl Words for Pages {
    fn fault(&self, fault: Fault, _: &RequestId) -> Answer {
        let (status, body) = Trouble::Fault(fault).render();
        let mut headers = HeaderMap::new();
        headers.insert(poem::http::header::CONTENT_TYPE, page::HTML);
        Answer {
            status,
            headers,
            body: body.into_bytes(),
        }
    }

    fn error(&self, error: Error, request: &RequestId) -> Response {
        error!(request.id = request.as_str(), %error, "a page of the console failed");
        Trouble::Fault(Fault::Panicked).into_response()
    }

    fn protect(&self, headers: &mut HeaderMap) {
        protection::protect(headers);
    }
}
