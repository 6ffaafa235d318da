//! Vectors computed with Python 3 (`hmac`, `hashlib`, `base64`) and one of them again with `openssl dgst -mac HMAC`.

use super::*;

const BODY: &str = r#"{"event":"media.moderated","data":{"text":"naïve ✓"}}"#;
const ID: &str = "018f3f3e-0000-7000-8000-000000000001";
const SIGNED_AT: i64 = 1_700_000_000;

const CURRENT: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const CURRENT_SERVICE: &str =
    "sha256=9c8a70331e9e8829d0ffe93c870095a47c5996d639890602991babb352898f28";
const CURRENT_STANDARD: &str = "v1,wc99YZc2WGVtWLPP6SL2ZhX+l/QssCsvBcSAiwpha6c=";

const PREVIOUS: &str = "whsec_//////////////////////////////////////////8=";
const PREVIOUS_SERVICE: &str =
    "sha256=8da5c9fe899df8d40fb4f2c229f8f0b9307646d1e2b0e158264f602a9e6eba20";
const PREVIOUS_STANDARD: &str = "v1,t6cm0R46x8V4bhowKfofRE5Uu4m4+jc2+zoaVzlAFRw=";

fn secret(text: &str) -> WebhookSecret {
    text.parse().unwrap()
}

fn signed_headers(previous: Option<WebhookSecret>) -> Vec<(&'static str, String)> {
    let secrets = SigningSecrets {
        current: secret(CURRENT),
        previous,
    };
    let headers = SignatureHeaders::sign(&secrets, ID.parse().unwrap(), SIGNED_AT, BODY.as_bytes());
    headers
        .iter()
        .map(|(name, value)| (name, value.to_owned()))
        .collect()
}

#[test]
fn signatures_equal_those_of_independent_tools() {
    for (text, service, standard) in [
        (CURRENT, CURRENT_SERVICE, CURRENT_STANDARD),
        (PREVIOUS, PREVIOUS_SERVICE, PREVIOUS_STANDARD),
    ] {
        let secret = secret(text);
        assert_eq!(sign_service(&secret, BODY.as_bytes()), service);
        let id = ID.parse().unwrap();
        assert_eq!(
            sign_standard(&secret, id, SIGNED_AT, BODY.as_bytes()),
            standard
        );
    }
}

#[test]
fn a_secret_is_read_as_it_was_shown() {
    let made = WebhookSecret::from_random(std::array::from_fn(|i| u8::try_from(i).unwrap()));
    assert_eq!(made.expose(), CURRENT);
    assert_eq!(secret(CURRENT), made);
    for wrong in [
        "",
        "whsec_",
        "whsec_AAECAwQ=",
        &CURRENT[6..],
        "whsec_!",
        &CURRENT[..49],
    ] {
        assert_eq!(
            wrong.parse::<WebhookSecret>(),
            Err(InvalidWebhookSecret),
            "{wrong}"
        );
    }
}

#[test]
fn a_secret_does_not_show_itself_in_debug_output() {
    assert_eq!(format!("{:?}", secret(CURRENT)), "WebhookSecret(..)");
}

#[test]
fn an_attempt_carries_the_headers_of_both_schemes() {
    assert_eq!(
        signed_headers(None),
        [
            ("webhook-id", ID.to_owned()),
            ("webhook-timestamp", "1700000000".to_owned()),
            ("X-Service-Signature", CURRENT_SERVICE.to_owned()),
            ("webhook-signature", CURRENT_STANDARD.to_owned()),
        ]
    );
}

#[test]
fn during_a_rotation_both_secrets_sign() {
    assert_eq!(
        signed_headers(Some(secret(PREVIOUS)))[2..],
        [
            ("X-Service-Signature", CURRENT_SERVICE.to_owned()),
            ("X-Service-Signature-Previous", PREVIOUS_SERVICE.to_owned()),
            (
                "webhook-signature",
                format!("{CURRENT_STANDARD} {PREVIOUS_STANDARD}")
            ),
        ]
    );
}

#[test]
fn a_service_signature_is_accepted_only_for_its_secret_and_bytes() {
    let verify = |text: &str, header: &str, body: &str| {
        verify_service(&secret(text), header, body.as_bytes())
    };
    assert_eq!(verify(CURRENT, CURRENT_SERVICE, BODY), Ok(()));
    assert_eq!(
        verify(PREVIOUS, CURRENT_SERVICE, BODY),
        Err(Unverified::Mismatch)
    );
    assert_eq!(
        verify(CURRENT, CURRENT_SERVICE, &BODY[1..]),
        Err(Unverified::Mismatch)
    );
    assert_eq!(
        verify(CURRENT, &CURRENT_SERVICE[..39], BODY),
        Err(Unverified::Mismatch)
    );
    assert_eq!(
        verify(CURRENT, &CURRENT_SERVICE[7..], BODY),
        Err(Unverified::Malformed)
    );
    assert_eq!(
        verify(CURRENT, "sha256=xyz", BODY),
        Err(Unverified::Malformed)
    );
}

#[test]
fn a_standard_signature_is_accepted_in_time_and_among_others() {
    let both = format!("v2,AAAA {CURRENT_STANDARD} {PREVIOUS_STANDARD}");
    let verify = |text: &str, timestamp: &str, signatures: &str, now: i64| {
        verify_standard(
            &secret(text),
            ID,
            timestamp,
            signatures,
            BODY.as_bytes(),
            now,
        )
    };
    assert_eq!(
        verify(CURRENT, "1700000000", &both, SIGNED_AT + 300),
        Ok(())
    );
    assert_eq!(
        verify(PREVIOUS, "1700000000", &both, SIGNED_AT - 300),
        Ok(())
    );
    let stale = Err(Unverified::Stale);
    assert_eq!(verify(CURRENT, "1700000000", &both, SIGNED_AT + 301), stale);
    assert_eq!(verify(CURRENT, "1700000000", &both, SIGNED_AT - 301), stale);
    let mismatch = Err(Unverified::Mismatch);
    assert_eq!(verify(CURRENT, "1700000001", &both, SIGNED_AT), mismatch);
    assert_eq!(
        verify(PREVIOUS, "1700000000", CURRENT_STANDARD, SIGNED_AT),
        mismatch
    );
    let malformed = Err(Unverified::Malformed);
    assert_eq!(verify(CURRENT, "soon", &both, SIGNED_AT), malformed);
    assert_eq!(verify(CURRENT, "1700000000", "v1", SIGNED_AT), malformed);
}
