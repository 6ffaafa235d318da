//! The commands of the program, run on a test's own database.

use std::process::{Command, Stdio};

use serde_json::Value;
use sqlx::{ConnectOptions as _, PgPool};

/// 32 bytes in base64. Any value works.
pub(crate) const MASTER_KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// A site that the command line created.
#[derive(Clone)]
pub(crate) struct Site {
    pub(crate) id: String,
    pub(crate) key: String,
    pub(crate) webhook_secret: String,
}

/// Migrates the database, and creates a team with a site.
pub(crate) fn new_site(pool: &PgPool) -> Site {
    run(pool, &["migrate"]);
    let team = admin(pool, &["create-team", "--name", "team"]);
    let team = text(&team, "team_id");
    let site = admin(pool, &["create-site", "--team", &team, "--name", "site"]);
    let id = text(&site, "site_id");
    let key = admin(pool, &["create-key", "--site", &id]);
    Site {
        key: text(&key, "site_key"),
        webhook_secret: text(&site, "webhook_secret"),
        id,
    }
}

/// Migrates the database, and creates a team with a site. Returns the site's key.
pub(crate) fn site_key(pool: &PgPool) -> String {
    new_site(pool).key
}

/// What `gatehouse admin` prints.
pub(crate) fn admin(pool: &PgPool, arguments: &[&str]) -> Value {
    let output = run(pool, &[&["admin", "--json"], arguments].concat());
    serde_json::from_slice(&output).unwrap()
}

/// A member that is a text.
pub(crate) fn text(made: &Value, name: &str) -> String {
    made[name].as_str().unwrap().to_owned()
}

/// Runs a command that succeeds on this database. Returns its standard output.
pub(crate) fn run(pool: &PgPool, arguments: &[&str]) -> Vec<u8> {
    let mut command = gatehouse(pool);
    let output = command
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    output.stdout
}

/// Variables that the environment must not set: the suite itself runs with a database of its own.
const UNSET: [&str; 12] = [
    "DATABASE_URL",
    "DATABASE_URL_FILE",
    "GATEHOUSE_DATA_DIR",
    "GATEHOUSE_EGRESS_ALLOW",
    "GATEHOUSE_LISTEN",
    "GATEHOUSE_MASTER_KEY",
    "GATEHOUSE_MASTER_KEY_FILE",
    "GATEHOUSE_METRICS_LISTEN",
    "GATEHOUSE_PROVIDERS",
    "GATEHOUSE_PROVIDERS_FILE",
    "GATEHOUSE_USER",
    "NOTIFY_SOCKET",
];

/// Removes these variables from a command.
pub(crate) fn unset(command: &mut Command) {
    for variable in UNSET {
        command.env_remove(variable);
    }
}

/// The program with this database and a master key, without any variable of the environment.
pub(crate) fn gatehouse(pool: &PgPool) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gatehouse"));
    unset(&mut command);
    command
        .env(
            "DATABASE_URL",
            pool.connect_options().to_url_lossy().as_str(),
        )
        .env("GATEHOUSE_MASTER_KEY", MASTER_KEY)
        .env("GATEHOUSE_NO_CONSOLE", "true")
        .env("GATEHOUSE_DATABASE_CONNECTIONS", "4")
        .env("GATEHOUSE_DRAIN_SECONDS", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}
