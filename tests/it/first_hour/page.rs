//! The commands of `docs/management.md` work.

use std::{fmt::Write as _, fs, process::Command};

use crate::support::{DataDir, Up, free_address, unset};

/// All blocks of shell commands in `docs/management.md`, in order.
fn commands_of_the_page() -> String {
    let page = include_str!("../../../docs/management.md");
    let mut script = String::new();
    for part in page.split("```sh\n").skip(1) {
        let (block, _) = part.split_once("```").unwrap();
        script.push_str(block);
    }
    script
}

#[tokio::test(flavor = "multi_thread")]
async fn the_commands_of_the_page_lead_from_nothing_to_a_verdict_and_all_work() {
    let data = DataDir::new();
    let receiver = free_address().to_string();
    let up = Up::start(&data, &["--egress-allow", &receiver]).await;
    let commands = commands_of_the_page()
        .replace("http://127.0.0.1:8080", &up.origin())
        .replace("127.0.0.1:9000", &receiver);
    assert!(!commands.contains("127.0.0.1:8080"), "{commands}");
    let mut script = "trap 'kill ${listen-}' EXIT\n".to_owned();
    let _ = writeln!(script, "{commands}");

    let place = tempfile::tempdir().unwrap();
    let gatehouse = std::path::Path::new(env!("CARGO_BIN_EXE_gatehouse"));
    let path = format!(
        "{}:{}",
        gatehouse.parent().unwrap().display(),
        std::env::var("PATH").unwrap()
    );
    // A status of 400 or more ends the script.
    fs::write(place.path().join(".curlrc"), "fail-with-body\n").unwrap();
    let mut shell = Command::new("timeout");
    unset(&mut shell);
    let ran = shell
        .args(["120", "sh", "-eu", "-c", &script])
        .env("PATH", path)
        .env("GATEHOUSE_DATA_DIR", data.path())
        .env("CURL_HOME", place.path())
        .env("TMPDIR", place.path())
        .env("no_proxy", "*")
        .output()
        .unwrap();
    let [out, error] = [&ran.stdout, &ran.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(ran.status.success(), "{error}\n{out}");
    for told in [
        "\"status\":\"rejected\"",
        "\"rule_name\":\"Blocked words\"",
        "media.moderated  delivery",
        "signatures verified",
        "\"moderation_type\":\"manual\"",
        "\"kind\":\"failed\"",
        "\"url\":\"https://example.com/hooks\"",
        "\"outcome\":\"delivered\"",
    ] {
        assert!(out.contains(told), "{told} is missing:\n{out}");
    }
    assert!(!out.contains("NOT VERIFIED"), "{out}");
}

#[test]
fn no_example_of_the_page_has_a_date() {
    // A fixed date would be too old some day, so dates are computed.
    let commands = commands_of_the_page();
    let year = commands.match_indices("20").find(|(at, _)| {
        let year = commands.get(at + 2..at + 5).unwrap_or_default();
        year.ends_with('-') && year[..2].bytes().all(|c| c.is_ascii_digit())
    });
    assert_eq!(year, None);
}
