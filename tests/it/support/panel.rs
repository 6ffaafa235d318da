//! An interface and workers that are configured with a file of providers, and sites that choose among these.

use std::{
    fs::{self, File},
    path::PathBuf,
    process::Command,
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::PgPool;
use tempfile::TempDir;
use tokio::time::sleep;

use super::{Api, FakeProvider, Worker, admin, eventually, gatehouse, http, run, text};

const SOON: Duration = Duration::from_secs(30);

/// The service.
pub(crate) struct Panel {
    pub(crate) api: Api,
    pub(crate) workers: Vec<Worker>,
    pool: PgPool,
    files: TempDir,
    team: String,
    group: String,
    token: String,
}

impl Panel {
    /// What sites without a policy of their own tell models.
    pub(crate) const POLICY: &'static str = "The operator's policy.";

    /// Starts an interface and so many workers, which know these providers and wait for paused ones for so long. All sites
    /// are judged by rules on these categories: reviewed at 0.5, rejected at 0.9.
    pub(crate) async fn start(
        pool: &PgPool,
        workers: usize,
        providers: &[String],
        patience: Duration,
        categories: &[&str],
    ) -> Self {
        run(pool, &["migrate"]);
        let files = tempfile::tempdir().unwrap();
        fs::write(files.path().join("policy.txt"), Self::POLICY).unwrap();
        let rules: Vec<Value> = categories
            .iter()
            .map(|category| {
                json!({ "name": category, "type": "ai_threshold", "category": category,
                    "review_at": 0.5, "reject_at": 0.9 })
            })
            .collect();
        let document = json!({ "name": "rules", "rules": rules });
        let rules = files.path().join("rules.yaml");
        fs::write(&rules, document.to_string()).unwrap();

        // A site for each provider and fault, and a key for each of them.
        let plan = admin(
            pool,
            &[
                "create-plan",
                "--name",
                "panel",
                "--sites-per-team",
                "1000",
                "--site-keys-per-team",
                "1000",
            ],
        );
        let plan = text(&plan, "plan_id");
        let team = admin(pool, &["create-team", "--name", "team", "--plan", &plan]);
        let team = text(&team, "team_id");
        let loading = ["load-rules", "--team", &team, rules.to_str().unwrap()];
        let group = text(&admin(pool, &loading), "rule_group_id");
        let token = [
            "create-token",
            "--name",
            "token",
            "--scopes",
            "all",
            "--team",
            &team,
        ];
        let token = text(&admin(pool, &token), "management_token");
        let mut panel = Self {
            api: Api::start(pool).await,
            workers: Vec::new(),
            pool: pool.clone(),
            files,
            team,
            group,
            token,
        };
        panel.configure(providers);
        for _ in 0..workers {
            panel.workers.push(panel.worker(patience).await);
        }
        panel
    }

    fn file(&self) -> PathBuf {
        self.files.path().join("providers.toml")
    }

    /// Writes the file of providers.
    pub(crate) fn configure(&self, providers: &[String]) {
        fs::write(self.file(), providers.concat()).unwrap();
    }

    /// Starts a worker that is configured with the file.
    pub(crate) async fn worker(&self, patience: Duration) -> Worker {
        let mut command = self.gatehouse();
        command
            .env("GATEHOUSE_LOG", "info,workers=debug")
            .stderr(
                File::options()
                    .create(true)
                    .append(true)
                    .open(self.log())
                    .unwrap(),
            )
            .env(
                "GATEHOUSE_ANALYSIS_PATIENCE_SECONDS",
                patience.as_secs().to_string(),
            );
        Worker::launch(command).await
    }

    fn log(&self) -> PathBuf {
        self.files.path().join("worker.log")
    }

    /// What the workers have logged.
    pub(crate) fn logged(&self) -> String {
        fs::read_to_string(self.log()).unwrap()
    }

    /// The program, configured with the file.
    pub(crate) fn gatehouse(&self) -> Command {
        let mut command = gatehouse(&self.pool);
        command
            .env("GATEHOUSE_PROVIDERS_FILE", self.file())
            .env("GATEHOUSE_OPENAI_API_KEY", FakeProvider::KEY);
        command
    }

    /// Makes a site that prefers these providers, as soon as workers have told of them; its key.
    pub(crate) async fn site(&self, name: &str, mut settings: Value) -> String {
        settings["name"] = name.into();
        settings["team_id"] = self.team.as_str().into();
        settings["default_rule_group_id"] = self.group.as_str().into();
        let site = eventually("the site's providers are known", SOON, async || {
            let (status, site) = self.manage(Method::POST, "/sites", &settings).await;
            assert!(matches!(status, 201 | 400), "{status} {site}");
            (status == 201).then_some(site)
        })
        .await;
        let keys = format!("/sites/{}/keys", text(&site, "id"));
        let (status, key) = self.manage(Method::POST, &keys, &json!({})).await;
        assert_eq!(status, 201, "{key}");
        text(&key, "secret")
    }

    /// A request to the management interface; the status and the body.
    pub(crate) async fn manage(&self, method: Method, path: &str, body: &Value) -> (u16, Value) {
        let url = format!("http://{}/management/v1{path}", self.api.address);
        let mut request = self.api.http.request(method.clone(), url);
        if method != Method::GET {
            request = request.json(body);
        }
        let answer = request.bearer_auth(&self.token).send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    /// Submits a text with this key; the item's id.
    pub(crate) async fn submit(&self, key: &str, body: &str) -> String {
        self.submit_fields(key, json!({ "body": body })).await
    }

    /// Submits an image with this key, and a text beside it if there is one; the item's id.
    pub(crate) async fn submit_image(&self, key: &str, file: &[u8], body: Option<&str>) -> String {
        let file = STANDARD.encode(file);
        self.submit_fields(key, json!({ "body": body, "content_base64": file }))
            .await
    }

    async fn submit_fields(&self, key: &str, mut fields: Value) -> String {
        fields["api_key"] = key.into();
        let (status, answer) = self.api.post("submit-media", None, &fields).await.unwrap();
        assert_eq!(status, 200, "{answer}");
        text(&answer, "id")
    }

    /// Where an item stands.
    pub(crate) async fn status(&self, key: &str, media: &str) -> Value {
        let fields = json!({ "api_key": key, "media_id": media });
        let asked = self.api.post("get-media-status", None, &fields).await;
        let (status, answer) = asked.unwrap();
        assert_eq!(status, 200, "{answer}");
        answer
    }

    /// Where an item stands once it is decided.
    pub(crate) async fn verdict(&self, key: &str, media: &str, within: Duration) -> Value {
        eventually("a verdict", within, async || {
            // A key may ask only so often in a minute.
            sleep(Duration::from_millis(50)).await;
            let status = self.status(key, media).await;
            (status["status"] != "pending").then_some(status)
        })
        .await
    }

    /// What the providers said of an item.
    pub(crate) async fn analysis(&self, media: &str) -> Value {
        let path = format!("/media/{media}");
        let (_, item) = self.manage(Method::GET, &path, &Value::Null).await;
        item["analyses"][0].clone()
    }

    /// The value of a metric of a worker, if it has it.
    pub(crate) async fn metric(worker: &Worker, series: &str) -> Option<f64> {
        let page = http().get(&worker.metrics_url).send().await.unwrap();
        let page = page.text().await.unwrap();
        let line = page.lines().find_map(|line| line.strip_prefix(series))?;
        line.trim().parse().ok()
    }
}
