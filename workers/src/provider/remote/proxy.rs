//! The operator's proxy for requests to providers.

use std::fmt;

use url::Url;

/// A forward proxy. Requests to `http` providers go through it. Requests to `https` providers use a
/// tunnel (`CONNECT`), so the proxy sees only the name of the host. The `Debug` form does not show
/// the password.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    url: Url,
}

/// Why an address cannot be a proxy's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoProxy {
    /// It is not `http://host:port` or `https://host:port`, with or without a user.
    #[error("is not a URL such as http://proxy.internal:3128 or http://user@proxy.internal:3128")]
    Url,
    /// It contains a password, which would be shown with it.
    #[error("has a password in its URL")]
    PasswordInUrl,
    /// There is a password, but no user.
    #[error("has a password and no user; write http://user@host:port")]
    NoUser,
}

impl Proxy {
    /// The proxy at this address. The address may contain a user.
    ///
    /// # Errors
    /// The address is not valid for a proxy.
    pub fn new(url: &str, password: Option<String>) -> Result<Self, NoProxy> {
        let mut url: Url = url.parse().map_err(|_| NoProxy::Url)?;
        if url.password().is_some() {
            return Err(NoProxy::PasswordInUrl);
        }
        let is_plain = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() || !is_plain {
            return Err(NoProxy::Url);
        }
        if let Some(password) = password {
            if url.username().is_empty() {
                return Err(NoProxy::NoUser);
            }
            // The password is decoded again when it is sent. `set_password` does not encode this
            // character.
            let password = password.replace('%', "%25");
            url.set_password(Some(&password))
                .map_err(|()| NoProxy::Url)?;
        }
        Ok(Self { url })
    }

    pub(super) fn all(&self) -> Result<reqwest::Proxy, reqwest::Error> {
        reqwest::Proxy::all(self.url.clone())
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = self.url.host_str().unwrap_or_default();
        write!(f, "Proxy({host})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_has_an_address_and_at_most_a_user_in_it() {
        let proxy = Proxy::new("http://me@proxy:3128", Some("secret".into())).unwrap();
        assert_eq!(format!("{proxy:?}"), "Proxy(proxy)");
        assert!(Proxy::new("https://proxy", None).is_ok());
        for (url, password, expected) in [
            ("proxy:3128", None, NoProxy::Url),
            ("socks5://proxy:1080", None, NoProxy::Url),
            ("http://proxy:3128/path", None, NoProxy::Url),
            ("http://me:secret@proxy:3128", None, NoProxy::PasswordInUrl),
            ("http://proxy:3128", Some("secret"), NoProxy::NoUser),
        ] {
            let refused = Proxy::new(url, password.map(str::to_owned));
            assert_eq!(refused.unwrap_err(), expected, "{url}");
        }
    }
}
