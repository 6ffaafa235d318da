//! What commands print of files and of answers of servers: nothing that a terminal obeys, and not much of it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use serde_json::json;
use sqlx::PgPool;
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use crate::support::{admin, gatehouse, text, unset};

/// Clears the screen, sets the title, colours, rings, deletes, reverses, hides. The last one is how terminals that know the
/// upper control characters begin a sequence.
const HOSTILE: &str =
    "\u{1b}[2J\u{1b}]0;owned\u{7}\u{1b}[31m\u{8}\u{7f}\r\u{202e}txt\u{2066}\u{200b}\u{9b}31m";
/// Longer than a command says about anything.
const LONG: usize = 6_000;

struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        fs::write(self.path(name), content).unwrap();
        self.path(name).to_str().unwrap().to_owned()
    }
}

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gatehouse"));
    unset(&mut command);
    command
}

/// Runs a command, and looks at everything that it prints.
async fn printed(mut command: Command, arguments: &[&str]) -> String {
    command.args(arguments);
    command.stdout(std::process::Stdio::piped());
    command.stderr(std::process::Stdio::piped());
    let Output { stdout, stderr, .. } =
        tokio::task::spawn_blocking(move || command.output().unwrap())
            .await
            .unwrap();
    let printed = [stdout, stderr].concat();
    let text = String::from_utf8(printed)
        .unwrap_or_else(|error| panic!("{arguments:?} printed bytes: {error}"));
    let is_obeyed = |c: char| {
        c.is_control() && c != '\n'
            || matches!(c, '\u{200b}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert!(!text.contains(is_obeyed), "{arguments:?} printed {text:?}");
    assert!(
        text.len() < LONG,
        "{arguments:?} printed {} bytes",
        text.len()
    );
    assert!(!text.is_empty(), "{arguments:?} printed nothing");
    text
}

const ID: &str = "0199f0a2-4c11-7d61-8a7e-1f6f0b7f5c55";

#[sqlx::test(migrations = false)]
async fn no_command_prints_a_random_file(pool: PgPool) {
    let files = Files::new();
    printed(gatehouse(&pool), &["migrate"]).await;
    for (name, size) in [("small", 100), ("block", 512), ("large", 1 << 20)] {
        let mut chance = StdRng::seed_from_u64(7);
        let content: Vec<u8> = (0..size).map(|_| chance.random()).collect();
        let random = files.file(name, &content);
        // The same as texts: one long line, and a long member of an object.
        let text: String = content.iter().map(|byte| char::from(*byte)).collect();
        let line = files.file("line", text.replace('\n', "\r"));
        let object = json!({ "kind": text, &text: text, "line": text, "export": text, "rules": text, "name": text });
        let object = files.file("object", format!("{object}\n"));
        let key = files.file(
            "key",
            "site_0000000000000000000000000000000000000000000000000000000000000000",
        );
        for file in [&random, &line, &object] {
            let imported =
                printed(gatehouse(&pool), &["import", "--team", ID, "--file", file]).await;
            let is_tar = imported.contains("is no archive of Gatehouse")
                || imported.contains("is incomplete");
            assert!(is_tar, "{imported}");
            printed(gatehouse(&pool), &["audit", "verify", "--file", file]).await;
            printed(gatehouse(&pool), &["erasure", "check-certificate", file]).await;
            let rules = ["admin", "load-rules", "--team", ID, file];
            printed(gatehouse(&pool), &rules).await;
            printed(gatehouse(&pool), &["check", "--providers-file", file]).await;
            let export = [
                "export",
                "--url",
                "http://127.0.0.1:1",
                "--site",
                ID,
                "--token-file",
                file,
                "--to",
                "x",
            ];
            printed(program(), &export).await;
            let results = files.path("results");
            let submit = [
                "submit",
                "--url",
                "http://127.0.0.1:1",
                "--key-file",
                &key,
                "--file",
                file,
                "--results",
            ];
            let _ = fs::remove_file(&results);
            // Texts that could be submitted would be sent to nobody for ten minutes.
            if file != &line && file != &object {
                printed(
                    program(),
                    &[&submit[..], &[results.to_str().unwrap()]].concat(),
                )
                .await;
            }
            let texts = files.file("texts", r#"{"body":"a"}"#);
            let submit = [
                "submit",
                "--url",
                "http://127.0.0.1:1",
                "--key-file",
                &key,
                "--file",
                &texts,
                "--results",
                file,
            ];
            let before = fs::read(file).unwrap();
            if before.ends_with(b"\n") {
                printed(program(), &submit).await;
            }
            let keyed = [
                "submit",
                "--url",
                "http://127.0.0.1:1",
                "--key-file",
                file,
                "--file",
                &texts,
                "--results",
                "x",
            ];
            printed(program(), &keyed).await;
        }
    }
}

/// An archive whose first member has this name.
fn archive(path: &Path, name: &str) {
    let mut header = tar::Header::new_ustar();
    header.as_ustar_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_size(2);
    header.set_mode(0o600);
    header.set_cksum();
    let mut builder = tar::Builder::new(fs::File::create(path).unwrap());
    builder.append(&header, &b"{}"[..]).unwrap();
    builder.finish().unwrap();
}

#[sqlx::test(migrations = false)]
async fn what_is_quoted_is_escaped_and_recognised(pool: PgPool) {
    let files = Files::new();
    printed(gatehouse(&pool), &["migrate"]).await;
    let tar = files.path("site.tar");
    archive(&tar, &format!("a{HOSTILE}"));
    let tar = tar.to_str().unwrap();
    let said = printed(gatehouse(&pool), &["import", "--team", ID, "--file", tar]).await;
    assert!(
        said.contains(r"begins with `a\u{1b}[2J\u{1b}]0;owned\u{7}"),
        "{said}"
    );

    let line = json!({ "kind": format!("b{HOSTILE}") }).to_string();
    let line = files.file("audit", line);
    let said = printed(gatehouse(&pool), &["audit", "verify", "--file", &line]).await;
    assert!(said.contains(r"b\u{1b}[2J"), "{said}");

    // YAML has no such characters.
    let hostile = HOSTILE.replace(['\u{7f}', '\u{9b}'], "");
    let team = text(&admin(&pool, &["create-team", "--name", "a"]), "team_id");
    let rules = json!({ "name": "a", "rules": [{ "name": format!("c{hostile}"), "type": "x" }] });
    let rules = files.file("rules.yaml", rules.to_string());
    let load = ["admin", "load-rules", "--team", &team, &rules];
    let said = printed(gatehouse(&pool), &load).await;
    assert!(said.contains(r"c\u{1b}[2J"), "{said}");

    let id = files.file("token", format!("mgmt_{HOSTILE}"));
    let export = [
        "export",
        "--url",
        "http://127.0.0.1:1",
        "--site",
        ID,
        "--token-file",
        &id,
        "--to",
        "x",
    ];
    assert!(
        printed(program(), &export)
            .await
            .contains("no management token")
    );
}

/// A server that answers everything like this. Its URL.
async fn server(status: &'static str, body: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = stream.read(&mut [0; 16_384]).await;
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    url
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_of_a_server_is_escaped_and_short() {
    let files = Files::new();
    let key = files.file(
        "key",
        "site_0000000000000000000000000000000000000000000000000000000000000000",
    );
    let token = files.file(
        "token",
        "mgmt_0000000000000000000000000000000000000000000000000000000000000000",
    );
    let texts = files.file("texts", "{\"body\":\"a\"}\n{\"body\":\"b\"}");
    let problem = |times: usize| {
        let long = format!("d{HOSTILE}").repeat(times);
        json!({ "code": long, "detail": long, "status": 403 }).to_string()
    };
    let url = server("403 Forbidden", problem(10_000)).await;
    let results = files.path("results");
    let results = results.to_str().unwrap();
    let submit = [
        "submit",
        "--url",
        &url,
        "--key-file",
        &key,
        "--file",
        &texts,
        "--results",
        results,
    ];
    let said = printed(program(), &submit).await;
    assert!(said.contains(r"d\u{1b}[2J"), "{said}");
    // The command that exports reads only the beginning of a longer problem.
    let url = server("403 Forbidden", problem(100)).await;
    let to = files.path("site.tar");
    let export = [
        "export",
        "--url",
        &url,
        "--site",
        ID,
        "--token-file",
        &token,
        "--to",
        to.to_str().unwrap(),
    ];
    let said = printed(program(), &export).await;
    assert!(said.contains(r"d\u{1b}[2J"), "{said}");

    // Statuses that nobody knows are counted.
    let answer =
        json!({ "id": ID, "status": format!("e{HOSTILE}"), "action": HOSTILE }).to_string();
    let url = server("200 OK", answer).await;
    for json in [&[][..], &["--json"]] {
        let results = files.path(&format!("results-{}", json.len()));
        let results = results.to_str().unwrap();
        let submit = [
            "submit",
            "--url",
            &url,
            "--key-file",
            &key,
            "--file",
            &texts,
            "--results",
            results,
        ];
        let said = printed(program(), &[&submit[..], json].concat()).await;
        let escape = if json.is_empty() {
            r"e\u{1b}[2J"
        } else {
            r"e\u001b[2J"
        };
        assert!(said.contains(escape), "{said}");
    }
}
