//! A running `gatehouse worker`.

use std::process::{Child, Command};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::{api::free_address, eventually, http, leftovers::Leftovers, most_memory};

const START: Duration = Duration::from_mins(3);

/// The process. Dropping it fails the test if a job is left or dead, unless the test says that it
/// leaves jobs. Then it kills the process.
pub(crate) struct Worker {
    leftovers: Leftovers,
    process: Process,
    pub(crate) metrics_url: String,
}

impl Worker {
    /// Starts one with a prepared command, and waits until it is ready.
    pub(crate) async fn launch(mut gatehouse: Command) -> Self {
        let metrics = free_address();
        let child = gatehouse
            .arg("worker")
            .args(["--metrics-listen", &metrics.to_string()])
            .spawn()
            .unwrap();
        let mut process = Process(child);
        let (http, ready) = (http(), format!("http://{metrics}/readyz"));
        eventually("the worker is ready", START, async || {
            let ended = process.0.try_wait().unwrap();
            assert!(ended.is_none(), "the worker did not start: {ended:?}");
            let answer = http.get(&ready).send().await.ok()?;
            answer.status().is_success().then_some(())
        })
        .await;
        let mut variables = gatehouse.get_envs();
        let database = variables.find_map(|(name, value)| value.filter(|_| name == "DATABASE_URL"));
        Self {
            leftovers: Leftovers::new(database.unwrap().to_str().unwrap().to_owned()),
            process,
            metrics_url: format!("http://{metrics}/metrics"),
        }
    }

    /// The test leaves jobs that wait or died. Say why beside the call.
    pub(crate) fn leaves_jobs(&self) {
        self.leftovers.expect();
    }

    /// The number of the process.
    pub(crate) fn id(&self) -> u32 {
        self.process.0.id()
    }

    /// Sends SIGKILL. Other processes have to finish its jobs.
    pub(crate) fn kill(&self) {
        self.leaves_jobs();
        kill_process(Pid::from_child(&self.process.0), Signal::KILL).unwrap();
    }

    /// Asks it to stop, with SIGTERM, and waits for that.
    pub(crate) async fn stop(&mut self) {
        kill_process(Pid::from_child(&self.process.0), Signal::TERM).unwrap();
        let process = &mut self.process.0;
        let stopped = eventually("the worker stops", START, async || {
            process.try_wait().unwrap()
        });
        assert!(stopped.await.success());
    }

    /// The most memory that it has held so far, in bytes.
    pub(crate) fn most_memory(&self) -> u64 {
        most_memory(self.process.0.id())
    }
}

/// Dropping it kills the process.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
