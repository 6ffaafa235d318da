//! Where the secret comes from, and which signatures it verifies.

use domain::signature::{SignatureHeaders, SigningSecrets, Unverified};
use hyper::HeaderMap;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use verify::{Flaw, Verdict};

use super::{
    BODY, a_body_over_the_limit_is_refused, a_signed_event_is_answered_200_and_a_forged_one_401,
    answer_of, header_map, it_fails_and_delays_on_purpose, now,
    printing::{
        an_event_is_printed_without_obeying_it,
        case_45_what_reorders_or_hides_text_is_printed_escaped, numbers_are_printed_as_they_came,
        the_first_lines_say_whether_signatures_are_verified,
    },
    receiver, secret, signed, statuses_are_read, whole_answer_of,
};
use crate::commands::listen::*;

#[test]
pub(super) fn both_secrets_of_a_rotation_verify_and_old_signatures_do_not() {
    let verified = Verdict::Checked {
        service: Ok(()),
        standard: Ok(()),
    };
    let rotated = header_map(&signed(2, Some(1), now()));
    assert_eq!(verify::verify(&secret(1), &rotated, BODY), verified);
    assert_eq!(verify::verify(&secret(2), &rotated, BODY), verified);
    let replayed = header_map(&signed(1, None, now() - 400));
    assert_eq!(
        verify::verify(&secret(1), &replayed, BODY),
        Verdict::Checked {
            service: Ok(()),
            standard: Err(Flaw::Unverified(Unverified::Stale))
        }
    );
    let missing = Err(Flaw::Missing);
    assert_eq!(
        verify::verify(&secret(1), &HeaderMap::new(), BODY),
        Verdict::Checked {
            service: missing,
            standard: missing
        }
    );
}

#[test]
pub(super) fn the_secret_is_read_when_the_demo_file_appears() {
    let directory = tempfile::tempdir().unwrap();
    let source = Secret::InFile(directory.path().join("demo.json"));
    assert!(source.load().unwrap_err().contains("demo.json"));
    let demo = format!(
        r#"{{"base_url":"http://x","webhook_secret":"{}"}}"#,
        secret(1).expose()
    );
    std::fs::write(directory.path().join("demo.json"), demo).unwrap();
    assert_eq!(source.load(), Ok(secret(1)));
}

#[test]
pub(super) fn case_45_the_secret_comes_from_a_file_or_the_environment_too() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("secret");
    std::fs::write(&file, format!("{}\n", secret(2).expose())).unwrap();
    let defaults = |environment: Option<u8>| Defaults {
        secret: environment.map(secret),
        demo: None,
    };
    let chosen = |given: Option<u8>, file, environment| {
        let chosen = Secret::chosen(given.map(secret), file, None, defaults(environment));
        chosen.unwrap().load()
    };
    assert_eq!(chosen(None, Some(file.clone()), Some(3)), Ok(secret(2)));
    assert_eq!(chosen(None, None, Some(3)), Ok(secret(3)));
    assert_eq!(chosen(Some(1), None, Some(3)), Ok(secret(1)));
    assert!(chosen(None, None, None).is_err());

    std::fs::write(&file, "not a secret").unwrap();
    let unusable = Secret::chosen(None, Some(file), None, defaults(Some(3)));
    let told = format!("{:#}", unusable.unwrap_err());
    assert!(
        told.contains("unusable") && !told.contains("not a secret"),
        "{told}"
    );
    let missing = Some(directory.path().join("missing"));
    let missing = Secret::chosen(None, missing, None, defaults(Some(3)));
    assert!(missing.unwrap_err().to_string().contains("cannot read"));
}
