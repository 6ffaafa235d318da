//! A running `gatehouse up`, driven as an application drives it: over HTTP, with what `demo.json` says.

use std::fs::{self, File};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use reqwest::{Client, Response, StatusCode, header::HeaderMap};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::data_dir::{DataDir, Demo};
use super::leftovers;
use super::provider::FakeProvider;
use super::{MASTER_KEY, eventually, http, open_files};

/// A first start makes a database, on a machine that is busy with other tests.
const START: Duration = Duration::from_mins(1);
/// The drain's own limit, and some.
const STOP: Duration = Duration::from_secs(40);
const VERDICT: Duration = Duration::from_secs(20);

/// What the surroundings must not decide: the suite itself runs with a database of its own.
pub(super) const UNSET: [&str; 10] = [
    "DATABASE_URL",
    "GATEHOUSE_DATA_DIR",
    "GATEHOUSE_EGRESS_ALLOW",
    "GATEHOUSE_LISTEN",
    "GATEHOUSE_MASTER_KEY",
    "GATEHOUSE_MASTER_KEY_FILE",
    "GATEHOUSE_METRICS_LISTEN",
    "GATEHOUSE_PROVIDERS",
    "GATEHOUSE_PROVIDERS_FILE",
    "GATEHOUSE_USER",
];

/// Takes from a command what the surroundings must not decide.
pub(crate) fn unset(command: &mut Command) {
    for variable in UNSET {
        command.env_remove(variable);
    }
}

/// The process. Dropping it stops it in order, or kills it when it does not obey. Before that, its jobs must have ended well,
/// unless the test says that it leaves some.
pub(crate) struct Up {
    child: Child,
    http: Client,
    demo: Demo,
    /// The URL of its database.
    database: String,
    leaves_jobs: AtomicBool,
}

impl Up {
    /// Starts it on free ports and waits until it is ready.
    ///
    /// # Panics
    /// With the process's output, when it ends or does not become ready.
    pub(crate) async fn start(data: &DataDir, arguments: &[&str]) -> Self {
        Self::launch(from_here(env!("CARGO_BIN_EXE_gatehouse")), data, arguments).await
    }

    /// Starts one that may have only so many files open, with the master key of all commands on a test's database.
    pub(crate) async fn start_with_files(data: &DataDir, files: u32, arguments: &[&str]) -> Self {
        let mut program = from_here("sh");
        program
            .args(["-c", "ulimit -n \"$0\"; exec \"$@\"", &files.to_string()])
            .arg(env!("CARGO_BIN_EXE_gatehouse"))
            .env("GATEHOUSE_MASTER_KEY", MASTER_KEY);
        Self::launch(program, data, arguments).await
    }

