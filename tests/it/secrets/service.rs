//! An interface and a worker that log everything.

use std::fs::{self, File};

use serde_json::Value;
use sqlx::PgPool;
use tempfile::TempDir;

use super::APP_MEDIA_ID;
use crate::support::{Api, FakeProvider, Receiver, Site, Worker, gatehouse, http};

/// The processes and their logs.
pub(super) struct Service {
    pub(super) api: Api,
    worker: Worker,
    logs: TempDir,
}

impl Service {
    pub(super) async fn start(pool: &PgPool, provider: &FakeProvider, receiver: &Receiver) -> Self {
        let logs = tempfile::tempdir().unwrap();
        let command = |log: &str| {
            let log = File::create(logs.path().join(log)).unwrap();
            let mut command = gatehouse(pool);
            command
                .env("GATEHOUSE_LOG", "trace")
                .env("RUST_BACKTRACE", "1")
                .env("GATEHOUSE_EGRESS_ALLOW", receiver.host())
                .env("GATEHOUSE_OPENAI_API_KEY", FakeProvider::KEY)
                .stdout(log.try_clone().unwrap())
                .stderr(log);
            command
        };
        let mut worker = command("worker");
        for (name, value) in provider.variables() {
            worker.env(name, value);
        }
        Self {
            api: Api::launch(command("api"), &["--outage-seconds", "1"]).await,
            worker: Worker::launch(worker).await,
            logs,
        }
    }

    /// The logs of both processes, and both metrics pages.
    pub(super) async fn told(&self) -> String {
        let mut told = String::new();
        for file in fs::read_dir(self.logs.path()).unwrap() {
            let bytes = fs::read(file.unwrap().path()).unwrap();
            told += &String::from_utf8_lossy(&bytes);
        }
        for url in [&self.api.metrics_url, &self.worker.metrics_url] {
            let page = http().get(url).send().await.unwrap();
            told += &page.text().await.unwrap();
        }
        told
    }

    /// Sends a request that may fail. Returns the status.
    pub(super) async fn try_to(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: String,
    ) -> u16 {
        let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
        let url = format!("http://{}{path}", self.api.address);
        let mut request = http().request(method, url).body(body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.send().await.unwrap().status().as_u16()
    }

    pub(super) async fn submit(&self, site: &Site, mut body: Value) -> (u16, Value) {
        body["api_key"] = site.key.as_str().into();
        self.api
            .post("submit-media", Some(APP_MEDIA_ID), &body)
            .await
            .unwrap()
    }
}
