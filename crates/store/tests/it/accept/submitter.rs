//! A tenant that submits.

use std::{
    ops::Deref,
    sync::Arc,
    time::{Duration, Instant},
};

use domain::{
    event::EventKind,
    id::MediaId,
    score::Category,
    submission::{RawSubmission, Submission, SubmissionLimits},
};
use queue::Queue;
use sqlx::PgPool;
use store::{
    accept::{AcceptSettings, Acceptance, Acceptor, NewMedia},
    endpoint, schema,
    site::{Site, Sites},
};
use uuid::Uuid;

use crate::tenant::{NewTenant, Tenant};

/// A tenant whose site has an endpoint and whose items are analysed, and an acceptor.
pub(crate) struct Submitter {
    pub(crate) tenant: Tenant,
    pub(crate) queue: Queue,
    pub(crate) acceptor: Acceptor,
    pub(crate) sites: Sites,
}

impl Deref for Submitter {
    type Target = Tenant;

    fn deref(&self) -> &Tenant {
        &self.tenant
    }
}

impl Submitter {
    pub(crate) async fn new(pool: PgPool) -> Self {
        schema::migrate(&pool).await.unwrap();
        let tenant = NewTenant::named("team").asking(&[Category::Violence]);
        let tenant = tenant.create(&pool).await;
        let mut conn = pool.acquire().await.unwrap();
        let url = "https://example.com/";
        endpoint::create(&mut conn, tenant.site, url, EventKind::ALL)
            .await
            .unwrap();
        drop(conn);
        let queue = Queue::open(pool.clone(), queue::Config::default()).unwrap();
        Self {
            acceptor: Acceptor::start(pool.clone(), queue.clone(), AcceptSettings::default()),
            sites: Sites::new(pool),
            tenant,
            queue,
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
            author: None,
            trace: telemetry::trace::Context::of_item([7; 16]),
            arrived: Instant::now(),
            marks: store::jobs::Marks::default(),
            is_transient: false,
            submission: Submission {
                body: Some(body.to_owned()),
                ..submission
            },
        }
    }

    /// The site as Postgres knows it now; none if its key was replaced.
    pub(crate) async fn reload(&self) -> Option<Arc<Site>> {
        let key = self.tenant.key.hash();
        self.sites.reload(key).await.unwrap()
    }

    /// Submits a text that was prepared for this revision of the site.
    pub(crate) async fn accept_text(&self, site: &Arc<Site>, body: &str) -> Acceptance {
        self.accept(self.media(site, body)).await
    }

    pub(crate) async fn accept(&self, media: NewMedia) -> Acceptance {
        self.acceptor.accept(media).await.unwrap()
    }

    pub(crate) async fn close(self) {
        self.queue.close(Duration::from_secs(1)).await;
    }
}