    async fn launch(mut command: Command, data: &DataDir, arguments: &[&str]) -> Self {
        let before = data.demo_written_at();
        let log = File::options()
            .create(true)
            .append(true)
            .open(data.log())
            .unwrap();
        let child = command
            .env("GATEHOUSE_OPENAI_API_KEY", FakeProvider::KEY)
            .arg("up")
            .arg("--data-dir")
            .arg(data.path())
            .args(["--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut starting = Starting { child: Some(child) };
        let http = http();
        let demo = tokio::time::timeout(START, ready(data, before, &http, &mut starting)).await;
        let Ok(Some(demo)) = demo else {
            panic!(
                "`gatehouse up` did not start:\n{}",
                fs::read_to_string(data.log()).unwrap()
            );
        };
        let child = starting.child.take().unwrap();
        let named = arguments.windows(2).find(|two| two[0] == "--database-url");
        let database = match named {
            Some(two) => two[1].to_owned(),
            None => data.database(),
        };
        Self {
            child,
            http,
            demo,
            database,
            leaves_jobs: AtomicBool::new(false),
        }
    }

    /// The test leaves jobs that wait, or that died.
    pub(crate) fn leaves_jobs(&self) {
        self.leaves_jobs.store(true, Relaxed);
    }

    fn expect_no_jobs(&self) {
        if !self.leaves_jobs.load(Relaxed) && !std::thread::panicking() {
            leftovers::expect_none(&self.database);
        }
    }

    /// How many files it has open.
    pub(crate) fn files(&self) -> usize {
        open_files(self.child.id())
    }

    /// The process's number.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// What it wrote down at its start.
    pub(crate) fn demo(&self) -> &Demo {
        &self.demo
    }

    /// Where it listens: scheme, host and port.
    pub(crate) fn origin(&self) -> String {
        self.demo.base_url.replace("/functions/v1", "")
    }

    /// Submits these fields with the demo site's key, and returns the item's id.
    ///
    /// # Panics
    /// When the answer is not the documented one of a submission that was accepted.
    pub(crate) async fn submit(&self, fields: Value) -> String {
        let answer = self.post("submit-media", fields).await;
        assert_eq!(answer["status"], "pending", "{answer}");
        assert!(answer["message"].is_string(), "{answer}");
        answer["id"].as_str().unwrap().to_owned()
    }

    /// Where an item stands.
    pub(crate) async fn status(&self, media: &str) -> Value {
        self.post("get-media-status", serde_json::json!({ "media_id": media }))
            .await
    }

    /// Where an item stands once it is decided.
    pub(crate) async fn verdict(&self, media: &str) -> Value {
        eventually("a verdict", VERDICT, async || {
            let status = self.status(media).await;
            (status["status"] != "pending").then_some(status)
        })
        .await
    }

    async fn post(&self, path: &str, mut fields: Value) -> Value {
        fields["api_key"] = self.demo.site_key.as_str().into();
        let url = format!("{}/{path}", self.demo.base_url);
        let answer = self.http.post(url).json(&fields).send().await.unwrap();
        let status = answer.status();
        let body = answer.text().await.unwrap();
        assert_eq!(status, StatusCode::OK, "{body}");
        serde_json::from_str(&body).unwrap()
    }

    /// A POST to the management interface, with the demo team's token; the status and the body.
    pub(crate) async fn manage(&self, path: &str, body: &Value) -> (u16, Value) {
        let base = self.demo.base_url.replace("/functions/", "/management/");
        let request = self.http.post(format!("{base}{path}"));
        let request = request.bearer_auth(&self.demo.management_token).json(body);
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    /// A PATCH of the management interface, likewise.
    pub(crate) async fn patch(&self, path: &str, body: &Value) -> (u16, Value) {
        let base = self.demo.base_url.replace("/functions/", "/management/");
        let request = self.http.patch(format!("{base}{path}"));
        let request = request.bearer_auth(&self.demo.management_token).json(body);
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    /// A GET of the management interface, likewise.
    pub(crate) async fn look(&self, path: &str) -> (u16, Value) {
        let answer = self.ask(path).await;
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    /// A file of the management interface, with its headers.
    pub(crate) async fn download(&self, path: &str) -> (HeaderMap, Vec<u8>) {
        let answer = self.ask(path).await;
        assert_eq!(answer.status(), StatusCode::OK);
        let headers = answer.headers().clone();
        (headers, answer.bytes().await.unwrap().into())
    }

    async fn ask(&self, path: &str) -> Response {
        let base = self.demo.base_url.replace("/functions/", "/management/");
        let request = self.http.get(format!("{base}{path}"));
        let request = request.bearer_auth(&self.demo.management_token);
        request.send().await.unwrap()
    }

    /// Stops it as Ctrl-C does, and waits for its end.
    pub(crate) fn stop(mut self) -> ExitStatus {
        self.expect_no_jobs();
        self.leaves_jobs();
        interrupt(&mut self.child).expect("`gatehouse up` does not stop")
    }

    /// Kills it as a crash does. Its Postgres goes on without it.
    pub(crate) fn kill(mut self) {
        self.leaves_jobs();
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        let leftovers = catch_unwind(AssertUnwindSafe(|| self.expect_no_jobs()));
        end(&mut self.child);
        if let Err(panic) = leftovers {
            resume_unwind(panic);
        }
    }
}

/// A program that does not see what the surroundings say.
fn from_here(program: &str) -> Command {
    let mut command = Command::new(program);
    unset(&mut command);
    command
}

/// A process that nobody owns yet.
struct Starting {
    child: Option<Child>,
}

impl Drop for Starting {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            end(child);
        }
    }
}

/// Waits for a new `demo.json` and for readiness; none if the process ended.
async fn ready(
    data: &DataDir,
    before: Option<std::time::SystemTime>,
    http: &Client,
    starting: &mut Starting,
) -> Option<Demo> {
    loop {
        let child = starting.child.as_mut()?;
        if child.try_wait().unwrap().is_some() {
            return None;
        }
        if data.demo_written_at() != before {
            let demo = data.demo();
            let readiness = demo.base_url.replace("/functions/v1", "/readyz");
            let answer = http.get(readiness).send().await;
            if answer.is_ok_and(|answer| answer.status() == StatusCode::OK) {
                return Some(demo);
            }
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn end(child: &mut Child) {
    if interrupt(child).is_none() {
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Sends SIGINT and waits; none if the process goes on all the same.
fn interrupt(child: &mut Child) -> Option<ExitStatus> {
    if let Ok(Some(status)) = child.try_wait() {
        return Some(status);
    }
    kill_process(Pid::from_child(child), Signal::INT).ok()?;
    let deadline = Instant::now() + STOP;
    while Instant::now() < deadline {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    None
}
