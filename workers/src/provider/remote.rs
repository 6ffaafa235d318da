//! A provider over the network, as the operator configured it.

use std::{fmt, time::Duration};

use domain::breaker::BreakerSettings;
use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::{
    Client, RequestBuilder,
    header::{HeaderMap, HeaderName, HeaderValue},
    redirect,
};
use sha2::{Digest as _, Sha256};
use url::Url;

use super::Scope;
use crate::tls;

/// The configuration of a provider over the network.
#[derive(Clone, Debug)]
pub struct Remote {
    /// Its name.
    pub name: String,
    /// Its URL. The operator chose it, so the egress rules for tenants do not apply.
    pub url: Url,
    /// How we authenticate.
    pub auth: Auth,
    /// Other headers of each request.
    pub headers: HeaderMap,
    /// The categories that it scores, of those that it can score.
    pub scope: Scope,
    /// How long it may take for a piece of a text, or for an image.
    pub deadline: Duration,
    /// Requests that one process makes at the same time.
    pub concurrency: usize,
    /// When it is paused.
    pub breaker: BreakerSettings,
    /// Bytes of text that it takes in one piece.
    pub piece_bytes: usize,
    /// The proxy to it, if there is one.
    pub proxy: Option<Proxy>,
}

impl Remote {
    /// Identifies the address and the key, without showing the key. Limits and failures are counted
    /// for each credential.
    pub(super) fn credential(&self) -> String {
        let hash = Sha256::new()
            .chain_update(self.url.as_str())
            .chain_update([0])
            .chain_update(self.auth.key())
            .finalize();
        format!("{}:{}", self.name, hex::encode(&hash[..8]))
    }
}

#[cfg(test)]
impl Remote {
    /// A provider named `mine`, for tests.
    pub(crate) fn example(url: &str, auth: Auth) -> Self {
        Self {
            name: "mine".into(),
            url: url.parse().unwrap(),
            auth,
            headers: HeaderMap::new(),
            scope: Scope::default(),
            deadline: Duration::from_secs(1),
            concurrency: 1,
            breaker: BreakerSettings::default(),
            piece_bytes: 1_000,
            proxy: None,
        }
    }
}

/// How we authenticate. The `Debug` form does not show the key.
#[derive(Clone)]
pub enum Auth {
    /// Not at all.
    Nothing,
    /// `Authorization: Bearer` and the key.
    Bearer(String),
    /// The header with this name has the key.
    Header(HeaderName, String),
    /// The provider's own way, in the body or by a signature. Nothing is added to its requests.
    Own(String),
    /// `X-Gatehouse-Timestamp`, in Unix seconds, and `X-Gatehouse-Signature`: `sha256=` and the hex HMAC-SHA256, by the key,
    /// of the timestamp, a full stop and the body.
    Hmac(String),
}

impl fmt::Debug for Auth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "Nothing",
            Self::Bearer(_) => "Bearer(..)",
            Self::Header(..) => "Header(..)",
            Self::Own(_) => "Own(..)",
            Self::Hmac(_) => "Hmac(..)",
        })
    }
}

impl Auth {
    pub(crate) fn key(&self) -> &str {
        match self {
            Self::Nothing => "",
            Self::Bearer(key) | Self::Header(_, key) | Self::Own(key) | Self::Hmac(key) => key,
        }
    }

    pub(crate) fn show(
        &self,
        request: RequestBuilder,
        body: &[u8],
        timestamp: i64,
    ) -> RequestBuilder {
        match self {
            Self::Nothing | Self::Own(_) => request,
            Self::Bearer(key) => request.bearer_auth(key),
            Self::Header(name, key) => {
                let mut key = HeaderValue::from_str(key).expect("a key is printable ASCII");
                key.set_sensitive(true);
                request.header(name.clone(), key)
            }
            Self::Hmac(key) => {
                let timestamp = timestamp.to_string();
                let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes())
                    .expect("HMAC takes keys of every length");
                mac.update(timestamp.as_bytes());
                mac.update(b".");
                mac.update(body);
                let signature = format!("sha256={}", hex::encode(mac.finalize().into_bytes()));
                request
                    .header("X-Gatehouse-Timestamp", timestamp)
                    .header("X-Gatehouse-Signature", signature)
            }
        }
    }
}

/// A client for providers and for services that issue their credentials. The operator chose all of their addresses. It uses
/// only the configured proxy, never the proxies in the environment.
pub(crate) fn client(
    connecting: Duration,
    proxy: Option<&Proxy>,
) -> Result<Client, reqwest::Error> {
    let builder = Client::builder()
        .tls_backend_preconfigured(tls::client_config())
        .user_agent(concat!("Gatehouse/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(connecting)
        .redirect(redirect::Policy::none())
        .no_proxy();
    match proxy {
        None => builder.build(),
        Some(proxy) => builder.proxy(proxy.all()?).build(),
    }
}

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

    fn all(&self) -> Result<reqwest::Proxy, reqwest::Error> {
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
    use std::time::Duration;

    use super::*;
    use crate::provider::remote::client;

    #[test]
    fn a_credential_changes_with_the_key_and_the_address_and_shows_neither() {
        let remote = |url: &str, key: &str| Remote::example(url, Auth::Bearer(key.into()));
        let first = remote("http://a/", "sk-1");
        assert!(first.credential().starts_with("mine:"));
        assert_eq!(first.credential(), first.credential());
        assert_ne!(first.credential(), remote("http://a/", "sk-2").credential());
        assert_ne!(first.credential(), remote("http://b/", "sk-1").credential());
        assert!(!format!("{first:?}").contains("sk-1"));
    }

    /// The expected HMAC signature is what `printf '1800000000.{"text":"x"}' | openssl dgst -sha256
    /// -hmac a-key` prints.
    #[test]
    fn requests_show_who_we_are_in_the_documented_way() {
        let shown = |auth: Auth| {
            let request = client(Duration::ZERO, None).unwrap().post("http://h/");
            let request = auth.show(request, br#"{"text":"x"}"#, 1_800_000_000);
            request.build().unwrap().headers().clone()
        };
        assert_eq!(
            shown(Auth::Bearer("a-key".into()))["authorization"],
            "Bearer a-key"
        );
        let named = shown(Auth::Header(
            HeaderName::from_static("x-goog-api-key"),
            "a-key".into(),
        ));
        assert_eq!(named["x-goog-api-key"], "a-key");
        assert!(!format!("{named:?}").contains("a-key"));
        let hmac = shown(Auth::Hmac("a-key".into()));
        assert_eq!(hmac["x-gatehouse-timestamp"], "1800000000");
        assert_eq!(
            hmac["x-gatehouse-signature"],
            "sha256=fd18fe58d09a720900dd06171cbf5c35c8ad9532b884e7253c4ced92b463ab89"
        );
        for nothing in [Auth::Nothing, Auth::Own("a-key".into())] {
            assert!(!format!("{nothing:?}").contains("a-key"));
            assert!(shown(nothing).is_empty());
        }
    }

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
