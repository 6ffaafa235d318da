//! `wrong_configurations.md` has wrong configurations, with what `gatehouse` says about each and its exit code.

mod databases;
mod table;

use std::{
    env, fs,
    net::TcpListener,
    path::Path,
    process::{Command, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
};

use sqlx::PgPool;

use crate::support::MASTER_KEY;
use databases::Databases;
use table::{Entry, Table};

const TABLE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/it/wrong_configurations.md"
);
/// How many entries run at the same time.
const AT_ONCE: usize = 4;
/// Seconds after which an entry is stopped. None of them starts a service.
const PATIENCE: &str = "60";

/// What an entry does not set itself.
const VARIABLES: [(&str, &str); 8] = [
    ("DATABASE_URL", "postgres://127.0.0.1:1/none"),
    ("GATEHOUSE_CONSOLE_LISTEN", "127.0.0.1:0"),
    ("GATEHOUSE_DATA_DIR", "data"),
    ("GATEHOUSE_LISTEN", "127.0.0.1:0"),
    ("GATEHOUSE_LOG", "off"),
    ("GATEHOUSE_LOG_FORMAT", "human"),
    ("GATEHOUSE_MASTER_KEY", MASTER_KEY),
    ("GATEHOUSE_METRICS_LISTEN", "127.0.0.1:0"),
];

/// The secrets of the entries: none is ever printed.
const SECRETS: [&str; 4] = [MASTER_KEY, "me:sec", ":wrong@", ":right@"];

#[sqlx::test(migrations = false)]
async fn a_wrong_configuration_says_what_the_table_says(pool: PgPool) {
    let text = fs::read_to_string(TABLE).unwrap();
    let table = Table::parse(&text);
    assert!(table.entries.len() >= 85, "{}", table.entries.len());
    let databases = Databases::make(&pool, &table.entries).await;
    let said = run_all(&table.entries, &databases);
    databases.remove(&pool).await;

    for (entry, said) in table.entries.iter().zip(&said) {
        let secret = SECRETS.iter().find(|secret| said.contains(**secret));
        assert_eq!(secret, None, "{}: {said}", entry.title);
    }
    if env::var_os("GATEHOUSE_WRITE_DOCUMENT").is_some() {
        fs::write(TABLE, table.saying(&said)).unwrap();
        return;
    }
    let pairs = table.entries.iter().zip(&said);
    let wrong: Vec<String> = pairs
        .filter(|(entry, said)| entry.says != **said)
        .map(|(entry, said)| difference(entry, said))
        .collect();
    assert!(
        wrong.is_empty(),
        "what is printed is not in {TABLE}. If it is right, run this test with GATEHOUSE_WRITE_DOCUMENT=1:\n\n{}",
        wrong.join("\n")
    );
}

/// Runs all entries. Returns what each said.
fn run_all(entries: &[Entry], databases: &Databases) -> Vec<String> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = listener.local_addr().unwrap().to_string();
    let next = AtomicUsize::new(0);
    let said = Mutex::new(vec![String::new(); entries.len()]);
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Relaxed);
                    let Some(entry) = entries.get(at) else {
                        break;
                    };
                    let printed = run(entry, at, databases, &taken);
                    said.lock().unwrap()[at] = printed;
                }
            });
        }
    });
    said.into_inner().unwrap()
}

/// What the commands of one entry print, and their exit code. What differs from run to run has the name of its variable.
fn run(entry: &Entry, at: usize, databases: &Databases, taken: &str) -> String {
    let place = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_gatehouse"));
    let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
    let own = match entry.sql {
        Some(_) => databases.variables(at),
        None => Vec::new(),
    };
    let commands = format!("exec 2>&1\n{}", entry.commands);
    let output = Command::new("timeout")
        .args([PATIENCE, "sh", "-c", &commands])
        .current_dir(place.path())
        .env_clear()
        .envs(VARIABLES)
        .env("PATH", path)
        .env("HOME", place.path())
        .env("TAKEN", taken)
        .envs(own.iter().cloned())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let mut printed = String::from_utf8(output.stdout)
        .unwrap()
        .replace(taken, "$TAKEN");
    for (name, value) in own.iter().filter(|(name, _)| *name != "DATABASE_URL") {
        printed = printed.replace(value, &format!("${name}"));
    }
    let code = output.status.code().unwrap();
    let end = format!("exit code {code}");
    match printed.trim_end_matches('\n') {
        "" => end,
        printed => format!("{printed}\n{end}"),
    }
}

/// The entry, with the lines that it should say and did not, and those that it said instead.
fn difference(entry: &Entry, said: &str) -> String {
    let mut told = format!("{}\n", entry.title);
    let mut add = |sign: &str, line: &str| {
        told.push_str(sign);
        told.push_str(line);
        told.push('\n');
    };
    for command in entry.commands.lines() {
        add("$ ", command);
    }
    let only_in = |one: &str, other: &str| -> Vec<String> {
        let lines = one.lines();
        let lines = lines.filter(|line| !other.lines().any(|known| known == *line));
        lines.map(str::to_owned).collect()
    };
    for line in only_in(&entry.says, said) {
        add("- ", &line);
    }
    for line in only_in(said, &entry.says) {
        add("+ ", &line);
    }
    told
}
