//! Rows that Postgres cannot store although they passed every check: each fails alone, at once, and turns nobody away.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use domain::{
    id::MediaId,
    key::SecretHash,
    submission::{RawSubmission, Submission, SubmissionLimits},
};
use serde_json::value::RawValue;
use sqlx::{PgPool, postgres::PgPoolOptions};
use store::{
    Error,
    accept::{Acceptance, NewMedia},
    plan,
    rule_group::{self, NewVersion},
    seal::MasterKey,
    site::Site,
    team, tenant,
};
use uuid::Uuid;

use crate::fixture::Fixture;

/// A batch would be retried for 10 s before it is given up.
const AT_ONCE: Duration = Duration::from_secs(5);

/// Connections whose stack holds a normal row, and not one of thousands of nested arrays.
async fn of_little_stack(pool: &PgPool) -> PgPool {
    let options = pool.connect_options().as_ref().clone();
    PgPoolOptions::new()
        .max_connections(5)
        .connect_with(options.options([("max_stack_depth", "100kB")]))
        .await
        .unwrap()
}

/// Metadata that the checks before would refuse.
fn deep(fixture: &Fixture, site: &Arc<Site>) -> NewMedia {
    let json = format!(r#"{{"a":{}{}}}"#, "[".repeat(8_000), "]".repeat(8_000));
    let mut media = fixture.media(site, "poisoned");
    media.submission.metadata = Some(RawValue::from_string(json).unwrap());
    media
}

/// Submits all at the same time, and says how many got which answer.
async fn submit(
    fixture: &Fixture,
    all: Vec<NewMedia>,
) -> Vec<(MediaId, Result<Acceptance, Error>)> {
    let waiting: Vec<_> = all
        .into_iter()
        .map(|media| {
            let acceptor = fixture.acceptor.clone();
            tokio::spawn(async move { (media.id, acceptor.accept(media).await) })
        })
        .collect();
    let mut answers = Vec::new();
    for answer in waiting {
        answers.push(answer.await.unwrap());
    }
    answers
}

#[sqlx::test(migrations = false)]
async fn case_41_a_row_too_complex_for_postgres_fails_alone_and_at_once(pool: PgPool) {
    let fixture = Fixture::new(of_little_stack(&pool).await).await;
    let site = fixture.site().await;
    let mut all: Vec<NewMedia> = (0..64).map(|_| fixture.media(&site, "text")).collect();
    let poisoned = deep(&fixture, &site);
    let poison = poisoned.id;
    all.insert(40, poisoned);
    let began = Instant::now();
    for (id, answer) in submit(&fixture, all).await {
        let expected = if id == poison {
            Acceptance::Refused
        } else {
            Acceptance::Accepted
        };
        assert_eq!(answer.unwrap(), expected);
    }
    assert!(began.elapsed() < AT_ONCE, "{:?}", began.elapsed());
    assert_eq!(fixture.count("select count(*) from media").await, 64);
    assert_eq!(
        fixture.accept(fixture.media(&site, "after")).await,
        Acceptance::Accepted
    );
    fixture.close().await;
}
