//! The user that `up` runs as when root starts it. Each name begins with the number of its case in
//! `docs/reliability.md`. These tests do nothing unless root runs them, because only root can
//! become another user.

use std::{
    fs,
    os::unix::{fs::MetadataExt as _, process::CommandExt as _},
    path::Path,
    process::{Command, Stdio},
};

use rustix::process::geteuid;
use serde_json::json;

use crate::support::{DataDir, Up, unset};

/// The account that `scripts/setup test` creates.
const ACCOUNT: &str = "gatehouse";

fn uid() -> u32 {
    let output = Command::new("id").args(["-u", ACCOUNT]).output().unwrap();
    let uid = String::from_utf8(output.stdout).unwrap();
    uid.trim()
        .parse()
        .expect("`scripts/setup test` makes the account")
}

/// The values in one line of a thread's status in `/proc`.
fn values<'s>(status: &'s str, line: &str) -> Vec<&'s str> {
    let values = status.lines().find_map(|found| found.strip_prefix(line));
    values.unwrap().split_whitespace().collect()
}

/// # Panics
/// If a thread of the process has a right that the account does not have.
fn assert_unprivileged(process: u32, uid: u32) {
    let uid = uid.to_string();
    let mut threads = 0;
    for thread in fs::read_dir(format!("/proc/{process}/task")).unwrap() {
        let status = fs::read_to_string(thread.unwrap().path().join("status")).unwrap();
        assert!(
            values(&status, "Uid:").iter().all(|value| *value == uid),
            "{status}"
        );
        assert!(!values(&status, "Gid:").contains(&"0"), "{status}");
        assert!(!values(&status, "Groups:").contains(&"0"), "{status}");
        for set in ["CapPrm:", "CapEff:", "CapAmb:"] {
            assert_eq!(values(&status, set), ["0000000000000000"], "{status}");
        }
        assert_eq!(values(&status, "NoNewPrivs:"), ["1"], "{status}");
        threads += 1;
    }
    assert!(threads > 0);
}

fn assert_owned(path: &Path, uid: u32) {
    let metadata = fs::symlink_metadata(path).unwrap();
    assert_eq!(metadata.uid(), uid, "{}", path.display());
    if metadata.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            assert_owned(&entry.unwrap().path(), uid);
        }
    }
}

/// The error of an `up` that refuses to start. It is one line.
fn refusal(data: &DataDir, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gatehouse"));
    unset(&mut command);
    let output = command
        .args([
            "up",
            "--listen",
            "127.0.0.1:0",
            "--metrics-listen",
            "127.0.0.1:0",
            "--console-listen",
            "127.0.0.1:0",
        ])
        .arg("--data-dir")
        .arg(data.path())
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let errors = String::from_utf8(output.stderr).unwrap();
    let line = errors.lines().find(|line| line.starts_with("error: "));
    line.unwrap_or_else(|| panic!("{errors}")).to_owned()
}

#[tokio::test]
async fn case_43_up_that_root_starts_keeps_none_of_roots_rights() {
    if !geteuid().is_root() {
        return;
    }
    let (data, uid) = (DataDir::new(), uid());
    let up = Up::start(&data, &[]).await;
    let media = up.submit(json!({ "body": "what a blockedword" })).await;
    assert_eq!(up.verdict(&media).await["status"], "rejected");
    assert_unprivileged(up.process(), uid);
    let postmaster = fs::read_to_string(data.path().join("postgres/postmaster.pid")).unwrap();
    assert_unprivileged(postmaster.lines().next().unwrap().parse().unwrap(), uid);
    assert_owned(&data.path(), uid);

    // Another user cannot open the lock, so cannot hold it.
    let lock = data.path().join("lock");
    assert_eq!(fs::metadata(&lock).unwrap().mode() & 0o777, 0o600);
    let opened = Command::new("/bin/cat")
        .arg(&lock)
        .uid(65_534)
        .gid(65_534)
        .output()
        .unwrap();
    assert!(!opened.status.success(), "{opened:?}");
    assert!(up.stop().success());
}

#[tokio::test]
async fn case_43_a_directory_that_root_filled_before_is_used_once_it_was_given_over() {
    if !geteuid().is_root() {
        return;
    }
    let data = DataDir::new();
    let up = Up::start(&data, &[]).await;
    let media = up.submit(json!({ "body": "what a blockedword" })).await;
    up.verdict(&media).await;
    assert!(up.stop().success());

    // Earlier versions left it like this.
    let chown = |owner: &str, path: &Path| {
        let done = Command::new("chown")
            .args(["-R", owner])
            .arg(path)
            .status()
            .unwrap();
        assert!(done.success());
    };
    chown("0:0", &data.path());
    for part in ["postgres", "run"] {
        chown("54321:54321", &data.path().join(part));
    }
    let advice = format!("chown -R gatehouse: {}", data.path().display());
    let line = refusal(&data, &[]);
    assert!(line.contains(&advice), "{line}");
    // A new owner of the directory alone is not enough.
    std::os::unix::fs::chown(data.path(), Some(uid()), None).unwrap();
    let line = refusal(&data, &[]);
    assert!(line.contains("chown -R gatehouse: "), "{line}");

    chown("gatehouse:", &data.path());
    let up = Up::start(&data, &[]).await;
    assert_eq!(up.status(&media).await["status"], "rejected");
}

#[test]
fn case_43_up_never_stays_root() {
    if !geteuid().is_root() {
        return;
    }
    let data = DataDir::new();
    let line = refusal(&data, &["--user", "nobody-is-called-so"]);
    assert!(
        line.contains("useradd --system gatehouse") && line.contains("--user"),
        "{line}"
    );
    let line = refusal(&data, &["--user", "root"]);
    assert!(line.contains("does not run as root"), "{line}");
    assert!(!data.path().exists(), "root created nothing");
}

#[tokio::test]
async fn case_43_a_database_that_another_users_postgres_may_serve_is_left_alone() {
    if !geteuid().is_root() {
        return;
    }
    let data = DataDir::new();
    assert!(Up::start(&data, &[]).await.stop().success());
    // A Postgres that kept running while its files got a new owner. This user sees only its name.
    let program = data.path().with_file_name("postgres");
    fs::copy("/bin/sleep", &program).unwrap();
    let mut stranger = Command::new(&program)
        .arg("300")
        .uid(54_321)
        .gid(54_321)
        .spawn()
        .unwrap();
    let pid_file = data.path().join("postgres/postmaster.pid");
    fs::write(&pid_file, format!("{}\n", stranger.id())).unwrap();
    std::os::unix::fs::chown(&pid_file, Some(uid()), None).unwrap();
    let line = refusal(&data, &[]);
    stranger.kill().unwrap();
    stranger.wait().unwrap();
    assert!(line.contains("of another user may be a Postgres"), "{line}");
    assert!(pid_file.exists());
    Up::start(&data, &[]).await;
}
