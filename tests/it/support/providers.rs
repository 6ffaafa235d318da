//! An interface and workers with a file of providers, and sites that choose among these providers.

mod calls;

use std::{
    fs::{self, File},
    path::PathBuf,
    process::Command,
    time::Duration,
};

use serde_json::{Value, json};
use sqlx::PgPool;
use tempfile::TempDir;

use super::{Api, FakeProvider, Worker, admin, gatehouse, run, text};

/// The running service.
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
    /// What models are told for sites without a policy of their own.
    pub(crate) const POLICY: &'static str = "The operator's policy.";

    /// Starts an interface and this many workers. The workers know these providers, and `patience`
    /// is how long an item waits for paused ones. All sites are judged by rules on these
    /// categories: reviewed at 0.5, rejected at 0.9.
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

        // Some tests create a site with a key for each provider and fault.
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

    /// The test leaves jobs that wait or died. Say why beside the call.
    pub(crate) fn leaves_jobs(&self) {
        for worker in &self.workers {
            worker.leaves_jobs();
        }
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
}
