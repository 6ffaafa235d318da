//! `gatehouse check --providers-live`: each provider is asked once, and an operator is told what is
//! wrong and what to do.

mod role;

use std::process::{Output, Stdio};

use sqlx::PgPool;

use super::HOUR;
use crate::support::{FakeProvider, Mode, Panel, Wire, nobody};

async fn check(panel: &Panel, options: &[&str], variables: &[(&str, &str)]) -> (bool, String) {
    let mut command = panel.gatehouse();
    command.arg("check").args(options);
    command.envs(variables.iter().copied());
    // The servers run in this thread.
    let output = tokio::task::spawn_blocking(move || {
        command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .output()
            .unwrap()
    });
    let Output {
        status,
        stdout,
        stderr,
    } = output.await.unwrap();
    let [out, error] = [stdout, stderr].map(|text| String::from_utf8(text).unwrap());
    (status.success(), format!("{out}{error}"))
}

async fn live(panel: &Panel, variables: &[(&str, &str)]) -> (bool, String) {
    check(panel, &["--providers-live"], variables).await
}

/// Whether one line of the output contains all of these words.
fn tells(told: &str, words: &[&str]) -> bool {
    told.lines()
        .any(|line| words.iter().all(|word| line.contains(word)))
}

#[sqlx::test(migrations = false)]
async fn providers_are_asked_only_when_that_is_wanted_and_then_once(pool: PgPool) {
    let openai = FakeProvider::openai(Mode::Well).await;
    let eyes = FakeProvider::start(Wire::Vision, Mode::Well).await;
    let unsure = FakeProvider::start(Wire::Http, Mode::Unsure).await;
    let entries = [
        openai.entry("openai", ""),
        eyes.entry("eyes", ""),
        unsure.entry("unsure", "categories = [\"violence\"]"),
        "[[provider]]\nname = \"words\"\nkind = \"builtin\"\n".to_owned(),
    ];
    let panel = Panel::start(&pool, 0, &entries, HOUR, &["violence"]).await;
    let (is_well, told) = check(&panel, &[], &[]).await;
    assert!(is_well && !told.contains("ok in"), "{told}");
    assert_eq!((openai.asked(), eyes.asked(), unsure.asked()), (0, 0, 0));

    let (is_well, told) = live(&panel, &[]).await;
    assert!(is_well, "{told}");
    for words in [
        ["provider openai, text: ok in ", " ms"],
        ["provider openai, image: ok in ", " ms"],
        ["provider eyes, image: ok in ", " ms"],
        ["provider unsure, text: ok in ", "did not score violence"],
        ["provider words, text: ok in ", " ms"],
    ] {
        assert!(tells(&told, &words), "{words:?}: {told}");
    }
    assert_eq!((openai.asked(), eyes.asked(), unsure.asked()), (2, 1, 2));
}

#[sqlx::test(migrations = false)]
async fn what_is_wrong_with_a_provider_is_told_with_what_to_do(pool: PgPool) {
    let mut servers = Vec::new();
    let mut entries = Vec::new();
    let mut expected: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, mode, members, words) in [
        (
            "nothing",
            Mode::Status(404),
            "",
            vec![
                "(HTTP 404): on_purpose; nothing is at this address: check its url, or check model",
            ],
        ),
        (
            "limited",
            Mode::Status(429),
            "",
            vec!["(HTTP 429): on_purpose; ", "higher quota"],
        ),
        (
            "broke",
            Mode::Status(402),
            "",
            vec!["(HTTP 402)", "no quota or credit left"],
        ),
        (
            "down",
            Mode::Status(500),
            "",
            vec!["(HTTP 500)", "status page"],
        ),
        (
            "strict",
            Mode::Status(400),
            "",
            vec!["(HTTP 400)", "check model"],
        ),
        (
            "moved",
            Mode::Status(301),
            "",
            vec!["(HTTP 301)", "its url redirects"],
        ),
        (
            "silent",
            Mode::Hang,
            "deadline_seconds = 1",
            vec!["did not answer in time; "],
        ),
        (
            "other",
            Mode::Malformed,
            "",
            vec!["could not be read", "of the kind openai"],
        ),
        // It quotes the text, so its code is not a machine-readable word.
        (
            "chatty",
            Mode::Quoting(401),
            "",
            vec!["(HTTP 401): error; check the key"],
        ),
    ] {
        let server = FakeProvider::openai(mode).await;
        entries.push(server.entry(name, members));
        servers.push(server);
        expected.push((name, words));
    }
    let wrong = FakeProvider::openai(Mode::Well).await;
    entries.push(
        wrong
            .entry("wrong-key", "")
            .replace("GATEHOUSE_OPENAI_API_KEY", "WRONG_KEY"),
    );
    expected.push((
        "wrong-key",
        vec!["(HTTP 401): invalid_api_key; check the key in key_env"],
    ));
    let aws = FakeProvider::start(Wire::Rekognition, Mode::Well).await;
    entries.push(
        aws.entry("aws", "")
            .replace("GATEHOUSE_OPENAI_API_KEY", "WRONG_KEY"),
    );
    expected.push((
        "aws",
        vec!["InvalidSignatureException; check key_id", "and the region"],
    ));
    let (there, gone) = (FakeProvider::openai(Mode::Well).await, nobody());
    let [at, nowhere] = [there.address(), gone.local_addr().unwrap()].map(|at| at.to_string());
    entries.push(there.entry("gone", "").replace(&at, &nowhere));
    expected.push((
        "gone",
        vec!["Connection refused", "check the host and port in its url"],
    ));
    let unknown = FakeProvider::openai(Mode::Well).await;
    let entry = unknown
        .entry("unknown", "")
        .replace("127.0.0.1", "no-such-host.invalid");
    entries.push(entry);
    expected.push(("unknown", vec!["dns error", "this machine's DNS servers"]));
    let panel = Panel::start(&pool, 0, &entries, HOUR, &["violence"]).await;
    let (is_well, told) = live(&panel, &[("WRONG_KEY", "sk-wrong")]).await;
    assert!(!is_well);
    for (name, mut words) in expected {
        let provider = format!("provider {name}, ");
        words.push(&provider);
        assert!(tells(&told, &words), "{words:?}: {told}");
    }
    for secret in ["sk-wrong", FakeProvider::KEY, "library"] {
        assert!(!told.contains(secret), "{secret}: {told}");
    }
}
