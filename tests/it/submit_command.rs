//! `gatehouse submit`: a file of texts, and a verdict for each line.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use serde_json::{Value, json};
use sqlx::PgPool;
use tempfile::TempDir;

use crate::support::{DataDir, SOON, Up, eventually, unset};

const REJECTED: &str = "so much blockedword in here";

/// The files of a run.
struct Files {
    directory: TempDir,
}

impl Files {
    fn new(lines: impl IntoIterator<Item = String>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let lines: Vec<String> = lines.into_iter().collect();
        fs::write(directory.path().join("texts.ndjson"), lines.join("\n")).unwrap();
        Self { directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn start(&self, up: &Up, options: &[&str]) -> Child {
        self.start_with_key(up, &up.demo().site_key, options)
    }

    fn start_with_key(&self, up: &Up, key: &str, options: &[&str]) -> Child {
        fs::write(self.path("key"), key).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_gatehouse"));
        unset(&mut command);
        command
            .args(["submit", "--json", "--url", &up.origin()])
            .arg("--key-file")
            .arg(self.path("key"))
            .arg("--file")
            .arg(self.path("texts.ndjson"))
            .arg("--results")
            .arg(self.path("results.ndjson"))
            .args(options)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// The results by the number of their line.
    fn results(&self) -> BTreeMap<u64, Value> {
        let lines = read(&self.path("results.ndjson"));
        let count = lines.len();
        let results: BTreeMap<u64, Value> = lines
            .into_iter()
            .map(|line| (line["line"].as_u64().unwrap(), line))
            .collect();
        assert_eq!(results.len(), count, "a line has two results");
        results
    }
}

fn read(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let lines = whole
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

async fn ended(child: Child) -> Output {
    tokio::task::spawn_blocking(|| child.wait_with_output().unwrap())
        .await
        .unwrap()
}

fn text(number: usize) -> String {
    let body = if number.is_multiple_of(5) {
        format!("{REJECTED} ({number})")
    } else {
        format!("a fine day for walk {number} by the river")
    };
    json!({ "body": body, "app_media_id": format!("own-{number}") }).to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_line_gets_a_verdict_or_says_what_is_wrong_with_it() {
    let data = DataDir::new();
    let up = Up::start(&data, &[]).await;
    let files = Files::new([
        text(1),
        String::new(),
        "no JSON".to_owned(),
        json!({ "app_media_id": "nothing to moderate" }).to_string(),
        json!({ "body": "with a key", "api_key": "site_x" }).to_string(),
        text(5),
        // Cut in the middle of an emoji.
        format!(r#"{{"body":"{REJECTED} \ud83d","app_media_id":"own-7","metadata":{{"n":1.50}}}}"#),
        r#"{"body":"hi","app_media_id":"own-8","metadata":{"name":"Ada \ud83d"}}"#.to_owned(),
        r#"{"body":"hi","api\u005fkey":"site_x"}"#.to_owned(),
    ]);
    let output = ended(files.start(&up, &[])).await;
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["submitted"], 8);
    assert_eq!(
        summary["results"],
        json!({
            "statuses": { "approved": 1, "rejected": 2 },
            "unchecked": 0,
            "refusals": { "empty_submission": 1, "invalid_line": 3, "invalid_request": 1 },
        })
    );

    let results = files.results();
    let lines: Vec<u64> = results.keys().copied().collect();
    assert_eq!(lines, [1, 3, 4, 5, 6, 7, 8, 9], "an empty line is none");
    assert_eq!(results[&7]["app_media_id"], "own-7");
    let status = up.status(results[&7]["id"].as_str().unwrap()).await;
    assert_eq!(status["metadata"].to_string(), r#"{"n":1.5}"#);
    let detail = results[&8]["detail"].as_str().unwrap();
    assert!(
        detail.starts_with(
            "metadata.name ends with half of a character: the last emoji was cut in half"
        ),
        "{detail}"
    );
    assert_eq!(results[&8]["app_media_id"], "own-8");
    assert_eq!(results[&1]["status"], "approved");
    assert_eq!(results[&1]["app_media_id"], "own-1");
    assert_eq!(results[&6]["status"], "rejected");
    assert_eq!(results[&6]["action"], "block");
    let rule = &results[&6]["moderationResult"]["rule_violations"][0];
    assert_eq!(rule["rule_type"], "keyword", "{}", results[&6]);
    let status = up.status(results[&6]["id"].as_str().unwrap()).await;
    assert_eq!(status["app_media_id"], "own-5");

    // Nothing is left to do.
    let output = ended(files.start(&up, &[])).await;
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["submitted"], 0, "{output:?}");
    assert_eq!(files.results(), results);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_was_killed_goes_on_and_submits_nothing_twice() {
    // The demo's key allows 1,000 submissions a minute, and some lines are sent again.
    const LINES: usize = 800;
    let data = DataDir::new();
    let up = Up::start(&data, &[]).await;
    let files = Files::new((1..=LINES).map(text));
    for least in [1, 100] {
        let mut child = files.start(&up, &["--connections", "4"]);
        eventually("some results are there", SOON, async || {
            let size = fs::metadata(files.path("results.ndjson")).map_or(0, |file| file.len());
            (size > least * 100).then_some(())
        })
        .await;
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let before = read(&files.path("results.ndjson")).len();
    assert!(before < LINES, "it was killed too late");

    let output = ended(files.start(&up, &[])).await;
    assert!(output.status.success(), "{output:?}");
    let results = files.results();
    assert_eq!(results.len(), LINES);
    assert!(results.values().all(|result| result["status"] != "pending"));
    assert_eq!(results[&5]["status"], "rejected");
    let database = PgPool::connect(&data.database()).await.unwrap();
    let items: i64 = sqlx::query_scalar("select count(*) from media")
        .fetch_one(&database)
        .await
        .unwrap();
    assert_eq!(
        items,
        i64::try_from(LINES).unwrap(),
        "an item was stored twice"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_key_ends_it_at_once() {
    let data = DataDir::new();
    let up = Up::start(&data, &[]).await;
    let files = Files::new((1..=50).map(text));
    let key = format!("site_{}", "x".repeat(43));
    let output = ended(files.start_with_key(&up, &key, &[])).await;
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("invalid_api_key"), "{said}");
    assert_eq!(files.results().len(), 0);
}
