//! A wrong or malformed master key.

use std::{
    fs,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use sqlx::PgPool;

use super::{SOON, new_key};
use crate::support::{DataDir, MASTER_KEY, gatehouse, new_site};

/// Runs a command that must fail. Returns what it writes to stderr.
pub(super) fn refusal(mut command: Command) -> String {
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let deadline = Instant::now() + SOON;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if Instant::now() > deadline {
            child.kill().unwrap();
            panic!("{command:?} has started");
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(matches!(status.code(), Some(1 | 2)), "{status}: {said}");
    said
}

/// Every command that starts a service, with these variables.
pub(super) fn starts(pool: &PgPool, data: &DataDir, variables: &[(&str, &str)]) -> Vec<Command> {
    let data = data.path().to_str().unwrap().to_owned();
    let listen = ["--listen", "127.0.0.1:0"];
    let metrics = ["--metrics-listen", "127.0.0.1:0"];
    [
        [&["api"], &listen[..], &metrics].concat(),
        [&["worker"], &metrics[..]].concat(),
        [&["up", "--data-dir", &data], &listen[..], &metrics].concat(),
    ]
    .into_iter()
    .map(|arguments| {
        let mut command = gatehouse(pool);
        command.args(arguments).env_remove("GATEHOUSE_MASTER_KEY");
        command.envs(variables.iter().copied());
        command
    })
    .collect()
}

#[sqlx::test(migrations = false)]
async fn case_32_a_wrong_or_malformed_master_key_refuses_to_start(pool: PgPool) {
    new_site(&pool);
    let data = DataDir::new();
    let keys = tempfile::tempdir().unwrap();
    let file = keys.path().join("keys");
    let in_file = file.to_str().unwrap();
    let new = new_key();
    for (content, word) in [
        (new.as_str(), "did not seal the database's secrets"),
        (&new[..20], "15 bytes instead of 32"),
        ("not base64!", "not base64"),
        ("", "empty"),
        (&format!("{new}\nx"), "not base64"),
    ] {
        fs::write(&file, content).unwrap();
        for command in starts(&pool, &data, &[("GATEHOUSE_MASTER_KEY_FILE", in_file)]) {
            let said = refusal(command);
            assert!(
                said.contains(word) && said.contains("master key"),
                "{content:?}: {said}"
            );
            assert!(!said.contains(&new[..20]), "{said}");
        }
    }
    let both = [
        ("GATEHOUSE_MASTER_KEY_FILE", in_file),
        ("GATEHOUSE_MASTER_KEY", MASTER_KEY),
    ];
    for command in starts(&pool, &data, &both) {
        assert!(refusal(command).contains("both set"));
    }
    // `up` would create a key for a database that was never used.
    for command in starts(&pool, &data, &[]) {
        assert!(refusal(command).contains("master key"));
    }
}
