//! The process of `gatehouse up`: how it becomes ready, and how it ends.

use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant, SystemTime};

use reqwest::{Client, StatusCode};
use rustix::process::{Pid, Signal, kill_process};

use crate::support::data_dir::{DataDir, Demo};

/// Longer than the process may take to finish its work.
const STOP: Duration = Duration::from_mins(2);

/// Dropping it stops the process, or kills it if it does not stop.
pub(super) struct Process(pub(super) Child);

impl Process {
    pub(super) fn id(&self) -> u32 {
        self.0.id()
    }

    /// Waits for a new `demo.json` and for readiness. `None` if the process ended.
    pub(super) async fn ready(
        &mut self,
        data: &DataDir,
        before: Option<SystemTime>,
        http: &Client,
    ) -> Option<Demo> {
        loop {
            if self.0.try_wait().unwrap().is_some() {
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

    /// Sends SIGINT and waits. `None` if the process does not end.
    pub(super) fn interrupt(&mut self) -> Option<ExitStatus> {
        if let Ok(Some(status)) = self.0.try_wait() {
            return Some(status);
        }
        kill_process(Pid::from_child(&self.0), Signal::INT).ok()?;
        let deadline = Instant::now() + STOP;
        while Instant::now() < deadline {
            if let Ok(Some(status)) = self.0.try_wait() {
                return Some(status);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        None
    }

    pub(super) fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.interrupt().is_none() {
            self.kill();
        }
    }
}
