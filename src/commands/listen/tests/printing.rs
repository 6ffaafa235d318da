//! What `listen` prints.

use domain::signature::{SignatureHeaders, SigningSecrets, Unverified};
use hyper::HeaderMap;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use verify::{Flaw, Verdict};

use super::{
    BODY, a_body_over_the_limit_is_refused, a_signed_event_is_answered_200_and_a_forged_one_401,
    answer_of, header_map, it_fails_and_delays_on_purpose, now, receiver, secret,
    secrets::{
        both_secrets_of_a_rotation_verify_and_old_signatures_do_not,
        case_45_the_secret_comes_from_a_file_or_the_environment_too,
        the_secret_is_read_when_the_demo_file_appears,
    },
    signed, statuses_are_read, whole_answer_of,
};
use crate::commands::listen::*;

#[test]
pub(super) fn case_45_what_reorders_or_hides_text_is_printed_escaped() {
    let verdict = Verdict::NoSecret(String::new());
    let shown = |body: &str| {
        let answer = (StatusCode::OK, "");
        print::render(&HeaderMap::new(), &verdict, answer, body.as_bytes())
    };
    for hidden in [
        '\u{202e}',
        '\u{2066}',
        '\u{200f}',
        '\u{61c}',
        '\u{200b}',
        '\u{2028}',
        '\u{feff}',
        '\u{e0041}',
        '\u{9b}',
    ] {
        let escaped = format!("a\\u{{{:x}}}b", u32::from(hidden));
        for body in [format!("a{hidden}b"), format!(r#"{{"k":"a{hidden}b"}}"#)] {
            let shown = shown(&body);
            assert!(
                shown.contains(&escaped) && !shown.contains(hidden),
                "{shown:?}"
            );
        }
    }
    assert!(shown("Grüße, 世界, مرحبا").contains("Grüße, 世界, مرحبا"));
}

#[test]
pub(super) fn an_event_is_printed_without_obeying_it() {
    let headers = [
        ("x-service-event", "media.created"),
        ("x-service-delivery-id", "d-1"),
    ];
    let headers = headers
        .iter()
        .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
        .collect();
    let verdict = Verdict::Checked {
        service: Ok(()),
        standard: Err(Flaw::Missing),
    };
    let shown = |body| print::render(&headers, &verdict, (StatusCode::OK, ""), body);
    assert_eq!(
        shown(br#"{"a":1}"#),
        "media.created  delivery d-1  answered 200\nNOT VERIFIED; webhook-signature: missing\n{\n  \"a\": 1\n}\n\n"
    );
    assert!(shown(b"\x1b[2J").contains("\\u{1b}[2J"));
    assert!(shown(&[b'x'; 10_000]).ends_with("\n... (cut)\n\n"));
}

#[test]
pub(super) fn numbers_are_printed_as_they_came() {
    let verdict = Verdict::NoSecret(String::new());
    let body = br#"{"data":{"metadata":{"price":1.0,"id":12345678901234567890123}}}"#;
    let shown = print::render(&HeaderMap::new(), &verdict, (StatusCode::OK, ""), body);
    assert!(
        shown.contains("\"price\": 1.0,") && shown.contains("\"id\": 12345678901234567890123\n"),
        "{shown}"
    );
}

#[test]
pub(super) fn the_first_lines_say_whether_signatures_are_verified() {
    let address = "127.0.0.1:9000".parse().unwrap();
    let introduction = |secret| {
        let receiver = Receiver {
            secret,
            ..receiver(1)
        };
        print::introduction(address, &receiver)
    };
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("demo.json");
    for (secret, why) in [
        (Secret::Unknown, "--secret-file"),
        (Secret::InFile(file.clone()), "No such file"),
    ] {
        let told = introduction(secret);
        assert!(
            told.contains("signatures are not verified") && told.contains(why),
            "{told}"
        );
    }
    let demo = format!(r#"{{"webhook_secret":"{}"}}"#, secret(1).expose());
    std::fs::write(&file, demo).unwrap();
    for secret in [Secret::Given(secret(1)), Secret::InFile(file)] {
        let told = introduction(secret);
        assert!(told.contains("Verifying with the"), "{told}");
    }
}
