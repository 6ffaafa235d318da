//! How we authenticate to a provider.

use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::{
    RequestBuilder,
    header::{HeaderName, HeaderValue},
};
use sha2::Sha256;

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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::provider::remote::client;

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
}
