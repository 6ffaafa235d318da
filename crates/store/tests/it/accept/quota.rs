//! Subscriptions and quotas: never one more than the plan allows.

mod deliveries;
mod submissions;

use domain::{event::EventKind, key::SiteKey};
use sqlx::PgPool;
use store::{
    accept::{Acceptance, NewMedia},
    endpoint,
};

use super::submitter::Submitter;

impl Submitter {
    async fn limited_to(pool: PgPool, submissions: i64) -> Self {
        let fixture = Self::new(pool).await;
        sqlx::query("update plans set submissions_per_period = $1")
            .bind(submissions)
            .execute(&fixture.pool)
            .await
            .unwrap();
        fixture
    }

    async fn submit(&self) -> Acceptance {
        self.accept(self.media(&self.site().await, "text")).await
    }

    /// A key of another site of the team, which has an endpoint for these kinds of event, if there
    /// are any.
    async fn other_site(&self, name: &str, events: &[EventKind]) -> SiteKey {
        let site = self.create_site(name).await;
        let mut tx = self.pool.begin().await.unwrap();
        if !events.is_empty() {
            let url = "https://example.com/";
            endpoint::create(&mut tx, site, url, events).await.unwrap();
        }
        let (_, key) = store::site::keys::create(&mut tx, site).await.unwrap();
        tx.commit().await.unwrap();
        key
    }

    /// A submission with this key.
    pub(super) async fn media_with(&self, key: &SiteKey) -> NewMedia {
        let site = self.sites.reload(key.hash()).await.unwrap();
        let site = site.expect("the key is valid");
        NewMedia {
            key: key.hash(),
            ..self.media(&site, "text")
        }
    }

    pub(super) async fn submit_with(&self, key: &SiteKey) -> Acceptance {
        self.accept(self.media_with(key).await).await
    }

    async fn deliveries(&self) -> i64 {
        self.count("select deliveries from usage").await
    }

    async fn used(&self) -> Vec<i64> {
        sqlx::query_scalar("select submissions from usage order by period_start")
            .fetch_all(&self.pool)
            .await
            .unwrap()
    }
}
