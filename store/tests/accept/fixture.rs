//! A team that submits.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use domain::{
    event::EventKind,
    id::{MediaId, SiteId, TeamId},
    key::SiteKey,
    score::Category,
    submission::{RawSubmission, Submission, SubmissionLimits},
};
use queue::Queue;
use sqlx::PgPool;
use store::{
    accept::{AcceptSettings, Acceptance, Acceptor, NewMedia},
    endpoint, plan,
    rule_group::{self, NewVersion},
    schema,
    seal::MasterKey,
    site::{self, Site, Sites},
    team,
};
use uuid::Uuid;

/// Who submits.
pub(crate) struct Tenant {
    pub(crate) team: TeamId,
    pub(crate) site: SiteId,
    pub(crate) key: SiteKey,
}

/// An acceptor and a team with one site, which has an endpoint.
pub(crate) struct Fixture {
    pub(crate) pool: PgPool,
    pub(crate) queue: Queue,
    pub(crate) acceptor: Acceptor,
    pub(crate) sites: Sites,
    pub(crate) tenant: Tenant,
}

impl Fixture {
    pub(crate) async fn new(pool: PgPool) -> Self {
        schema::migrate(&pool).await.unwrap();
        let mut conn = pool.acquire().await.unwrap();
        let name = "team".parse().unwrap();
        let team = team::create(&mut conn, &name, plan::UNLIMITED)
            .await
            .unwrap()
            .id;
        let mut tx = pool.begin().await.unwrap();
        let version = NewVersion {
            rules: &[],
            categories: &[Category::Violence],
        };
        let group = rule_group::create(&mut tx, team, "rules", version)
            .await
            .unwrap();
        tx.commit().await.unwrap();
        let master_key = MasterKey::new([7; 32]);
        let (site, _) = site::create(&mut conn, &master_key, team, "site", group)
            .await
            .unwrap();
        endpoint::create(&mut conn, site, "https://example.com/", EventKind::ALL)
            .await
            .unwrap();
        let (_, key) = site::keys::create(&mut conn, site).await.unwrap();
        let queue = Queue::open(pool.clone(), queue::Config::default()).unwrap();
        Self {
            acceptor: Acceptor::start(pool.clone(), queue.clone(), AcceptSettings::default()),
            sites: Sites::new(pool.clone()),
            tenant: Tenant { team, site, key },
            queue,
            pool,
        }
    }

    pub(crate) async fn site(&self) -> Arc<Site> {
        self.sites
            .find(self.tenant.key.hash())
            .await
            .unwrap()
            .expect("the key is valid")
    }

    pub(crate) fn media(&self, site: &Arc<Site>, body: &str) -> NewMedia {
        let raw = RawSubmission {
            body: Some("text"),
            ..RawSubmission::default()
        };
        let submission = Submission::parse(raw, &SubmissionLimits::default()).unwrap();
        NewMedia {
            id: MediaId::from(Uuid::now_v7()),
            key: self.tenant.key.hash(),
            site: Arc::clone(site),
            judges: site.judges.clone(),
            idempotency: None,
            arrived: Instant::now(),
            submission: Submission {
                body: Some(body.to_owned()),
                ..submission
            },
        }
    }

    pub(crate) async fn count(&self, statement: &'static str) -> i64 {
        sqlx::query_scalar(statement)
            .fetch_one(&self.pool)
            .await
            .unwrap()
    }

    /// Submits at the site's present revision.
    pub(crate) async fn accept(&self, media: NewMedia) -> Acceptance {
        self.acceptor.accept(media).await.unwrap()
    }

    pub(crate) async fn execute(&self, statement: &'static str) {
        sqlx::query(statement).execute(&self.pool).await.unwrap();
    }

    pub(crate) async fn execute_all(&self, statements: &'static str) {
        sqlx::raw_sql(statements).execute(&self.pool).await.unwrap();
    }

    pub(crate) async fn close(self) {
        self.queue.close(Duration::from_secs(1)).await;
    }
}
