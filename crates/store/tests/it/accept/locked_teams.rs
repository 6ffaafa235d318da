//! A team whose usage somebody else has locked waits alone.

use domain::key::SiteKey;
use sqlx::PgPool;
use store::{Error, accept::Acceptance};
use tokio::task::JoinHandle;

use super::submitter::Submitter;
use crate::tenant::NewTenant;

impl Submitter {
    /// Submits a text, and waits for nothing.
    async fn begin(&self, key: &SiteKey) -> JoinHandle<Result<Acceptance, Error>> {
        let (acceptor, media) = (self.acceptor.clone(), self.media_with(key).await);
        tokio::spawn(async move { acceptor.accept(media).await })
    }
}

#[sqlx::test(migrations = false)]
async fn a_team_whose_usage_is_locked_delays_no_other(pool: PgPool) {
    let fixture = Submitter::new(pool.clone()).await;
    let mut keys = vec![fixture.key.clone()];
    for name in ["a", "b", "c"] {
        keys.push(NewTenant::named(name).create(&pool).await.key);
    }
    // Every team has a row.
    for key in &keys {
        assert_eq!(fixture.submit_with(key).await, Acceptance::Accepted);
    }
    let mut tool = pool.begin().await.unwrap();
    sqlx::query("select from usage where team_id = $1 for update")
        .bind(fixture.team.as_uuid())
        .execute(&mut *tool)
        .await
        .unwrap();
    let mut own = Vec::new();
    for _ in 0..3 {
        own.push(fixture.begin(&keys[0]).await);
        // Others that come with it, and after it.
        for _ in 0..2 {
            let mut others = Vec::new();
            for key in &keys[1..] {
                others.push(fixture.begin(key).await);
            }
            for answer in others {
                assert_eq!(answer.await.unwrap().unwrap(), Acceptance::Accepted);
            }
        }
    }
    assert!(own.iter().all(|answer| !answer.is_finished()));
    tool.rollback().await.unwrap();
    for answer in own {
        assert_eq!(answer.await.unwrap().unwrap(), Acceptance::Accepted);
    }
    assert_eq!(fixture.submit_with(&keys[0]).await, Acceptance::Accepted);
    let stored: i64 = sqlx::query_scalar("select count(*) from media where team_id = $1")
        .bind(fixture.team.as_uuid())
        .fetch_one(&pool)
        .await
        .unwrap();
    let counted: i64 = sqlx::query_scalar("select submissions from usage where team_id = $1")
        .bind(fixture.team.as_uuid())
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!((stored, counted), (5, 5));
    fixture.close().await;
}
