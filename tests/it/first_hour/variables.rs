//! Wrong variables are named, and `gatehouse check` lists all problems.

use std::{
    fs,
    process::{Child, Stdio},
};

use sqlx::PgPool;

use super::printed;
use crate::support::{DataDir, SOON, eventually, gatehouse, run};

#[test]
fn a_wrong_variable_is_named_and_an_empty_one_counts_as_not_set() {
    let nowhere = "postgres://nobody@127.0.0.1:1/nothing";
    let worker = ["worker", "--database-url", nowhere];
    for (variable, value, told) in [
        ("GATEHOUSE_QUEUES", "rules,x", "[possible values: images,"),
        ("GATEHOUSE_CONCURRENCY", "many", "from 1 to 10000"),
        ("GATEHOUSE_EGRESS_ALLOW", "x", "neither host:port nor"),
        ("GATEHOUSE_LOG_FORMAT", "x", "it must be human or json"),
    ] {
        let (_, error, done) = printed(&[(variable, value)], &worker);
        let is_named = error.contains(variable);
        assert!(
            !done && is_named && error.contains(told),
            "{variable}: {error}"
        );
    }
    // The command line takes precedence, so the error names it.
    let given = [&worker[..], &["--concurrency", "few"]].concat();
    let (_, error, _) = printed(&[("GATEHOUSE_CONCURRENCY", "many")], &given);
    assert!(
        error.contains("'few'") && !error.contains("GATEHOUSE_CONCURRENCY"),
        "{error}"
    );

    let empty = [
        "DATABASE_URL",
        "GATEHOUSE_QUEUES",
        "GATEHOUSE_CONCURRENCY",
        "GATEHOUSE_EGRESS_ALLOW",
        "GATEHOUSE_PROVIDERS",
        "GATEHOUSE_PROVIDERS_FILE",
        "GATEHOUSE_LISTEN",
    ];
    let (_, error, _) = printed(&empty.map(|variable| (variable, "")), &worker);
    let reason = error.lines().last().unwrap();
    assert!(reason.starts_with("error: no master key: set"), "{error}");
}

#[test]
fn a_variable_has_an_effect_by_its_earlier_name_unless_it_is_set_by_todays() {
    let (earlier, now) = ("GATEHOUSE_LINGER_SECONDS", "GATEHOUSE_DRAIN_SECONDS");
    let api = [
        "api",
        "--database-url",
        "postgres://nobody@127.0.0.1:1/nothing",
    ];
    let range = "must be a whole number from 0 to 600";
    let (_, error, _) = printed(&[(earlier, "601")], &api);
    assert!(error.contains(earlier) && error.contains(range), "{error}");
    let (_, error, _) = printed(&[(earlier, "601"), (now, "600")], &api);
    assert!(!error.contains(range), "{error}");

    let check = ["check", "--data-dir", "/nowhere/either"];
    let (_, error, _) = printed(&[(earlier, "601")], &check);
    let told = format!("the variable {earlier} is wrong: ");
    assert!(error.contains(&told) && error.contains(range), "{error}");
    let (_, error, _) = printed(&[(earlier, "600")], &check);
    assert!(!error.contains(earlier), "{error}");
}

#[test]
fn check_tells_every_problem_with_its_cause() {
    let wrong = [
        ("GATEHOUSE_CONCURRENCY", "0"),
        ("GATEHOUSE_DATABASE_CONNECTIONS", "1"),
        ("GATEHOUSE_EGRESS_ALLOW", "x"),
        ("GATEHOUSE_LISTEN", "x"),
        ("GATEHOUSE_LOG", "a=b=c"),
        ("GATEHOUSE_LOG_FORMAT", "x"),
        ("GATEHOUSE_MASTER_KEY", "x"),
        ("GATEHOUSE_PROVIDERS_FILE", "/nowhere"),
        ("GATEHOUSE_QUEUES", "x"),
        ("GATEHOUSE_WEBHOOK_SECRET", "x"),
    ];
    let (out, error, done) = printed(&wrong, &["check", "--data-dir", "/nowhere/either"]);
    assert!(!done);
    for (variable, _) in wrong {
        let is_told = error.contains(variable) || variable == "GATEHOUSE_PROVIDERS_FILE";
        assert!(is_told, "{variable}: {error}");
    }
    for cause in [
        "cannot read the providers in /nowhere: No such file or directory",
        "cannot read the database URL in /nowhere/either/postgres.url: No such file or directory",
        "must be a whole number from 1 to 10000",
    ] {
        assert!(error.contains(cause), "{cause}: {error}");
    }
    assert_eq!(error.lines().count(), wrong.len() + 1, "{error}");
    assert!(out.contains("egress: "), "{out}");
}

