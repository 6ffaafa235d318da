//! A healthy endpoint gets the event of an item's acceptance before the event of its verdict.

use std::time::Duration;

use sqlx::PgPool;

use super::Service;
use crate::support::{FakeProvider, Mode, SOON, short_way};

#[sqlx::test(migrations = false)]
async fn a_verdict_waits_until_the_endpoint_has_answered_to_the_acceptance(pool: PgPool) {
    let service = Service::start(pool).await;
    let thinks = Duration::from_millis(700);
    service.receiver.answer(200, thinks);
    for _ in 0..3 {
        let media = service.submit().await;
        service.up.verdict(&media).await;
        let created = service.receiver.event("media.created", &media, SOON);
        let created = created.await;
        let moderated = service.receiver.event("media.moderated", &media, SOON);
        let moderated = moderated.await;
        let between = moderated.at.checked_duration_since(created.at);
        assert!(
            between.is_some_and(|between| between >= thinks),
            "{between:?}"
        );
    }
}

#[sqlx::test(migrations = false)]
async fn a_failed_attempt_lets_the_verdict_go_first(pool: PgPool) {
    let service = Service::start(pool).await;
    service.receiver.answer(500, Duration::ZERO);
    let media = service.submit().await;
    service.receiver.event("media.created", &media, SOON).await;
    service.receiver.answer(200, Duration::ZERO);
    service
        .receiver
        .event("media.moderated", &media, SOON)
        .await;
    let tells_acceptance = |requests: &[_]| {
        let is = |request: &&crate::support::Received| request.tells("media.created", &media);
        requests.iter().filter(is).count()
    };
    // On a busy machine, the second attempt may have come by now.
    let received = service.receiver.received();
    let verdict = received
        .iter()
        .position(|request| request.tells("media.moderated", &media));
    assert_eq!(tells_acceptance(&received[..verdict.unwrap()]), 1);
}

#[sqlx::test(migrations = false)]
async fn case_62_an_acceptance_is_sent_although_the_provider_never_answers(pool: PgPool) {
    let provider = FakeProvider::openai(Mode::Hang).await;
    let options = provider.options();
    let options = options.each_ref().map(String::as_str);
    let service = Service::with(pool, &options).await;
    short_way(&service.pool).await;
    // The provider never answers.
    service.up.leaves_jobs();
    let media = service.submit().await;
    service.receiver.event("media.created", &media, SOON).await;
    assert_eq!(service.up.status(&media).await["status"], "pending");
}
