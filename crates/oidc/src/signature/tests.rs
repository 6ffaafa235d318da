use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::Header;
use ring::{
    hmac,
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair,
        Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512,
        RSA_PSS_SHA256, RSA_PSS_SHA384, RSA_PSS_SHA512, RsaEncoding, RsaKeyPair,
    },
};
use serde_json::{Value, json};

use super::*;
use crate::{
    ClientSecret, Failed, Settings,
    id_token::{self, Keys},
};

/// A key that signs in tests only.
const RSA: &[u8] = include_bytes!("rsa_of_tests.pk8");

type Sign = Box<dyn Fn(&[u8]) -> Vec<u8>>;

/// A name of an algorithm, the public key, and how it signs.
struct Signer(&'static str, Value, Sign);

fn part(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn rsa(name: &'static str, encoding: &'static dyn RsaEncoding) -> Signer {
    let key = RsaKeyPair::from_pkcs8(RSA).unwrap();
    let public = RsaPublicKeyComponents::<Vec<u8>>::from(key.public());
    let jwk = json!({ "kty": "RSA", "n": part(public.n), "e": part(public.e) });
    let sign = move |message: &[u8]| {
        let mut signature = vec![0; key.public().modulus_len()];
        let random = SystemRandom::new();
        key.sign(encoding, &random, message, &mut signature)
            .unwrap();
        signature
    };
    Signer(name, jwk, Box::new(sign))
}

fn ecdsa(
    name: &'static str,
    curve: &str,
    algorithm: &'static of_ring::EcdsaSigningAlgorithm,
) -> Signer {
    let random = SystemRandom::new();
    let key = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
    let key = EcdsaKeyPair::from_pkcs8(algorithm, key.as_ref(), &random).unwrap();
    let (x, y) = key.public_key().as_ref()[1..].split_at(key.public_key().as_ref().len() / 2);
    let jwk = json!({ "kty": "EC", "crv": curve, "x": part(x), "y": part(y) });
    let sign = move |message: &[u8]| {
        let signature = key.sign(&SystemRandom::new(), message);
        signature.unwrap().as_ref().to_vec()
    };
    Signer(name, jwk, Box::new(sign))
}

fn ed25519() -> Signer {
    let key = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
    let key = Ed25519KeyPair::from_pkcs8(key.as_ref()).unwrap();
    let jwk = json!({ "kty": "OKP", "crv": "Ed25519", "x": part(key.public_key()) });
    let sign = move |message: &[u8]| key.sign(message).as_ref().to_vec();
    Signer("EdDSA", jwk, Box::new(sign))
}

fn signers() -> Vec<Signer> {
    vec![
        rsa("RS256", &RSA_PKCS1_SHA256),
        rsa("RS384", &RSA_PKCS1_SHA384),
        rsa("RS512", &RSA_PKCS1_SHA512),
        rsa("PS256", &RSA_PSS_SHA256),
        rsa("PS384", &RSA_PSS_SHA384),
        rsa("PS512", &RSA_PSS_SHA512),
        ecdsa("ES256", "P-256", &ECDSA_P256_SHA256_FIXED_SIGNING),
        ecdsa("ES384", "P-384", &ECDSA_P384_SHA384_FIXED_SIGNING),
        ed25519(),
    ]
}

fn signed(algorithm: &str, sign: &dyn Fn(&[u8]) -> Vec<u8>) -> String {
    let claims = json!({
        "iss": "https://a.example", "aud": "gatehouse", "sub": "ada", "exp": 4_000_000_000_u64,
    });
    let header = json!({ "alg": algorithm });
    let message = format!("{}.{}", part(header.to_string()), part(claims.to_string()));
    let signature = sign(message.as_bytes());
    format!("{message}.{}", part(signature))
}

fn verified(token: &str, key: &Value) -> std::result::Result<(), Failed> {
    install();
    let settings = Settings {
        issuer: "https://a.example".parse().unwrap(),
        client_id: "gatehouse".to_owned(),
        client_secret: ClientSecret::new("secret".to_owned()),
        redirect: "https://console.example/sign-on/callback".parse().unwrap(),
        scopes: Vec::new(),
        roles_claim: "roles".to_owned(),
        strong_acrs: Vec::new(),
    };
    let header: Header = id_token::header(token)?;
    let keys = Keys::of(vec![key.clone()]);
    id_token::verify(token, &header, &keys, &settings).map(|_| ())
}

#[test]
fn each_algorithm_verifies_what_its_key_signed_and_nothing_else() {
    let signers = signers();
    assert_eq!(signers.len(), ALGORITHMS.len());
    for Signer(name, key, sign) in &signers {
        let token = signed(name, sign);
        verified(&token, key).unwrap_or_else(|failed| panic!("{name}: {failed}"));
        let mut damaged = token.clone().into_bytes();
        let middle = token.find('.').unwrap() + 20;
        damaged[middle] ^= 1;
        let damaged = String::from_utf8(damaged).unwrap();
        assert!(verified(&damaged, key).is_err(), "{name}");
        for Signer(other, other_key, _) in signers.iter().filter(|other| other.0 != *name) {
            let claimed = signed(other, sign);
            assert!(verified(&claimed, key).is_err(), "{name} as {other}");
            assert!(verified(&claimed, other_key).is_err(), "{name} as {other}");
        }
    }
}

#[test]
fn a_public_key_is_no_shared_secret() {
    let Signer(_, key, _) = rsa("RS256", &RSA_PKCS1_SHA256);
    let secret = URL_SAFE_NO_PAD.decode(key["n"].as_str().unwrap()).unwrap();
    let secret = hmac::Key::new(hmac::HMAC_SHA256, &secret);
    let token = signed("HS256", &|message| {
        hmac::sign(&secret, message).as_ref().to_vec()
    });
    assert!(verified(&token, &key).is_err());
    let shared = json!({ "kty": "oct", "k": key["n"] });
    assert!(verified(&token, &shared).is_err());
}
