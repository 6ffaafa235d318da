//! A worker process: the program that runs in it, and the handle that a test has on it.

mod counters;
mod setup;

use std::{
    env,
    io::{Read, Write as _, stdin, stdout},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::Duration,
};

use apalis::{
    layers::WorkerBuilderExt,
    prelude::{Monitor, WorkerBuilder},
};
use metrics_exporter_prometheus::PrometheusBuilder;
use queue::{BackendSettings, Queue, Retry};
use rustix::process::{Pid, Signal, kill_process};
use sqlx::postgres::PgPoolOptions;
use tokio::{
    signal::unix::{SignalKind, signal},
    time::{Instant, sleep},
};

use crate::{
    harness::PATIENCE,
    jobs::{Act, WORK, WitnessPort, perform},
};

pub(crate) use self::counters::Counters;
pub(crate) use self::setup::Setup;

/// Holds a [`Setup`] as JSON.
const VARIABLE: &str = "GATEHOUSE_QUEUE_TEST_WORKER";

#[test]
#[ignore = "the program of a worker process, which tests start"]
fn process() {
    let Ok(setup) = env::var(VARIABLE) else {
        return;
    };
    // The pipe stays open as long as the test lives, however the test ends.
    thread::spawn(|| {
        let _ = stdin().read(&mut [0]);
        std::process::exit(1);
    });
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime
        .unwrap()
        .block_on(work(serde_json::from_str(&setup).unwrap()));
}

/// Works until SIGTERM, then prints its counters.
async fn work(setup: Setup) {
    let counters = PrometheusBuilder::new().install_recorder().unwrap();
    let mut terminate = signal(SignalKind::terminate()).unwrap();
    let pool = PgPoolOptions::new()
        .max_connections(3)
        .acquire_timeout(Duration::from_secs(1))
        .connect_lazy(&setup.database)
        .unwrap();
    let queue = Queue::open(pool, setup.config()).unwrap();
    let mut settings = BackendSettings::new(WORK)
        .prefetch(setup.prefetch)
        .retry(Retry {
            initial: Duration::from_millis(50),
            factor: 2.0,
            max: Duration::from_secs(1),
            jitter: 0.1,
        });
    if let Some(cap) = setup.lane_cap {
        settings = settings.lane_cap(cap);
    }
    let monitor = Monitor::new().register({
        let queue = queue.clone();
        move |_| {
            WorkerBuilder::new("worker")
                .backend(queue.backend::<Act>(settings))
                .data(WitnessPort(setup.witness))
                .concurrency(setup.concurrency)
                .timeout(Duration::from_millis(setup.time_out_ms))
                .build(perform)
        }
    });
    let told = async move {
        terminate.recv().await;
        Ok(())
    };
    monitor.run_with_signal(told).await.unwrap();
    queue.close(Duration::from_secs(5)).await;
    stdout().write_all(counters.render().as_bytes()).unwrap();
}

/// A worker process, killed when it is dropped.
pub(crate) struct Worker {
    child: Child,
}

impl Worker {
    pub(crate) fn start(setup: &Setup) -> Self {
        let child = Command::new(env::current_exe().unwrap())
            .args(["worker::process", "--exact", "--ignored", "--nocapture"])
            .env(VARIABLE, serde_json::to_string(setup).unwrap())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self { child }
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// SIGKILL, and waits for its end.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Its exit status, if it has ended.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// Sends SIGTERM, and returns what the process counted.
    ///
    /// # Panics
    /// If it does not end, or does not end well.
    pub(crate) async fn stop(self) -> Counters {
        self.signal(Signal::TERM);
        self.counters().await
    }

    /// Waits for its end, and returns what it counted.
    ///
    /// # Panics
    /// If it does not end, or does not end well.
    pub(crate) async fn counters(mut self) -> Counters {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.ended() {
                break status;
            }
            assert!(Instant::now() < deadline, "a worker process does not end");
            sleep(Duration::from_millis(10)).await;
        };
        assert!(status.success(), "a worker process ended with {status}");
        let mut text = String::new();
        let mut output = self.child.stdout.take().unwrap();
        output.read_to_string(&mut text).unwrap();
        let lines = text.lines().filter(|line| line.starts_with("gatehouse_"));
        Counters(
            lines
                .filter_map(|line| {
                    let (name, count) = line.rsplit_once(' ')?;
                    // A value that is not a whole number is not a counter.
                    Some((name.to_owned(), count.parse().ok()?))
                })
                .collect(),
        )
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
