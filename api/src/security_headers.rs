//! Headers that protect answers: no cache stores them, no browser guesses their type, and the pages
//! with Swagger UI run only their own scripts, outside of frames.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use poem::http::{HeaderMap, HeaderName, HeaderValue, header};
use sha2::{Digest as _, Sha256};

/// Adds the headers of every answer. Most answers contain content, and some contain a key or have a
/// URL with a key. So no cache may store them.
pub(crate) fn protect(headers: &mut HeaderMap) {
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
}

/// The additional headers of a page with Swagger UI. Its scripts are known, so the policy has their
/// hashes. Its styles are not, because it sets some on elements. It can connect only to this
/// service, and show only images in the page itself.
pub(crate) fn of_page(html: &str) -> [(HeaderName, HeaderValue); 3] {
    let scripts: Vec<String> = scripts(html)
        .map(|script| {
            let hash = BASE64_STANDARD.encode(Sha256::digest(script));
            format!("'sha256-{hash}'")
        })
        .collect();
    let policy = format!(
        "default-src 'none'; script-src {}; style-src 'unsafe-inline'; img-src data: blob:; connect-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
        scripts.join(" ")
    );
    [
        (
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::try_from(policy).expect("base64 is visible ASCII"),
        ),
        (
            header::REFERRER_POLICY,
            HeaderValue::from_static("no-referrer"),
        ),
        // For browsers that do not support `frame-ancestors`.
        (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    ]
}

/// The texts of the scripts in a page.
fn scripts(html: &str) -> impl Iterator<Item = &str> {
    let mut rest = html;
    std::iter::from_fn(move || {
        let (_, opened) = rest.split_once("<script")?;
        let (_, text) = opened.split_once('>')?;
        let (script, after) = text.split_once("</script>")?;
        rest = after;
        Some(script)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_script_is_found_and_nothing_else() {
        let page = "<head><script charset=\"UTF-8\">one('<script>')</script></head><script>\n two\n</script>";
        assert_eq!(
            scripts(page).collect::<Vec<_>>(),
            ["one('<script>')", "\n two\n"]
        );
    }
}
