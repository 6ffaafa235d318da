//! The provider's discovery document: where its endpoints are.

use reqwest::Client;
use serde::Deserialize;
use url::Url;

use crate::{Failed, Issuer, http, settings::is_secure};

/// What is used of the document (`OpenID` Connect Discovery 1.0, section 3).
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Document {
    issuer: String,
    pub(crate) authorization_endpoint: Url,
    pub(crate) token_endpoint: Url,
    pub(crate) jwks_uri: Url,
    pub(crate) userinfo_endpoint: Option<Url>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    /// Whether every answer in a browser's address names the issuer (RFC 9207).
    #[serde(default)]
    pub(crate) authorization_response_iss_parameter_supported: bool,
}

impl Document {
    /// Reads the document of an issuer, which must be that of this issuer exactly.
    pub(crate) async fn read(http: &Client, issuer: &Issuer) -> Result<Self, Failed> {
        let url = issuer.document().parse();
        let url = url.map_err(|_| Failed::Malformed("the issuer's address"))?;
        http::get::<Self>(http, url).await?.of(issuer)
    }

    fn of(self, issuer: &Issuer) -> Result<Self, Failed> {
        if self.issuer != issuer.as_str() {
            let found = self.issuer.chars().take(200).collect();
            return Err(Failed::OtherIssuer { found });
        }
        for (name, url) in [
            ("authorization_endpoint", Some(&self.authorization_endpoint)),
            ("token_endpoint", Some(&self.token_endpoint)),
            ("jwks_uri", Some(&self.jwks_uri)),
            ("userinfo_endpoint", self.userinfo_endpoint.as_ref()),
        ] {
            if url.is_some_and(|url| !is_secure(url)) {
                return Err(Failed::Insecure(name));
            }
        }
        Ok(self)
    }

    /// Whether the secret goes into the form, because the provider does not take it in the header. The header is the default
    /// of the standard.
    pub(crate) fn takes_secret_in_form(&self) -> bool {
        let methods = self.token_endpoint_auth_methods_supported.as_deref();
        let takes = |method: &str| methods.is_some_and(|all| all.iter().any(|one| one == method));
        takes("client_secret_post") && !takes("client_secret_basic")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(change: &Value) -> Result<Document, Failed> {
        let mut document = json!({
            "issuer": "https://a.example",
            "authorization_endpoint": "https://a.example/auth",
            "token_endpoint": "https://a.example/token",
            "jwks_uri": "https://a.example/keys",
        });
        for (name, value) in change.as_object().unwrap() {
            document[name] = value.clone();
        }
        let document: Document = serde_json::from_value(document).unwrap();
        document.of(&"https://a.example".parse().unwrap())
    }

    #[test]
    fn the_issuer_must_be_the_same_text_and_all_endpoints_secure() {
        assert!(read(&json!({})).is_ok());
        for issuer in [
            "https://a.example/",
            "https://b.example",
            "https://A.example",
        ] {
            let refused = read(&json!({ "issuer": issuer }));
            assert!(
                matches!(refused, Err(Failed::OtherIssuer { .. })),
                "{issuer}"
            );
        }
        for name in [
            "authorization_endpoint",
            "token_endpoint",
            "jwks_uri",
            "userinfo_endpoint",
        ] {
            let refused = read(&json!({ name: "http://a.example/x" }));
            assert!(
                matches!(refused, Err(Failed::Insecure(of)) if of == name),
                "{name}"
            );
        }
    }

    #[test]
    fn the_secret_goes_into_the_header_unless_only_the_form_takes_it() {
        for (methods, in_form) in [
            (json!(null), false),
            (json!(["client_secret_basic", "client_secret_post"]), false),
            (json!(["client_secret_post", "private_key_jwt"]), true),
        ] {
            let document = read(&json!({ "token_endpoint_auth_methods_supported": methods }));
            assert_eq!(document.unwrap().takes_secret_in_form(), in_form);
        }
    }
}
