//! AWS Signature Version 4, checked with the published algorithm: a canonical request, a string to
//! sign, a derived key.

use std::fmt::Write as _;

use hmac::{Hmac, KeyInit as _, Mac as _};
use hyper::http::request::Parts;
use sha2::{Digest as _, Sha256};

use super::Refusal;

const FORGED: Refusal = Refusal(400, "InvalidSignatureException");

/// A key, and what it is valid for.
pub(super) struct Key {
    pub(super) id: &'static str,
    pub(super) secret: &'static str,
    pub(super) region: &'static str,
    pub(super) service: &'static str,
    /// Headers that the signature must cover.
    pub(super) signed: &'static [&'static str],
}

impl Key {
    pub(super) fn check(&self, parts: &Parts, body: &[u8]) -> Result<(), Refusal> {
        let header = |name: &str| {
            let value = parts.headers.get(name)?.to_str().ok()?;
            Some(value.trim())
        };
        let time = header("x-amz-date").ok_or(FORGED)?;
        let date = time.get(..8).ok_or(FORGED)?;
        let scope = format!("{date}/{}/{}/aws4_request", self.region, self.service);
        let shown = header("authorization").ok_or(FORGED)?;
        let shown = shown.strip_prefix("AWS4-HMAC-SHA256 ").ok_or(FORGED)?;
        let member = |name: &str| {
            let mut members = shown.split(',').map(str::trim);
            members.find_map(|member| member.strip_prefix(name)?.strip_prefix('='))
        };
        if member("Credential") != Some(&format!("{}/{scope}", self.id)) {
            return Err(Refusal(400, "UnrecognizedClientException"));
        }
        let signed = member("SignedHeaders").ok_or(FORGED)?;
        for needed in self.signed {
            if !signed.split(';').any(|name| name == *needed) {
                return Err(FORGED);
            }
        }
        let mut canonical = format!(
            "{}\n{}\n{}\n",
            parts.method,
            parts.uri.path(),
            parts.uri.query().unwrap_or_default()
        );
        for name in signed.split(';') {
            let value = header(name).ok_or(FORGED)?;
            writeln!(canonical, "{name}:{value}").unwrap();
        }
        write!(
            canonical,
            "\n{signed}\n{}",
            hex::encode(Sha256::digest(body))
        )
        .unwrap();
        let hashed = hex::encode(Sha256::digest(canonical));
        let to_sign = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{hashed}");

        let first = format!("AWS4{}", self.secret).into_bytes();
        let key = [date, self.region, self.service, "aws4_request"]
            .into_iter()
            .fold(first, |key, part| hmac(&key, part));
        let signature = hex::encode(hmac(&key, &to_sign));
        if member("Signature") == Some(&signature) {
            Ok(())
        } else {
            Err(FORGED)
        }
    }
}

fn hmac(key: &[u8], text: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}
