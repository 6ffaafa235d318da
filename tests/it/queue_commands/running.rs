//! The binary on the test's own database.

use std::process::{Child, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use sqlx::{ConnectOptions as _, PgPool};

/// The binary, on the test's own database.
pub(super) struct Gatehouse {
    pub(super) url: String,
}

impl Gatehouse {
    pub(super) fn on(pool: &PgPool) -> Self {
        let url = pool.connect_options().to_url_lossy().to_string();
        let gatehouse = Self { url };
        gatehouse.done(&["migrate"]);
        gatehouse
    }

    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gatehouse"));
        command
            .env("DATABASE_URL", &self.url)
            .env(
                "GATEHOUSE_MASTER_KEY",
                "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
            )
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(super) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs a command that succeeds, and returns its output.
    pub(super) fn done(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {error}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The same, as the JSON document that it prints.
    pub(super) fn json(&self, arguments: &[&str]) -> Value {
        let arguments = [&["queue", "--json"], arguments].concat();
        serde_json::from_str(&self.done(&arguments)).unwrap()
    }

    /// A worker that runs until it is dropped.
    pub(super) fn worker(&self) -> Running {
        let arguments = [
            "worker",
            "--metrics-listen",
            "127.0.0.1:0",
            "--lease-seconds",
            "2",
        ];
        let mut command = self.command(&arguments);
        Running(
            command
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap(),
        )
    }
}

/// A process that does not outlive the test.
pub(super) struct Running(pub(super) Child);

impl Running {
    pub(super) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }

    pub(super) fn output(&mut self) -> Output {
        let status = self.0.wait().unwrap();
        let read = |pipe: Option<&mut dyn std::io::Read>| {
            let mut text = Vec::new();
            pipe.unwrap().read_to_end(&mut text).unwrap();
            text
        };
        Output {
            status,
            stdout: read(self.0.stdout.as_mut().map(|pipe| pipe as _)),
            stderr: read(self.0.stderr.as_mut().map(|pipe| pipe as _)),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
