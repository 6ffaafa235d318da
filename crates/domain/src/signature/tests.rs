//! The published vectors of `tests/vectors`, which Python's `hmac` computed, and the form of
//! secrets.

use serde_json::Value;

use super::*;

const CURRENT: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

fn secret(text: &str) -> WebhookSecret {
    text.parse().unwrap()
}

fn vectors(name: &str) -> Vec<Value> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors");
    let file = std::fs::read(format!("{directory}/{name}.json")).unwrap();
    let mut file: Value = serde_json::from_slice(&file).unwrap();
    serde_json::from_value(file["vectors"].take()).unwrap()
}

fn text<'a>(vector: &'a Value, name: &str) -> &'a str {
    vector[name].as_str().unwrap()
}

/// The result, in the words of the vectors.
const fn word(verdict: Result<(), Unverified>) -> &'static str {
    match verdict {
        Ok(()) => "valid",
        Err(Unverified::Malformed) => "malformed",
        Err(Unverified::Mismatch) => "mismatch",
        Err(Unverified::Stale) => "stale",
    }
}

#[test]
fn what_is_sent_is_signed_as_an_independent_tool_signs_it() {
    let vectors = vectors("sent");
    assert!(vectors.len() >= 30, "{}", vectors.len());
    for vector in vectors {
        let headers = &vector["headers"];
        let mut by = vector["signed_with"].as_array().unwrap().iter();
        let mut next = || by.next().map(|by| secret(by.as_str().unwrap()));
        let secrets = SigningSecrets {
            current: next().unwrap(),
            previous: next(),
        };
        let signed = SignatureHeaders::sign(
            &secrets,
            text(headers, STANDARD_ID).parse().unwrap(),
            text(headers, STANDARD_TIMESTAMP).parse().unwrap(),
            text(&vector, "body").as_bytes(),
        );
        for (name, value) in signed.iter() {
            assert_eq!(value, text(headers, name), "{name}: {}", vector["name"]);
        }
        let expected = headers.as_object().unwrap().keys();
        let is_of_a_signature =
            |name: &&String| name.starts_with("webhook-") || name.starts_with(SERVICE_SIGNATURE);
        assert_eq!(
            signed.iter().count(),
            expected.filter(is_of_a_signature).count(),
            "{}",
            vector["name"]
        );
    }
}

#[test]
fn a_receiver_concludes_what_the_vectors_say() {
    for vector in [vectors("sent"), vectors("forged")].concat() {
        let header = |name: &str| vector["headers"][name].as_str();
        let secret = secret(text(&vector, "secret"));
        let (body, now) = (text(&vector, "body").as_bytes(), vector["now"].as_i64());
        let service = |name| header(name).map(|value| verify_service(&secret, value, body));
        // The signature by the previous secret is valid, too.
        let service = match (
            service(SERVICE_SIGNATURE),
            service(SERVICE_SIGNATURE_PREVIOUS),
        ) {
            (Some(Ok(())), _) | (_, Some(Ok(()))) => Some(Ok(())),
            (current, previous) => current.or(previous),
        };
        let standard = header(STANDARD_ID)
            .zip(header(STANDARD_TIMESTAMP))
            .zip(header(STANDARD_SIGNATURE))
            .map(|((id, at), by)| verify_standard(&secret, id, at, by, body, now.unwrap()));
        let expected = &vector["expected"];
        for (scheme, verdict) in [("service", service), ("standard", standard)] {
            let verdict = verdict.map_or("missing", word);
            assert_eq!(verdict, expected[scheme], "{scheme}: {}", vector["name"]);
        }
    }
}

#[test]
fn the_signature_inside_a_test_ping_is_over_the_body_without_it() {
    for vector in vectors("pings") {
        let body = text(&vector, "body");
        let (unsigned, rest) = body.split_once(",\"_service_signature\":\"").unwrap();
        let signature = rest.strip_suffix("\"}").unwrap();
        let unsigned = format!("{unsigned}}}");
        let verdict = verify_service(
            &secret(text(&vector, "secret")),
            signature,
            unsigned.as_bytes(),
        );
        assert_eq!(word(verdict), vector["expected"], "{}", vector["name"]);
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
