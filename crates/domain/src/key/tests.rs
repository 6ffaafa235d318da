//! How keys are made, parsed, hashed and hidden.

use super::*;

#[test]
fn a_generated_key_has_the_documented_shape_and_parses() {
    let key = SiteKey::generate((0..=255).cycle());
    assert_eq!(key.expose(), "site_0123456789ABCDEFGHIJKLMNOPQRSTUV");
    assert_eq!(key.hint(), "STUV");
    assert_eq!(key.expose().parse::<SiteKey>(), Ok(key));
}

#[test]
fn a_session_has_at_least_256_random_bits() {
    let secret = SessionSecret::generate((0..=247).cycle());
    let random = secret.expose().strip_prefix("session_").unwrap();
    let bits = 62_f64.log2() * f64::from(u32::try_from(random.len()).unwrap());
    assert!(bits >= 256.0, "{bits}");
    assert_eq!(random.parse::<SessionSecret>(), Err(MalformedKey));
}

#[test]
fn the_hash_is_sha_256_of_the_whole_key() {
    let key: SiteKey = "site_abc".parse().unwrap();
    // printf 'site_abc' | sha256sum
    let expected = hex::encode(Sha256::digest(b"site_abc"));
    assert_eq!(hex::encode(key.hash().as_bytes()), expected);
}

#[test]
fn other_shapes_are_refused() {
    let long = format!("site_{}", "a".repeat(200));
    for text in [
        "",
        "site_",
        "Site_abc",
        "mgmt_abc",
        "site_a b",
        "site_a\0",
        "site_ü",
        long.as_str(),
    ] {
        assert_eq!(text.parse::<SiteKey>(), Err(MalformedKey), "{text:?}");
    }
}

#[test]
fn debug_output_shows_nothing_of_the_key() {
    let key: SiteKey = "site_topsecret".parse().unwrap();
    assert!(!format!("{key:?}").contains("topsecret"));
}
