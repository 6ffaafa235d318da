//! URLs of the console that people hand on.

use std::net::IpAddr;

use domain::key::LinkSecret;
use poem::{
    Request,
    http::{header, uri::Authority},
};
use url::{Host, Url};

/// The URL of a link that opens the console for somebody: an invitation, or a way to a new password. `origin` is the scheme
/// and the host, without a slash at the end.
pub fn link(origin: &str, secret: &LinkSecret) -> String {
    format!("{origin}/links/{}", secret.expose())
}

/// The scheme and the host of a public URL, without a slash at the end.
pub fn of_public(url: &Url) -> String {
    url.as_str().trim_end_matches('/').to_owned()
}

/// The origin of the public URL. Without one, it is the host that the browser asked: by https, unless that is this machine.
pub(crate) fn of(public_url: Option<&Url>, request: &Request) -> String {
    if let Some(url) = public_url {
        return of_public(url);
    }
    let named = request.headers().get(header::HOST);
    let named = named.and_then(|host| host.to_str().ok());
    // HTTP/2 names the host in the request's target.
    let target = request.uri().authority().map(Authority::as_str);
    of_host(named.or(target).unwrap_or("localhost"))
}

fn of_host(host: &str) -> String {
    let secure = format!("https://{host}");
    let is_own = Url::parse(&secure).is_ok_and(|url| match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => IpAddr::V4(address).is_loopback(),
        Some(Host::Ipv6(address)) => IpAddr::V6(address).is_loopback(),
        None => false,
    });
    if is_own {
        format!("http://{host}")
    } else {
        secure
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_begin_with_the_public_url_or_with_the_host_that_was_asked() {
        let asked = |host: &'static str| Request::builder().header(header::HOST, host).finish();
        let public = Url::parse("https://desk.example/").unwrap();
        assert_eq!(
            of(Some(&public), &asked("10.0.0.1:8081")),
            "https://desk.example"
        );
        for (host, origin) in [
            ("desk.example", "https://desk.example"),
            ("10.0.0.1:8081", "https://10.0.0.1:8081"),
            ("localhost:8081", "http://localhost:8081"),
            ("127.0.0.1:8081", "http://127.0.0.1:8081"),
            ("[::1]:8081", "http://[::1]:8081"),
            ("localhost.evil.example", "https://localhost.evil.example"),
        ] {
            assert_eq!(of(None, &asked(host)), origin);
        }
    }
}
