//! Where the database is: in an option, in a variable, or in a file that a variable names.

use std::{
    fs,
    process::{Command, Stdio},
};

use sqlx::{ConnectOptions as _, PgPool};

use super::printed;
use crate::support::{DataDir, MASTER_KEY, gatehouse};

/// A command without a database.
fn without(pool: &PgPool) -> Command {
    let mut command = gatehouse(pool);
    command.env_remove("DATABASE_URL");
    command
}

/// What a command wrote to both outputs, and whether it succeeded.
fn said(command: &mut Command) -> (String, bool) {
    let output = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (String::from_utf8(text).unwrap(), output.status.success())
}

#[sqlx::test(migrations = false)]
async fn a_file_can_have_the_url_of_the_database(pool: PgPool) {
    let file = tempfile::NamedTempFile::new().unwrap();
    let url = pool.connect_options().to_url_lossy();
    fs::write(file.path(), format!("{url}\n")).unwrap();
    for arguments in [&["migrate"][..], &["check"], &["admin", "list-users"]] {
        let mut command = without(&pool);
        let (text, done) = said(
            command
                .args(arguments)
                .env("DATABASE_URL_FILE", file.path()),
        );
        assert!(done, "{arguments:?}: {text}");
    }

    // Some editors begin a file with a byte order mark.
    fs::write(file.path(), format!("\u{feff}{url}\r\n")).unwrap();
    let mut marked = without(&pool);
    marked.env("DATABASE_URL_FILE", file.path());
    let (text, done) = said(marked.arg("check"));
    assert!(done, "{text}");

    // An option overrides the variable.
    let mut other = without(&pool);
    other.env("DATABASE_URL_FILE", "/nowhere/url");
    let (text, done) = said(other.args(["migrate", "--database-url", url.as_str()]));
    assert!(done, "{text}");
}

#[test]
fn a_file_without_a_url_and_two_variables_are_refused() {
    let empty = tempfile::NamedTempFile::new().unwrap();
    fs::write(empty.path(), " \n").unwrap();
    let wrong = tempfile::NamedTempFile::new().unwrap();
    fs::write(wrong.path(), "mysql://a:secret@b/c").unwrap();
    let [empty, wrong] = [&empty, &wrong].map(|file| file.path().to_str().unwrap());
    let key = ("GATEHOUSE_MASTER_KEY", MASTER_KEY);
    let directory = DataDir::new();
    let data = directory.path();
    let up = [
        "up",
        "--no-console",
        "--listen",
        "127.0.0.1:0",
        "--metrics-listen",
        "127.0.0.1:0",
        "--data-dir",
        data.to_str().unwrap(),
    ];
    for arguments in [&["worker"][..], &["api"], &["migrate"], &["check"], &up[..]] {
        let told = |variables: &[(&str, &str)]| {
            let (_, error, done) = printed(&[&[key][..], variables].concat(), arguments);
            assert!(!done && !error.contains("secret"), "{arguments:?}: {error}");
            error
        };
        for (file, cause) in [
            (
                "/nowhere/url",
                "cannot read the database URL in /nowhere/url: No such file or directory",
            ),
            (empty, "with the database URL is empty"),
            (wrong, "a database URL begins with postgres://"),
        ] {
            let error = told(&[("DATABASE_URL_FILE", file)]);
            assert!(error.contains(cause), "{arguments:?}: {error}");
        }
        let error = told(&[
            ("DATABASE_URL", "postgres://nobody@127.0.0.1:1/nothing"),
            ("DATABASE_URL_FILE", wrong),
        ]);
        let cause = "DATABASE_URL and DATABASE_URL_FILE are both set; unset one";
        assert!(error.contains(cause), "{arguments:?}: {error}");
    }
    for command in ["worker", "api", "migrate"] {
        let (_, error, done) = printed(&[key], &[command]);
        let is_told = error.contains("no database: set DATABASE_URL, or DATABASE_URL_FILE");
        assert!(!done && is_told, "{command}: {error}");
    }
}

#[test]
fn a_parameter_of_the_url_that_has_no_effect_is_refused() {
    let key = ("GATEHOUSE_MASTER_KEY", MASTER_KEY);
    let url = "postgres://nobody:secret@127.0.0.1:1/nothing?sslmod=require";
    for command in ["worker", "api", "migrate", "check"] {
        let (_, error, done) = printed(&[key, ("DATABASE_URL", url)], &[command]);
        let is_told = error.contains("`sslmod`") && error.contains("did you mean `sslmode`?");
        let is_secret = !error.contains("secret");
        assert!(!done && is_told && is_secret, "{command}: {error}");
    }
}
