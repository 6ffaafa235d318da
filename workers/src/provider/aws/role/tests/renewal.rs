//! When credentials are fetched, renewed and dropped.

use futures::future::join_all;
use serde_json::json;
use tokio::time::sleep;

use super::*;

#[tokio::test]
async fn case_70_many_requests_that_need_credentials_ask_once() {
    let server = Server::start(|_, number| (200, issued(number, HOUR))).await;
    let holder = container(&server);
    let all = join_all((0..50).map(|_| id(&holder))).await;
    assert!(all.into_iter().all(|id| id.unwrap() == "AKID1"));
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn case_70_many_requests_that_wait_for_a_failure_ask_once() {
    let server = Server::start(|_, _| {
        (
            403,
            json!({ "code": "AccessDenied", "message": "m" }).to_string(),
        )
    })
    .await;
    let holder = container(&server);
    for failed in join_all((0..50).map(|_| id(&holder))).await {
        let error = failed.unwrap_err();
        assert_eq!(error.reason(), "denied");
        assert_eq!(error.to_string(), "there are no valid credentials for it");
        let told = error.cause().unwrap();
        assert!(
            told.contains("at 127.0.0.1: HTTP 403, AccessDenied; check the task's role"),
            "{told}"
        );
    }
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn case_70_no_request_waits_for_new_credentials_while_the_old_ones_are_valid() {
    let server = Server::start(|_, number| {
        let lasts = if number == 1 {
            Duration::from_mins(4)
        } else {
            HOUR
        };
        (200, issued(number, lasts))
    })
    .await;
    let holder = container(&server);
    assert_eq!(id(&holder).await.unwrap(), "AKID1");
    // A recent attempt is not repeated.
    assert_eq!(id(&holder).await.unwrap(), "AKID1");
    assert_eq!(server.asked().len(), 1);
    long_ago(&holder);
    for _ in 0..1_000 {
        let started = Instant::now();
        let seen = id(&holder).await.unwrap();
        if started.elapsed() < Duration::from_millis(50) && seen == "AKID2" {
            break;
        }
        sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(id(&holder).await.unwrap(), "AKID2");
    assert_eq!(server.asked().len(), 2);
}

/// As if the last attempt were long ago.
fn long_ago(holder: &Arc<Holder>) {
    let mut state = lock(&holder.state);
    if let Some((ended, _)) = &mut state.last {
        *ended = ended.checked_sub(PAUSE).unwrap();
    }
}

#[tokio::test]
async fn case_70_credentials_that_cannot_be_renewed_are_used_until_they_expire_and_no_longer() {
    // The first are used before they expire, however busy the machine is.
    let lasts = Duration::from_secs(10);
    let server = Server::start(move |_, number| match number {
        1 => (200, issued(number, lasts)),
        2 | 3 => (500, "<html>".into()),
        _ => (200, issued(number, HOUR)),
    })
    .await;
    let holder = container(&server);
    assert_eq!(id(&holder).await.unwrap(), "AKID1");
    let started = Instant::now();
    long_ago(&holder);
    id(&holder).await.unwrap();
    while server.asked().len() < 2 && started.elapsed() < lasts {
        sleep(Duration::from_millis(20)).await;
    }
    sleep(Duration::from_millis(200)).await;
    let still = id(&holder).await;
    assert!(still.is_ok() || started.elapsed() > lasts, "{still:?}");
    sleep(lasts.saturating_sub(started.elapsed())).await;
    let told = id(&holder).await.unwrap_err().cause().unwrap();
    assert!(told.contains("HTTP 500; check the task's role"), "{told}");
    assert_eq!(id(&holder).await.unwrap(), "AKID4");
}
