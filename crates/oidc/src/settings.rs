//! What the operator says about the provider.

use std::{fmt, net::IpAddr, str::FromStr};

use url::{Host, Url};

/// What the operator says about the provider.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The provider.
    pub issuer: Issuer,
    /// The name under which it knows Gatehouse.
    pub client_id: String,
    /// How Gatehouse proves to be that client.
    pub client_secret: ClientSecret,
    /// Where it sends browsers back to.
    pub redirect: Url,
    /// The scopes to ask for. `openid` is added if it is missing.
    pub scopes: Vec<String>,
    /// The claim with the roles: a name, or a path with dots.
    pub roles_claim: String,
    /// The values of `acr` that stand for several factors. The provider is asked for them.
    pub strong_acrs: Vec<String>,
}

/// The secret of the client. It is never printed.
#[derive(Clone)]
pub struct ClientSecret(String);

impl ClientSecret {
    /// A secret.
    pub fn new(secret: String) -> Self {
        Self(secret)
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ClientSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientSecret(redacted)")
    }
}

/// The issuer: an HTTPS address, compared with what the provider says as a text, without any normalisation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issuer(String);

/// The text is no issuer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be an https address without a query, such as https://login.example.com/realms/acme; http is for this machine only"
)]
pub struct WrongIssuer;

impl Issuer {
    /// The issuer as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Where its discovery document is: the path is appended to the issuer's (`OpenID` Connect Discovery 1.0, section 4).
    pub(crate) fn document(&self) -> String {
        format!(
            "{}/.well-known/openid-configuration",
            self.0.trim_end_matches('/')
        )
    }
}

impl FromStr for Issuer {
    type Err = WrongIssuer;

    fn from_str(text: &str) -> Result<Self, WrongIssuer> {
        let url: Url = text.parse().map_err(|_| WrongIssuer)?;
        let plain = url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none();
        if plain && is_secure(&url) {
            Ok(Self(text.to_owned()))
        } else {
            Err(WrongIssuer)
        }
    }
}

/// Whether nobody on the way can read or change what is sent: by HTTPS, or without leaving this machine.
pub(crate) fn is_secure(url: &Url) -> bool {
    let is_own = || match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => IpAddr::V4(address).is_loopback(),
        Some(Host::Ipv6(address)) => IpAddr::V6(address).is_loopback(),
        None => false,
    };
    url.scheme() == "https" && url.has_host() || url.scheme() == "http" && is_own()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issuer_is_https_or_on_this_machine_and_stays_as_it_was_given() {
        for text in [
            "https://login.example.com",
            "https://login.example.com/",
            "https://login.example.com/realms/acme",
            "http://127.0.0.1:3000",
            "http://localhost:3000/oidc",
        ] {
            let issuer: Issuer = text.parse().unwrap();
            assert_eq!(issuer.as_str(), text);
        }
        for wrong in [
            "",
            "login.example.com",
            "http://login.example.com",
            "http://localhost.example.com",
            "https://u:p@login.example.com",
            "https://login.example.com/?tenant=1",
            "https://login.example.com/#x",
            "ftp://localhost/",
        ] {
            assert_eq!(wrong.parse::<Issuer>(), Err(WrongIssuer), "{wrong}");
        }
    }

    #[test]
    fn the_document_is_below_the_issuer() {
        let document = |text: &str| text.parse::<Issuer>().unwrap().document();
        let expected = "https://a.example/b/.well-known/openid-configuration";
        assert_eq!(document("https://a.example/b"), expected);
        assert_eq!(document("https://a.example/b/"), expected);
    }
}
