//! The cookie that holds a session's secret.
//!
//! Browsers accept a cookie named `__Host-` only with `Secure`, with `Path=/` and without a domain. So no other host and no
//! plain connection can plant one.

use domain::key::{SecretHash, SessionSecret};
use poem::http::{HeaderMap, HeaderValue, header};

const NAME: &str = "__Host-gatehouse";

/// The session of a request. Cookies that cannot be one are none. If there are several, the first counts.
pub(crate) fn session(headers: &HeaderMap) -> Option<SecretHash> {
    let lines = headers.get_all(header::COOKIE).into_iter();
    lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(name, _)| *name == NAME)
        .and_then(|(_, value)| value.parse::<SessionSecret>().ok())
        .map(|secret| secret.hash())
}

/// Has the browser hold this session until it is closed.
pub(crate) fn hold(secret: &SessionSecret) -> HeaderValue {
    with(secret.expose(), "")
}

/// Has the browser forget the session.
pub(crate) fn forget() -> HeaderValue {
    with("", "; Max-Age=0")
}

fn with(value: &str, more: &str) -> HeaderValue {
    let cookie = format!("{NAME}={value}; Path=/; Secure; HttpOnly; SameSite=Lax{more}");
    HeaderValue::from_str(&cookie).expect("secrets are letters and digits")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(cookies: &[&'static str]) -> Option<SecretHash> {
        let mut headers = HeaderMap::new();
        for line in cookies {
            headers.append(header::COOKIE, HeaderValue::from_static(line));
        }
        session(&headers)
    }

    #[test]
    fn a_session_is_found_among_other_cookies() {
        let wanted = "session_abc".parse::<SessionSecret>().unwrap().hash();
        assert_eq!(of(&["__Host-gatehouse=session_abc"]), Some(wanted));
        assert_eq!(
            of(&["a=b; __Host-gatehouse=session_abc; c=d"]),
            Some(wanted)
        );
        assert_eq!(of(&["a=b", "__Host-gatehouse=session_abc"]), Some(wanted));
    }

    #[test]
    fn what_cannot_be_a_session_is_none() {
        for cookie in [
            "",
            "gatehouse=session_abc",
            "__Host-gatehouse=mgmt_abc",
            "__Host-gatehouse=",
        ] {
            assert_eq!(of(&[cookie]), None, "{cookie}");
        }
    }

    #[test]
    fn scripts_and_other_sites_do_not_get_the_cookie() {
        let secret = "session_abc".parse().unwrap();
        let held = hold(&secret);
        assert_eq!(
            held.to_str().unwrap(),
            "__Host-gatehouse=session_abc; Path=/; Secure; HttpOnly; SameSite=Lax"
        );
    }
}
