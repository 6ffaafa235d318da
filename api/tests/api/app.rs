//! A running public interface with one tenant.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use api::{
    ProblemDocuments, Readiness,
    main_listener::{Interface, interface},
    public::Public,
};
use domain::{
    id::{SiteId, TeamId},
    rules::Limits,
    submission::SubmissionLimits,
};
use http_server::{
    BodySettings, RefusalSettings,
    serve::{Settings, serve},
};
use management::{
    Analyse, EndpointChecks, MakePreview, Management, Passwords, Ping, PreviewPool, RateLimit,
    RateLimitSettings, TrialPool, exports::ConcurrentReads,
};
use queue::{Queue, QueueName};
use serde_json::Value;
use sqlx::PgPool;
use store::{
    accept::{AcceptSettings, Acceptor},
    encryption::MasterKey,
    endpoint::{Pinged, Target},
    item_status::Statuses,
    plan,
    rate_limit::Rates,
    rule_group::{self, NewVersion},
    schema,
    site::{self, Sites},
    team,
    verdict_waiters::{Part, VerdictWaiters},
};
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::{
    client::{self, Answer},
    leftovers::Leftovers,
    openapi_files,
};

pub(crate) const SUBMIT: &str = "/functions/v1/submit-media";
pub(crate) const STATUS: &str = "/functions/v1/get-media-status";
const JSON: (&str, &str) = ("Content-Type", "application/json");

/// What a test can change. Omitted options keep their defaults.
#[derive(Clone)]
pub(crate) struct Options {
    pub(crate) serve: Settings,
    pub(crate) body: BodySettings,
    pub(crate) deadline: Duration,
    pub(crate) accept: AcceptSettings,
    pub(crate) rule_limits: Limits,
    pub(crate) analyse: Option<Analyse>,
    pub(crate) ping: Ping,
    pub(crate) develop: Option<MakePreview>,
    pub(crate) rules_per_day: u64,
    pub(crate) limits: SubmissionLimits,
    pub(crate) pace: RateLimitSettings,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            serve: Settings::default(),
            body: BodySettings::default(),
            // Heavy rules compile at the lowest priority, beside as many other tests as the machine runs at once.
            deadline: Duration::from_mins(10),
            // To store 10 MB takes a busy machine more than the usual ten seconds.
            accept: AcceptSettings {
                patience: Duration::from_mins(2),
                ..AcceptSettings::default()
            },
            // Tests are compiled without optimisations.
            rule_limits: Limits {
                time: Duration::from_mins(2),
                ..Limits::default()
            },
            analyse: None,
            ping: Arc::new(|_: Target| Box::pin(async { Some(answered(204, "")) })),
            develop: Some(Arc::new(|_, _| {
                Box::pin(async { Ok(b"\xff\xd8\xff".to_vec()) })
            })),
            rules_per_day: 256 << 20,
            limits: SubmissionLimits::default(),
            // Tests that walk over all operations ask for more in a minute than a client does.
            pace: RateLimitSettings {
                per_token: 1_000_000,
                per_team: 1_000_000,
                per_address: 1_000_000,
                ..RateLimitSettings::default()
            },
        }
    }
}

pub(crate) struct App {
    pub(crate) pool: PgPool,
    pub(crate) address: SocketAddr,
    pub(crate) tenant: Tenant,
    pub(crate) ready: watch::Sender<Readiness>,
    pub(crate) server: JoinHandle<std::io::Result<()>>,
    pub(crate) stop: CancellationToken,
    pub(crate) acceptor: Acceptor,
    queue: Queue,
    leftovers: Leftovers,
}

impl Drop for App {
    /// Lets go of the database, which is dropped after the test. Fails if the test leaves jobs without saying so.
    fn drop(&mut self) {
        self.stop.cancel();
        let queue = self.queue.clone();
        tokio::spawn(async move { queue.close(Duration::ZERO).await });
        if !std::thread::panicking() {
            self.leftovers.check(&self.pool);
        }
    }
}

/// A team with a site and a key to it.
pub(crate) struct Tenant {
    pub(crate) team: TeamId,
    pub(crate) site: SiteId,
    pub(crate) key: String,
}

impl Tenant {
    pub(crate) async fn create(pool: &PgPool, name: &str) -> Self {
        let mut tx = pool.begin().await.unwrap();
        let team = team::create(&mut tx, &name.parse().unwrap(), plan::UNLIMITED)
            .await
            .unwrap()
            .id;
        let version = NewVersion {
            rules: &[],
            categories: &[],
        };
        let group = rule_group::create(&mut tx, team, "default", version)
            .await
            .unwrap();
        let (site, _) = site::create(&mut tx, &MasterKey::new([7; 32]), team, name, group)
            .await
            .unwrap();
        let (_, key) = site::keys::create(&mut tx, site).await.unwrap();
        tx.commit().await.unwrap();
        Self {
            team,
            site,
            key: key.expose().to_owned(),
        }
    }
}

/// A test that got this answer.
pub(crate) fn answered(status: u16, body: &str) -> Pinged {
    Pinged {
        outcome: domain::webhook::Outcome::of_status(status).as_str(),
        status_code: Some(status),
        response_body: Some(body.into()),
        error: None,
        elapsed: Duration::from_millis(7),
    }
}

impl App {
    pub(crate) async fn start(pool: PgPool) -> Self {
        Self::with(pool, Options::default()).await
    }

    pub(crate) async fn with(pool: PgPool, options: Options) -> Self {
        schema::migrate(&pool).await.unwrap();
        let tenant = Tenant::create(&pool, "main").await;
        Self::serve(pool, tenant, options).await
    }

