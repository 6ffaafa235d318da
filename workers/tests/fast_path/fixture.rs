//! A team that submits, and workers that are started and stopped.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use database::Clock;
use domain::{
    event::EventKind,
    id::{EndpointId, GroupVersionId, MediaId, RuleGroupId, TeamId},
    key::SiteKey,
    reach::Reach,
    rules::{Limits, Rule, RuleBody},
    score::Category,
    submission::{RawSubmission, Submission, SubmissionLimits},
};
use queue::{Queue, QueueName};
use serde_json::Value;
use sqlx::PgPool;
use store::{
    accept::{AcceptSettings, Acceptance, Acceptor, NewMedia},
    encryption::MasterKey,
    endpoint, plan,
    rule_group::{self, NewVersion},
    schema,
    site::{self, Judges, Sites},
    team,
    verdict_waiters::{Part, VerdictWaiters},
};
use tokio::{
    task::JoinHandle,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use workers::{
    Context, RuleSettings, Settings,
    outbound::{Bounds, EgressPolicy, Outbound},
    provider::{Builtin, Provider, Scope},
};

const SOON: Duration = Duration::from_mins(2);

/// A team with a site that has an endpoint, and an acceptor.
pub(crate) struct Fixture {
    pub(crate) pool: PgPool,
    pub(crate) queue: Queue,
    pub(crate) team: TeamId,
    pub(crate) endpoint: EndpointId,
    acceptor: Acceptor,
    sites: Sites,
    key: SiteKey,
}

/// A process that works.
pub(crate) struct Working {
    stop: CancellationToken,
    running: JoinHandle<()>,
    queue: Queue,
}

impl Fixture {
    pub(crate) async fn new(pool: PgPool) -> Self {
        schema::migrate(&pool).await.unwrap();
        let mut conn = pool.acquire().await.unwrap();
        let name = "team".parse().unwrap();
        let team = team::create(&mut conn, &name, plan::UNLIMITED).await;
        let team = team.unwrap().id;
        let mut tx = pool.begin().await.unwrap();
        let nothing = NewVersion {
            rules: &[],
            categories: &[],
        };
        let group = rule_group::create(&mut tx, team, "default", nothing);
        let group = group.await.unwrap();
        tx.commit().await.unwrap();
        let master_key = MasterKey::new([7; 32]);
        let site = site::create(&mut conn, &master_key, team, "site", group);
        let (site, _) = site.await.unwrap();
        let url = "https://example.com/";
        let endpoint = endpoint::create(&mut conn, site, url, EventKind::ALL).await;
        let (_, key) = site::keys::create(&mut conn, site).await.unwrap();
        let queue = Queue::open(pool.clone(), queue::Config::default()).unwrap();
        Self {
            acceptor: Acceptor::start(pool.clone(), queue.clone(), AcceptSettings::default()),
            sites: Sites::new(pool.clone()),
            endpoint: endpoint.unwrap(),
            pool,
            queue,
            team,
            key,
        }
    }

    /// The live version of a new group with these rules.
    pub(crate) async fn version(&self, documents: &[Value]) -> (RuleGroupId, GroupVersionId) {
        let rules: Vec<Rule> = documents
            .iter()
            .map(|rule| {
                let body: RuleBody = serde_json::from_value(rule.clone()).unwrap();
                body.into_rule(Uuid::now_v7().into())
            })
            .collect();
        let categories: Vec<Category> = documents
            .iter()
            .filter_map(|rule| serde_json::from_value(rule["category"].clone()).ok())
            .collect();
        let version = NewVersion {
            rules: &rules,
            categories: &categories,
        };
        let mut tx = self.pool.begin().await.unwrap();
        let name = Uuid::now_v7().to_string();
        let group = rule_group::create(&mut tx, self.team, &name, version);
        let group = group.await.unwrap();
        tx.commit().await.unwrap();
        let mut conn = self.pool.acquire().await.unwrap();
        let found = rule_group::find(&mut conn, Reach::Team(self.team), group).await;
        (group, found.unwrap().unwrap().live)
    }

    /// Submits a text that these versions judge.
    pub(crate) async fn submit(
        &self,
        versions: &[GroupVersionId],
        uses_ai: bool,
        text: &str,
    ) -> MediaId {
        let raw = RawSubmission {
            body: Some(text),
            ..RawSubmission::default()
        };
        let site = self.sites.find(self.key.hash()).await.unwrap().unwrap();
        let id = MediaId::from(Uuid::now_v7());
        let media = NewMedia {
            id,
            key: self.key.hash(),
            site,
            judges: Judges {
                versions: versions.to_vec(),
                uses_ai,
            },
            submission: Submission::parse(raw, &SubmissionLimits::default()).unwrap(),
            idempotency: None,
            author: None,
            trace: telemetry::trace::Context::of_item([7; 16]),
            arrived: Instant::now(),
            marks: store::jobs::Marks::default(),
            is_transient: false,
        };
        let accepted = self.acceptor.accept(media).await;
        assert_eq!(accepted.unwrap(), Acceptance::Accepted);
        id
    }

    /// Works on these queues until it is stopped.
    pub(crate) fn work(&self, queues: &[QueueName]) -> Working {
        let queue = Queue::open(self.pool.clone(), queue::Config::default()).unwrap();
        let stop = CancellationToken::new();
        let scope = Scope {
            text: Builtin::TEXT.to_vec(),
            image: Builtin::IMAGE.to_vec(),
        };
        let builtin: Arc<dyn Provider> = Arc::new(Builtin::new("builtin".into(), scope, None));
        let context = Context {
            pool: self.pool.clone(),
            queue: queue.clone(),
            master_key: MasterKey::new([7; 32]),
            providers: Arc::new([builtin]),
            patience: Duration::from_mins(2),
            answers_per_team: 0,
            outbound: Outbound::new(EgressPolicy::default(), Bounds::default()),
            clock: Clock::default(),
            awaited: VerdictWaiters::start(&self.pool, Part::Workers),
            // Tests are compiled without optimisations.
            animations: picture::AnimationSettings::default(),
            rules: RuleSettings {
                limits: Limits {
                    bytes: 8 << 20,
                    time: Duration::from_mins(2),
                },
                ..RuleSettings::default()
            },
        };
        let settings = Settings {
            queues: queues.to_vec(),
            ..Settings::default()
        };
        let running = workers::run(context, settings, stop.clone());
        let running = tokio::spawn(async move { running.await.unwrap() });
        Working {
            stop,
            running,
            queue,
        }
    }

    /// Waits until acceptances take the fast path, as they do when a worker tells that it lives.
    pub(crate) async fn fast_path(&self, versions: &[GroupVersionId], uses_ai: bool) {
        self.until("the fast path", async || {
            let media = self.submit(versions, uses_ai, "which way?").await;
            let jobs = "select count(*) from queue.jobs where format = 1 and payload::json ->> 'media' = $1";
            let jobs: i64 = sqlx::query_scalar(jobs)
                .bind(media.to_string())
                .fetch_one(&self.pool)
                .await
                .unwrap();
            jobs == 1
        })
        .await;
    }

    pub(crate) async fn until(&self, what: &str, mut ask: impl AsyncFnMut() -> bool) {
        let asking = async {
            while !ask().await {
                sleep(Duration::from_millis(20)).await;
            }
        };
        let asked = timeout(SOON, asking).await;
        assert!(asked.is_ok(), "{what}: not within {SOON:?}");
    }

    /// Waits until all items are decided.
    pub(crate) async fn decided(&self) {
        let pending = "select count(*) from media where status = 'pending'";
        self.until("all is decided", async || self.count(pending).await == 0)
            .await;
    }

    pub(crate) async fn count(&self, statement: &'static str) -> i64 {
        sqlx::query_scalar(statement)
            .fetch_one(&self.pool)
            .await
            .unwrap()
    }

    pub(crate) async fn execute(&self, statement: &'static str) {
        sqlx::raw_sql(statement).execute(&self.pool).await.unwrap();
    }
}

impl Working {
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.running.await.unwrap();
        self.queue.close(Duration::from_secs(1)).await;
    }
}
