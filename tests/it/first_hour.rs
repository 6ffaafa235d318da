//! What somebody meets who has just installed it: the commands of `docs/management.md`, and messages that say what to do.

use std::{fmt::Write as _, fs, process::Command};

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::support::{
    Api, DataDir, Up, admin, free_address, gatehouse, new_site, run, text, unset,
};

/// What a command without a database printed: standard output, standard error, and whether it succeeded.
fn printed(variables: &[(&str, &str)], arguments: &[&str]) -> (String, String, bool) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gatehouse"));
    unset(&mut command);
    let output = command
        .envs(variables.iter().copied())
        .args(arguments)
        .output()
        .unwrap();
    let [out, error] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    (out, error, output.status.success())
}

/// The blocks of shell commands of `docs/management.md`, one after the other.
fn commands_of_the_page() -> String {
    let page = include_str!("../../docs/management.md");
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
    // An answer 400 or more ends the script.
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
    // What is valid today is not for ever: dates are computed.
    let commands = commands_of_the_page();
    let year = commands.match_indices("20").find(|(at, _)| {
        let year = commands.get(at + 2..at + 5).unwrap_or_default();
        year.ends_with('-') && year[..2].bytes().all(|c| c.is_ascii_digit())
    });
    assert_eq!(year, None);
}

#[sqlx::test(migrations = false)]
async fn the_command_line_refuses_the_endpoints_that_the_interface_refuses_in_its_words(
    pool: PgPool,
) {
    let site = new_site(&pool);
    let token = admin(&pool, &["create-token", "--name", "t", "--scopes", "all"]);
    let api = Api::start(&pool).await;
    let base = api.base_url.replace("/functions/", "/management/");
    let endpoints = format!("{base}/sites/{}/webhook-endpoints", site.id);
    let create = |more: &[&str]| {
        let mut command = gatehouse(&pool);
        command.args(["admin", "create-endpoint", "--site", &site.id]);
        command.stderr(std::process::Stdio::piped());
        let output = command.args(more).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        (output.status.success(), error)
    };
    for url in [
        "http://localhost:3000/hooks",
        "http://127.0.0.1:9000/",
        "http://10.0.0.7/",
        "http://169.254.169.254/",
        "https://example.com:25/",
        "https://a:b@example.com/",
        "ftp://example.com/",
        "example.com",
        &format!("https://example.com/{}", "a".repeat(2_000)),
    ] {
        let request = api.http.post(&endpoints).json(&json!({ "url": url }));
        let request = request.bearer_auth(text(&token, "management_token"));
        let problem: Value = request.send().await.unwrap().json().await.unwrap();
        let told = problem["errors"][0]["message"].as_str().unwrap();
        let (done, error) = create(&["--url", url]);
        assert!(!done && error.contains(told), "{url}: {told}\n{error}");
    }
    let (_, error) = create(&["--url", "http://localhost:3000/hooks"]);
    let (_, advised) = error.split_once("--egress-allow ").unwrap();
    let (allowed, _) = advised.split_once('`').unwrap();
    assert!(
        error.contains("`gatehouse listen --forward http://localhost:3000/hooks`"),
        "{error}"
    );
    let events = "media.moderated,media.moderated";
    let opened = [
        "--url",
        "http://localhost:3000/hooks",
        "--egress-allow",
        allowed,
        "--events",
        events,
    ];
    let (done, error) = create(&opened);
    assert!(done, "{error}");
    let (_, error) = create(&["--url", "https://example.com/", "--events", "media.deleted"]);
    assert!(
        error.contains("[possible values: media.created, media.moderated]"),
        "{error}"
    );
    let stored: Vec<(String, Vec<String>)> =
        sqlx::query_as("select url, events from webhook_endpoints")
            .fetch_all(&pool)
            .await
            .unwrap();
    let expected = (
        "http://localhost:3000/hooks".to_owned(),
        vec!["media.moderated".to_owned()],
    );
    assert_eq!(stored, [expected]);
}

const ID: &str = "01980f6d-00aa-7bbb-8ccc-0123456789ab";
/// Arguments with a wrong value, and what the answer to them says.
const WRONG: &[(&[&str], &str)] = &[
    (&["openapi", "x"], "[possible values: public, management]"),
    (
        &["worker", "--queues", "x"],
        "[possible values: images, analysis, rules,",
    ),
    (
        &["queue", "jobs", "--queue", "x"],
        "[possible values: images, analysis, rules,",
    ),
    (
        &["queue", "pause", "--queue", "x"],
        "hash-imports, hash-scans, recoveries]",
    ),
    (
        &["queue", "jobs", "--state", "x"],
        "[possible values: due, running, scheduled, doomed]",
    ),
    (
        &["queue", "dead", "--cause", "x"],
        "[possible values: exhausted, aborted, undecodable, worker_lost]",
    ),
    (
        &["queue", "dead", "--limit", "x"],
        "a whole number from 1 to 10000",
    ),
    (
        &["queue", "pause", "--queue", "rules", "--for", "x"],
        "250ms, 5s, 10m, 2h, 1d",
    ),
    (
        &["admin", "subscribe", "--team", "x", "--plan", ID],
        "an id such as 018f3f3e-",
    ),
    (
        &["admin", "change-plan", "--plan", "x"],
        "an id such as 018f3f3e-",
    ),
    (
        &[
            "admin",
            "subscribe",
            "--team",
            ID,
            "--plan",
            ID,
            "--state",
            "x",
        ],
        "[possible values: active, past_due, cancelled]",
    ),
    (
        &[
            "admin",
            "create-token",
            "--name",
            "a",
            "--scopes",
            "teams:read,x",
        ],
        "[possible values: all, teams:read, teams:write,",
    ),
    (
        &["up", "--providers", "x"],
        "[possible values: builtin, openai]",
    ),
    (
        &["up", "--concurrency", "x"],
        "a whole number from 1 to 10000",
    ),
    (
        &["up", "--concurrency", "0"],
        "a whole number from 1 to 10000",
    ),
    (
        &["up", "--body-bytes-per-second", "x"],
        "a whole number from 0 to 4294967295",
    ),
    (
        &["up", "--listen", "localhost:80"],
        "such as 127.0.0.1:8080",
    ),
    (&["up", "--proxies", "x"], "such as 10.1.0.7 or 10.1.0.0/16"),
    (
        &["up", "--openai-url", "ftp://x/"],
        "a URL such as https://",
    ),
    (
        &["up", "--webhook-url", "ftp://127.0.0.1/"],
        "begin it with https:// or http://",
    ),
    (&["listen", "--listen", "9000"], "such as 127.0.0.1:8080"),
];

#[test]
fn a_wrong_value_is_answered_with_the_right_ones() {
    for (arguments, told) in WRONG {
        let (_, error, done) = printed(&[], arguments);
        assert!(!done && error.contains(told), "{arguments:?}: {error}");
        assert!(
            !error.contains(" tip: this value comes"),
            "{arguments:?}: {error}"
        );
    }
}

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
    // The command line wins, so it is to blame.
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
        "/nowhere/either/postgres.url cannot be read: No such file or directory",
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
        "database: can be written to",
        "master key: opens",
        "providers: builtin",
    ] {
        assert!(out.contains(told), "{out}");
    }
}
