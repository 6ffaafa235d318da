//! A real Prometheus, as packaged by Debian. It scrapes its targets every second.

use std::fs;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;
use url::Url;

use crate::support::{SOON, eventually, free_address, http};

/// The process. Dropping it kills it and removes its files.
pub(crate) struct Prometheus {
    child: Child,
    address: String,
    http: reqwest::Client,
    _directory: TempDir,
}

impl Prometheus {
    /// Starts it and waits until it is ready.
    ///
    /// # Panics
    /// If Prometheus is not installed, or does not start.
    pub(crate) async fn scraping(metrics_urls: &[&str]) -> Self {
        let directory = tempfile::Builder::new()
            .prefix("gatehouse-prometheus-")
            .tempdir()
            .unwrap();
        let configuration = directory.path().join("prometheus.yml");
        fs::write(&configuration, configuration_for(metrics_urls)).unwrap();
        let log = fs::File::create(directory.path().join("log")).unwrap();
        // Prometheus cannot report a port that it picked itself.
        let address = free_address().to_string();
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", configuration.display()))
            .arg(format!(
                "--storage.tsdb.path={}",
                directory.path().join("data").display()
            ))
            .arg(format!("--web.listen-address={address}"))
            .arg("--log.level=warn")
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .expect("this test needs Prometheus: apt-get install prometheus, or run `make test`");
        let prometheus = Self {
            child,
            address,
            http: http(),
            _directory: directory,
        };
        eventually("a ready Prometheus", SOON, async || {
            let answer = prometheus
                .http
                .get(prometheus.url("/-/ready", &[]))
                .send()
                .await;
            answer
                .is_ok_and(|answer| answer.status().is_success())
                .then_some(())
        })
        .await;
        prometheus
    }

    /// Evaluates a query now. Returns the values of the samples, or the error of Prometheus.
    pub(crate) async fn query(&self, expression: &str) -> Result<Vec<f64>, String> {
        let answer = self
            .get(self.url("/api/v1/query", &[("query", expression)]))
            .await?;
        let samples = answer["result"].as_array().ok_or("not a vector")?;
        let values = samples
            .iter()
            .filter_map(|sample| sample["value"][1].as_str()?.parse().ok());
        Ok(values.collect())
    }

    /// The values of a label in the series that a selector selects.
    pub(crate) async fn label_values(
        &self,
        label: &str,
        selector: &str,
    ) -> Result<Vec<String>, String> {
        let path = format!("/api/v1/label/{label}/values");
        let answer = self.get(self.url(&path, &[("match[]", selector)])).await?;
        serde_json::from_value(answer).map_err(|error| error.to_string())
    }

    async fn get(&self, url: Url) -> Result<Value, String> {
        let answer = self
            .http
            .get(url)
            .send()
            .await
            .map_err(|error| error.to_string())?;
        let mut answer: Value = answer.json().await.map_err(|error| error.to_string())?;
        match answer["error"].as_str() {
            Some(error) => Err(error.to_owned()),
            None => Ok(answer["data"].take()),
        }
    }

    fn url(&self, path: &str, parameters: &[(&str, &str)]) -> Url {
        Url::parse_with_params(&format!("http://{}{path}", self.address), parameters).unwrap()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn configuration_for(metrics_urls: &[&str]) -> String {
    let targets = metrics_urls.iter().map(|url| {
        let target = Url::parse(url).unwrap();
        assert_eq!(target.path(), "/metrics");
        format!(
            "'{}:{}'",
            target.host_str().unwrap(),
            target.port().unwrap()
        )
    });
    let targets: Vec<_> = targets.collect();
    format!(
        "global: {{scrape_interval: 1s}}
scrape_configs:
- job_name: gatehouse
  static_configs: [{{targets: [{}]}}]
",
        targets.join(", ")
    )
}
