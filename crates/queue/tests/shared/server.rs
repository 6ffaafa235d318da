//! A Postgres server for one test, which can be stopped, crashed and started again.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
};

/// A server that `scripts/with-postgres` started. It ends with the test, however the test ends.
pub(crate) struct Server {
    /// The script; it stops the server when its input ends.
    script: Child,
    /// The command that `stop` or `start` is appended to.
    control: String,
    /// Its database, for a superuser.
    pub(crate) url: String,
}

impl Server {
    /// Starts one. `script` is the path of `scripts/with-postgres`.
    pub(crate) fn start(script: &str) -> Self {
        let tell = "echo \"$DATABASE_URL\"; echo \"$PG_CTL\"; cat >/dev/null";
        let mut script = Command::new(script)
            .args(["sh", "-c", tell])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut told = BufReader::new(script.stdout.take().unwrap()).lines();
        let mut tell = || told.next().expect("Postgres did not start").unwrap();
        let (url, control) = (tell(), tell());
        Self {
            script,
            control,
            url,
        }
    }

    /// Ends its sessions, writes everything, stops.
    pub(crate) fn stop(&self) {
        self.control("stop -m fast");
    }

    /// Stops as if the power had failed, as far as a process can: data that was not written is
    /// lost.
    pub(crate) fn crash(&self) {
        self.control("stop -m immediate");
    }

    /// Starts again, on the same port.
    pub(crate) fn start_again(&self) {
        self.control("start");
    }

    /// What the server has logged.
    pub(crate) fn log(&self) -> String {
        let mut words = self.control.split(' ');
        words.find(|word| *word == "-l").unwrap();
        std::fs::read_to_string(words.next().unwrap()).unwrap()
    }

    fn control(&self, what: &str) {
        let ran = Command::new("sh")
            .args(["-c", &format!("{} {what}", self.control)])
            .current_dir("/")
            .stdout(Stdio::null())
            .status();
        assert!(ran.unwrap().success(), "pg_ctl {what} failed");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.script.stdin.take());
        let _ = self.script.wait();
    }
}
