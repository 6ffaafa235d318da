//! The cookie that holds a session's secret, and the one that holds an attempt to sign in at the provider.
//!
//! Browsers accept a cookie named `__Host-` only with `Secure`, with `Path=/` and without a domain. So no other host and no
//! plain connection can plant one.

use domain::{
    key::{SecretHash, SessionSecret},
    sign_in_limits,
};
use poem::{
    Response,
    http::{HeaderMap, HeaderValue, header},
};

const NAME: &str = "__Host-gatehouse";
const ATTEMPT: &str = "__Host-gatehouse-sign-on";

/// The session of a request. Cookies that cannot be one are none. If there are several, the first counts.
pub(crate) fn session(headers: &HeaderMap) -> Option<SecretHash> {
    let secret = find(headers, NAME)?.parse::<SessionSecret>().ok();
    secret.map(|secret| secret.hash())
}

/// The attempt of a request, sealed.
pub(crate) fn attempt(headers: &HeaderMap) -> Option<&str> {
    find(headers, ATTEMPT)
}

fn find<'a>(headers: &'a HeaderMap, wanted: &str) -> Option<&'a str> {
    let lines = headers.get_all(header::COOKIE).into_iter();
    let mut pairs = lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='));
    pairs
        .find(|(name, _)| *name == wanted)
        .map(|(_, value)| value)
}

/// Has the browser hold this session until it is closed.
pub(crate) fn hold(secret: &SessionSecret) -> HeaderValue {
    with(NAME, secret.expose(), "")
}

/// Has the browser forget the session.
pub(crate) fn forget() -> HeaderValue {
    with(NAME, "", "; Max-Age=0")
}

/// Has the browser hold this attempt for as long as it can be used. `Lax`: it must come back with the browser from the
/// provider's site.
pub(crate) fn hold_attempt(kept: &str) -> HeaderValue {
    with(
        ATTEMPT,
        kept,
        &format!("; Max-Age={}", sign_in_limits::ATTEMPT.num_seconds()),
    )
}

/// Has the browser forget the attempt.
pub(crate) fn forget_attempt() -> HeaderValue {
    with(ATTEMPT, "", "; Max-Age=0")
}

/// The response, which sets this cookie too.
pub(crate) fn set(mut response: Response, cookie: HeaderValue) -> Response {
    response.headers_mut().append(header::SET_COOKIE, cookie);
    response
}

fn with(name: &str, value: &str, more: &str) -> HeaderValue {
    let cookie = format!("{name}={value}; Path=/; Secure; HttpOnly; SameSite=Lax{more}");
    HeaderValue::from_str(&cookie).expect("they are letters, digits, - and _")
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
