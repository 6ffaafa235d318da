//! Which requests may change something: only those of our own pages.

use std::sync::Arc;

use poem::{
    Endpoint, IntoResponse as _, Request, Response, Result,
    http::{HeaderMap, HeaderName, HeaderValue, Method, header},
};

use crate::page::PageError;

/// A change that was not sent by a page of the console is refused before anything is read.
pub(crate) async fn guard<E: Endpoint>(next: Arc<E>, request: Request) -> Result<Response> {
    if is_safe(request.method()) || is_own(request.headers()) {
        Ok(next.call(request).await?.into_response())
    } else {
        Ok(PageError::Foreign.into_response())
    }
}

fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// Whether a page of ours sent it. Browsers say so by `Sec-Fetch-Site`. Older ones send only `Origin`, which must be the
/// host that was asked.
fn is_own(headers: &HeaderMap) -> bool {
    let text = |name: &HeaderName| headers.get(name).map(HeaderValue::as_bytes);
    match text(&HeaderName::from_static("sec-fetch-site")) {
        Some(site) => site == b"same-origin",
        None => match (text(&header::ORIGIN), text(&header::HOST)) {
            (Some(origin), Some(host)) => [&b"https://"[..], b"http://"]
                .iter()
                .any(|scheme| origin.strip_prefix(*scheme) == Some(host)),
            _ => false,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(pairs: &[(&'static str, &'static str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        is_own(&headers)
    }

    #[test]
    fn only_our_own_pages_change_anything() {
        assert!(own(&[("sec-fetch-site", "same-origin")]));
        assert!(own(&[
            ("origin", "https://desk.example"),
            ("host", "desk.example")
        ]));
        for foreign in [
            &[][..],
            &[("sec-fetch-site", "cross-site")],
            &[("sec-fetch-site", "same-site")],
            &[("sec-fetch-site", "none")],
            &[("origin", "https://evil.example"), ("host", "desk.example")],
            &[("origin", "null"), ("host", "desk.example")],
            &[("host", "desk.example")],
            &[
                ("sec-fetch-site", "cross-site"),
                ("origin", "https://desk.example"),
                ("host", "desk.example"),
            ],
        ] {
            assert!(!own(foreign), "{foreign:?}");
        }
    }
}
