//! The answers that the server gives in place of a page.

use http_server::{ErrorResponse, ErrorResponses, Fault, RequestId};
use poem::{
    Error, IntoResponse as _, Response,
    http::{HeaderMap, HeaderValue, header},
};
use tracing::error;
use url::Url;

use crate::{
    page::{HTML, PageError},
    security_headers,
};

/// How long browsers remember it.
const YEAR: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// Pages for whatever the server answers itself.
#[derive(Clone, Copy, Debug)]
pub struct ErrorPages {
    is_https: bool,
}

impl ErrorPages {
    /// Pages of a console that people open at this address. If it begins with `https`, browsers use only HTTPS from then on.
    pub fn at(public_url: Option<&Url>) -> Self {
        Self {
            is_https: public_url.is_some_and(|url| url.scheme() == "https"),
        }
    }
}

impl ErrorResponses for ErrorPages {
    fn fault(&self, fault: Fault, _: &RequestId) -> ErrorResponse {
        let (status, body) = PageError::Fault(fault).render();
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HTML);
        ErrorResponse {
            status,
            headers,
            body: body.into_bytes(),
        }
    }

    fn error(&self, error: Error, request: &RequestId) -> Response {
        error!(request.id = request.as_str(), %error, "a page of the console failed");
        PageError::Fault(Fault::Panicked).into_response()
    }

    fn protect(&self, headers: &mut HeaderMap) {
        security_headers::protect(headers);
        if self.is_https {
            headers.insert(header::STRICT_TRANSPORT_SECURITY, YEAR);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_remember_https_if_people_open_the_console_by_it() {
        for (url, remembered) in [
            (Some("https://console.example.com"), true),
            (Some("http://127.0.0.1:8081"), false),
            (None, false),
        ] {
            let url = url.map(|url| url.parse().unwrap());
            let mut headers = HeaderMap::new();
            ErrorPages::at(url.as_ref()).protect(&mut headers);
            let found = headers.contains_key(header::STRICT_TRANSPORT_SECURITY);
            assert_eq!(found, remembered, "{url:?}");
        }
    }
}
