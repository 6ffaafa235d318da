//! URLs of providers: the base of an interface, to which paths are added.

use url::Url;

/// Endings of URLs that are not a base. Descriptions of providers often show these URLs.
const ENDPOINTS: [&str; 7] = [
    "/moderations",
    "/chat/completions",
    "/images:annotate",
    "/documents:moderateText",
    "/contentsafety/text:analyze",
    "/contentsafety/image:analyze",
    "/check.json",
];

/// The URL of a server, without a user, a password and a fragment.
///
/// # Errors
/// What is wrong with it, after "its url".
pub(super) fn plain(url: Url) -> Result<Url, String> {
    let plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    if matches!(url.scheme(), "http" | "https") && url.has_host() && plain {
        Ok(url)
    } else {
        Err("is not http or https, or has a user or a fragment".to_owned())
    }
}

/// The base of an interface, without the `/v1` at its end: most descriptions have it, and Gatehouse
/// adds it itself.
///
/// # Errors
/// What is wrong with it and what to write instead, after "its url".
pub(super) fn base(url: Url) -> Result<Url, String> {
    let mut url = plain(url)?;
    let path = url.path().trim_end_matches('/').to_owned();
    if let Some(endpoint) = ENDPOINTS.iter().find(|end| path.ends_with(**end)) {
        let start = path.strip_suffix(endpoint).unwrap_or_default();
        let start = start.strip_suffix("/v1").unwrap_or(start).to_owned();
        url.set_path(&start);
        url.set_query(None);
        let right = url.as_str().trim_end_matches('/');
        return Err(format!(
            "is the base, to which {endpoint} is added; write {right}"
        ));
    }
    if let Some(base) = path.strip_suffix("/v1") {
        url.set_path(base);
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_is_taken_with_and_without_its_version_and_an_endpoint_is_refused() {
        let base = |url: &str| base(url.parse().unwrap()).map(String::from);
        for (url, expected) in [
            ("https://api.openai.com", "https://api.openai.com/"),
            ("https://api.openai.com/v1", "https://api.openai.com/"),
            ("https://api.openai.com/v1/", "https://api.openai.com/"),
            ("http://h:8000/openai/v1", "http://h:8000/openai"),
            ("http://h:8000/v1beta", "http://h:8000/v1beta"),
        ] {
            assert_eq!(base(url).as_deref(), Ok(expected), "{url}");
        }
        for (url, right) in [
            (
                "https://api.openai.com/v1/moderations",
                "write https://api.openai.com",
            ),
            (
                "http://h:8000/openai/v1/chat/completions/?x=1",
                "write http://h:8000/openai",
            ),
        ] {
            let told = base(url).unwrap_err();
            assert!(told.ends_with(right), "{told}");
        }
        assert!(base("http://u:p@h/").is_err());
        assert!(base("http://h/#x").is_err());
    }
}
