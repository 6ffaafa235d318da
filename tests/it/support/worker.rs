//! A running `gatehouse worker`.

use std::{
    process::{Child, Command},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};

use super::{api::free_address, eventually, http, most_memory};

const START: Duration = Duration::from_secs(30);

/// The process; killed when dropped.
pub(crate) struct Worker {
    child: Child,
    pub(crate) metrics_url: String,
}

impl Worker {
    /// Starts one as `gatehouse` prepared it, and waits until it is ready.
    pub(crate) async fn launch(mut gatehouse: Command) -> Self {
        let metrics = free_address();
        let child = gatehouse
            .arg("worker")
            .args(["--metrics-listen", &metrics.to_string()])
            .spawn()
            .unwrap();
        let mut worker = Self {
            child,
            metrics_url: format!("http://{metrics}/metrics"),
        };
        let (http, ready) = (http(), format!("http://{metrics}/readyz"));
        eventually("the worker is ready", START, async || {
            let ended = worker.child.try_wait().unwrap();
            assert!(ended.is_none(), "the worker did not start: {ended:?}");
            let answer = http.get(&ready).send().await.ok()?;
            answer.status().is_success().then_some(())
        })
        .await;
        worker
    }

    /// SIGKILL.
    pub(crate) fn kill(&self) {
        kill_process(Pid::from_child(&self.child), Signal::KILL).unwrap();
    }

    /// The most memory that it ever held, in bytes.
    pub(crate) fn most_memory(&self) -> u64 {
        most_memory(self.child.id())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