#[sqlx::test(migrations = false)]
async fn check_is_content_where_all_is_in_order(pool: PgPool) {
    run(&pool, &["migrate"]);
    let out = String::from_utf8(run(&pool, &["check"])).unwrap();
    for told in [
        "database: reachable, not read-only",
        "master key: opens",
        "providers: builtin",
    ] {
        assert!(out.contains(told), "{out}");
    }
}

/// Eight jobs at once were meant.
const MISSPELT: (&str, &str) = ("GATEHOUSE_CONCURENCY", "8");
const TOLD: &str = "the variable `GATEHOUSE_CONCURENCY` is unknown and has no effect: did you mean GATEHOUSE_CONCURRENCY?";

#[sqlx::test(migrations = false)]
async fn a_variable_that_nobody_reads_is_a_problem_for_check(pool: PgPool) {
    run(&pool, &["migrate"]);
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(
        file.path(),
        "[[provider]]\nname = \"own\"\nkind = \"openai\"\nkey_env = \"GATEHOUSE_OWN_KEY\"\n",
    )
    .unwrap();
    let check = |variables: &[(&str, &str)]| {
        let mut command = gatehouse(&pool);
        command
            .arg("check")
            .env("GATEHOUSE_PROVIDERS_FILE", file.path())
            .env("GATEHOUSE_OWN_KEY", "key")
            .envs(variables.iter().copied());
        let output = command.stderr(Stdio::piped()).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), error)
    };
    // The file names the variable with the key, and an empty variable counts as not set.
    assert_eq!(
        check(&[("GATEHOUSE_CONCURENCY", "")]),
        (Some(0), String::new())
    );
    assert_eq!(check(&[MISSPELT]), (Some(1), format!("error: {TOLD}\n")));
}

/// Dropping it kills the process.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[sqlx::test(migrations = false)]
async fn a_process_warns_of_a_variable_that_nobody_reads_and_starts(pool: PgPool) {
    run(&pool, &["migrate"]);
    let data = DataDir::new();
    let path = data.path();
    let directory = path.to_str().unwrap();
    let metrics = ["--metrics-listen", "127.0.0.1:0"];
    let listen = ["--listen", "127.0.0.1:0"];
    for arguments in [
        [&["api"], &listen[..], &metrics].concat(),
        [&["worker"], &metrics[..]].concat(),
        [&["up", "--data-dir", directory], &listen[..], &metrics].concat(),
    ] {
        let log = tempfile::NamedTempFile::new().unwrap();
        let mut command = gatehouse(&pool);
        let child = command
            .args(&arguments)
            .envs([MISSPELT])
            .env("GATEHOUSE_LOG_FORMAT", "human")
            .stderr(log.reopen().unwrap())
            .spawn()
            .unwrap();
        let _started = Started(child);
        let listens = "a process that listens";
        let text = eventually(listens, SOON, async || {
            let text = fs::read_to_string(log.path()).unwrap();
            text.contains("listening").then_some(text)
        })
        .await;
        let warnings: Vec<_> = text.lines().filter(|line| line.contains(TOLD)).collect();
        let is_warning = matches!(warnings[..], [line] if line.contains("WARN"));
        assert!(is_warning, "{arguments:?}: {text}");
    }
}