    /// A second process, as it were, for the same database and tenant.
    pub(crate) async fn beside(other: &Self) -> Self {
        let Tenant { team, site, key } = &other.tenant;
        let tenant = Tenant {
            team: *team,
            site: *site,
            key: key.clone(),
        };
        Self::serve(other.pool.clone(), tenant, Options::default()).await
    }

    pub(crate) async fn serve(pool: PgPool, tenant: Tenant, options: Options) -> Self {
        let queue = Queue::open(pool.clone(), queue::Config::default()).unwrap();
        let acceptor = Acceptor::start(pool.clone(), queue.clone(), options.accept);
        let (ready, readiness) = watch::channel(Readiness::Ready);
        let endpoint = interface(Interface {
            public: Public {
                rates: Rates::start(pool.clone()),
                sites: Sites::new(pool.clone()),
                acceptor: acceptor.clone(),
                statuses: Statuses::new(pool.clone()),
                awaited: VerdictWaiters::start(&pool, Part::Interface),
                limits: options.limits,
            },
            management: Arc::new(Management {
                pool: pool.clone(),
                queue: queue.clone(),
                master_key: Some(MasterKey::new([7; 32])),
                trial_pool: TrialPool::new(options.rule_limits, options.analyse),
                endpoint_checks: EndpointChecks::new(Arc::new(judge), options.ping),
                preview_pool: PreviewPool::new(options.develop),
                rules_per_day: options.rules_per_day,
                exports: ConcurrentReads::default(),
                rate_limit: RateLimit::new(options.pace),
                passwords: Passwords::default(),
                sign_on: None,
            }),
            body: options.body,
            // Tests are refused more often than clients.
            refusals: RefusalSettings {
                per_second: 1_000_000,
                ..RefusalSettings::default()
            },
            deadline: options.deadline,
            ready: readiness,
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let server = tokio::spawn(serve(
            listener,
            endpoint,
            Arc::new(ProblemDocuments),
            options.serve,
            stop.clone().cancelled_owned(),
        ));
        Self {
            pool,
            address,
            tenant,
            ready,
            server,
            stop,
            acceptor,
            queue,
            leftovers: Leftovers::default(),
        }
    }

    /// One request on its own connection. Its answer must be one that the document declares.
    pub(crate) async fn request(
        &self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: impl AsRef<[u8]>,
    ) -> Answer {
        let request = client::request(method, target, headers, body.as_ref());
        let answer = client::exchange(self.address, &request).await;
        assert!(answer.header("x-request-id").is_some(), "{answer:?}");
        assert_documented(method, target, answer.status);
        answer
    }

    /// The test leaves jobs of this queue.
    pub(crate) fn leaves(&self, queue: QueueName) {
        self.leftovers.allow(queue);
    }

    pub(crate) async fn get(&self, target: &str) -> Answer {
        self.request("GET", target, &[], "").await
    }

    /// A POST of raw text as JSON.
    pub(crate) async fn post_text(&self, path: &str, body: impl AsRef<[u8]>) -> Answer {
        self.request("POST", path, &[JSON], body).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_text(path, body.to_string()).await
    }

    /// A POST with members beside the tenant's key.
    pub(crate) async fn post_keyed(&self, path: &str, mut body: Value) -> Answer {
        body["api_key"] = self.tenant.key.as_str().into();
        self.post(path, &body).await
    }

    pub(crate) async fn submit(&self, body: Value) -> Answer {
        self.post_keyed(SUBMIT, body).await
    }

    /// Submits text and returns the item's id.
    pub(crate) async fn submitted(&self, text: &str) -> String {
        let answer = self.submit(serde_json::json!({ "body": text })).await.ok();
        answer["id"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn count(&self, statement: &'static str) -> i64 {
        sqlx::query_scalar(statement)
            .fetch_one(&self.pool)
            .await
            .unwrap()
    }
}

/// Endpoints are https here. (What the real judge refuses is tested where it is.)
fn judge(_: TeamId, url: &url::Url) -> Result<(), String> {
    match url.scheme() {
        "https" => Ok(()),
        _ => Err("this address is not permitted: use another".to_owned()),
    }
}

/// Every status of a documented operation is declared.
fn assert_documented(method: &str, target: &str, status: u16) {
    let path = target.split('?').next().unwrap_or_default();
    let interfaces: [(_, fn() -> &'static Value); 2] = [
        ("/functions/v1", openapi_files::public),
        ("/management/v1", openapi_files::management),
    ];
    for (prefix, document) in interfaces {
        let Some(path) = path.strip_prefix(prefix) else {
            continue;
        };
        let document = document();
        let described = document["paths"].as_object().unwrap();
        let fitting = described.iter().filter(|(t, _)| fits(t, path));
        // Where a path fits two templates, the one that says more of it is meant.
        let meant = fitting.min_by_key(|(t, _)| t.matches('{').count());
        if let Some((template, methods)) = meant {
            let operation = &methods[method.to_ascii_lowercase()];
            assert!(
                operation.is_null() || operation["responses"][status.to_string()].is_object(),
                "{method} {template} answered {status}"
            );
        }
    }
}

/// Whether a path is one that a template such as `/teams/{team_id}` describes.
fn fits(template: &str, path: &str) -> bool {
    let (template, path) = (template.split('/'), path.split('/'));
    template.clone().count() == path.clone().count()
        && template
            .zip(path)
            .all(|(t, p)| t == p || t.starts_with('{'))
}
