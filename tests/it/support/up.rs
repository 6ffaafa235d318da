//! A running `gatehouse up`. Tests use it as an application does: over HTTP, with the addresses and
//! keys in `demo.json`.

mod calls;
mod process;

use std::fs::{self, File};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use reqwest::Client;

use self::process::Process;
use super::data_dir::{DataDir, Demo};
use super::leftovers::Leftovers;
use super::provider::FakeProvider;
use super::{MASTER_KEY, http, open_files, unset};

/// The first start creates a database, on a machine that is busy with other tests.
const START: Duration = Duration::from_mins(3);

/// The process. Dropping it fails the test if a job is left or dead, unless the test says that it
/// leaves jobs. Then it stops the process.
pub(crate) struct Up {
    leftovers: Leftovers,
    process: Process,
    http: Client,
    demo: Demo,
}

impl Up {
    /// Starts it on free ports and waits until it is ready.
    ///
    /// # Panics
    /// With the process's output, if it ends or does not become ready.
    pub(crate) async fn start(data: &DataDir, arguments: &[&str]) -> Self {
        Self::launch(from_here(env!("CARGO_BIN_EXE_gatehouse")), data, arguments).await
    }

    /// Starts one that may have at most this many open files. It has the master key that all
    /// commands use on a test's database.
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
        let process = command
            .env("GATEHOUSE_OPENAI_API_KEY", FakeProvider::KEY)
            .arg("up")
            .arg("--data-dir")
            .arg(data.path())
            .args(["--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"])
            .args(["--console-listen", "127.0.0.1:0"])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut process = Process(process);
        let http = http();
        let demo = tokio::time::timeout(START, process.ready(data, before, &http)).await;
        let Ok(Some(demo)) = demo else {
            panic!(
                "`gatehouse up` did not start:\n{}",
                fs::read_to_string(data.log()).unwrap()
            );
        };
        let named = arguments.windows(2).find(|two| two[0] == "--database-url");
        let database = match named {
            Some(two) => two[1].to_owned(),
            None => data.database(),
        };
        Self {
            leftovers: Leftovers::new(database),
            process,
            http,
            demo,
        }
    }

    /// The test leaves jobs that wait or died. Say why beside the call.
    pub(crate) fn leaves_jobs(&self) {
        self.leftovers.expect();
    }

    /// The number of its open files.
    pub(crate) fn files(&self) -> usize {
        open_files(self.process.id())
    }

    /// The process's number.
    pub(crate) fn process(&self) -> u32 {
        self.process.id()
    }

    /// What it wrote to `demo.json` when it started.
    pub(crate) fn demo(&self) -> &Demo {
        &self.demo
    }

    /// Where it listens: scheme, host and port.
    pub(crate) fn origin(&self) -> String {
        self.demo.base_url.replace("/functions/v1", "")
    }

    /// Stops it as Ctrl-C does, and waits until it has ended.
    pub(crate) fn stop(self) -> ExitStatus {
        let Self {
            leftovers,
            mut process,
            ..
        } = self;
        drop(leftovers);
        process
            .interrupt()
            .expect("`gatehouse up` ends after SIGINT")
    }

    /// Kills it like a crash. Its Postgres keeps running.
    pub(crate) fn kill(mut self) {
        self.leaves_jobs();
        self.process.kill();
    }
}

/// A program without the variables of the environment.
fn from_here(program: &str) -> Command {
    let mut command = Command::new(program);
    unset(&mut command);
    command
}
