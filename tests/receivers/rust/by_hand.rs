use hmac::{Hmac, KeyInit, Mac};
use http::HeaderMap;
use sha2::Sha256;

pub fn is_genuine(raw_body: &[u8], headers: &HeaderMap, secret: &str) -> bool {
    let mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("any key will do");
    let mac = mac.chain_update(raw_body);
    let verifies = |name: &&str| {
        let signature = headers.get(*name).and_then(|value| value.to_str().ok());
        let digest = signature.and_then(|signature| signature.strip_prefix("sha256="));
        let digest = digest.and_then(|digest| hex::decode(digest).ok());
        digest.is_some_and(|digest| mac.clone().verify_slice(&digest).is_ok())
    };
    ["x-service-signature", "x-service-signature-previous"]
        .iter()
        .any(verifies)
}
